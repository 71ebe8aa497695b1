// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/httpapi"
)

func (a *app) entityMerge() *cobra.Command {
	var f by
	c := &cobra.Command{
		Use:   "merge ADDRESS ADDRESS",
		Short: "Decide that two entities are the same thing, whatever their match weight; unmerge reverts it",
		Example: "  locus entity merge vendor:88231 crm:17 --reason \"same owner, called them\"\n" +
			"  locus entity merge vendor:88231 80e51ef9-7a7f-bd53-7a50-01a1f8660d00",
		Args: arguments("ADDRESS", "ADDRESS"),
		RunE: a.connectedTo(writes, func(c *cobra.Command, cl *client, args []string) error {
			ids := make([]string, len(args))
			for i, address := range args {
				e, _, err := a.find(c, cl, address)
				if err != nil {
					return err
				}
				ids[i] = e.ID.String()
			}
			if ids[0] == ids[1] {
				a.say("%s and %s are already one entity: %s", args[0], args[1], ids[0])
				return nil
			}
			return a.decide(c, cl, a.sign(&f, httpapi.DecisionInput{Verdict: entity.VerdictSame, A: ids[0], B: ids[1]}))
		}),
	}
	f.flags(c)
	return a.connection(c)
}

func (a *app) entityUnmerge() *cobra.Command {
	var f by
	c := &cobra.Command{
		Use:   "unmerge ADDRESS RECORD...",
		Short: "Decide that records do not belong to their entity; each returns to its former entity",
		Example: "  locus entity unmerge vendor:88231 crm:17 --reason \"another branch\"\n" +
			"  locus entity unmerge 80e51ef9-7a7f-bd53-7a50-01a1f8660d00 crm:17 crm:18",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return arguments("ADDRESS", "RECORD")(c, args)
			}
			return nil
		},
		RunE: a.connectedTo(writes, func(c *cobra.Command, cl *client, args []string) error {
			e, _, err := a.find(c, cl, args[0])
			if err != nil {
				return err
			}
			signed := a.sign(&f, httpapi.DecisionInput{})
			results, raws, err := a.send(c, cl, "/v1/entities/"+e.ID.String()+"/unmerge",
				httpapi.UnmergeRequest{Records: args[1:], Author: signed.Author, Reason: signed.Reason})
			if err != nil {
				return err
			}
			return a.decided(results, raws)
		}),
	}
	f.flags(c)
	return a.connection(c)
}

func (a *app) entityPin() *cobra.Command {
	var f by
	var attribute, value string
	c := &cobra.Command{
		Use:   "pin RECORD",
		Short: "Pin the id or a value of an entity; locus decision withdraw reverts it",
		Long: "Without --attribute, the entity keeps the id of this record, even if another one is older. With --attribute, the entity\n" +
			"shows the value first, even if no record has it.",
		Example: "  locus entity pin vendor:88231\n" +
			"  locus entity pin vendor:88231 --attribute phones --value \"+1 415 555 2300\"",
		Args: arguments("RECORD"),
		RunE: func(c *cobra.Command, args []string) error {
			d := httpapi.DecisionInput{Verdict: entity.VerdictAnchor, A: args[0]}
			if (attribute == "") != (value == "") {
				return usage("give both or none", "locus entity pin: --attribute and --value go together")
			}
			if attribute != "" {
				d.Verdict, d.Attribute, d.Value = entity.VerdictValue, attribute, value
			}
			return a.connectedTo(writes, func(c *cobra.Command, cl *client, _ []string) error {
				return a.decide(c, cl, a.sign(&f, d))
			})(c, args)
		},
	}
	c.Flags().StringVar(&attribute, "attribute", "", "attribute to pin; needs --value")
	c.Flags().StringVar(&value, "value", "", "value to show; needs --attribute")
	f.flags(c)
	return a.connection(c)
}
