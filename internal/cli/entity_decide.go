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
		Short: "Say that two entities are one thing, whatever comparisons say; unmerge takes it back",
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
				a.say("%s and %s are one entity already: %s", args[0], args[1], ids[0])
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
		Short: "Say that records are not of the entity that they are in: each gets its former entity back",
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
		Short: "Say that the entity of a record has its id, or shows a value; locus decision withdraw takes it back",
		Long: "Without --attribute the entity which the record is in has the record's id, whichever record came first.\n" +
			"With it the entity shows the value first, though no record says so.",
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
			return a.connectedTo(writes, func(c *cobra.Command, cl *client, _ []string) error { return a.decide(c, cl, a.sign(&f, d)) })(c, args)
		},
	}
	c.Flags().StringVar(&attribute, "attribute", "", "with --value: the attribute")
	c.Flags().StringVar(&value, "value", "", "with --attribute: what the entity shows")
	f.flags(c)
	return a.connection(c)
}
