// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) packCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "pack",
		Short: "Count how common names are, and weigh them by that",
		Example: "  locus pack build --kind place\n" +
			"  locus pack diff 5d3c0f6a1b2e4478 --kind place",
	}
	c.AddCommand(a.packList(), a.packBuild(), a.packDiff(), a.packSwitch())
	return c
}

func (a *app) packList() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "list",
		Short: "List the packs that are kept, the latest last",
		Example: "  locus pack list\n" +
			"  locus pack list --json | jq -r .hash",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			packs, err := packsOf(c, cl)
			if err != nil {
				return err
			}
			t := &term.Table{Header: []string{"pack", "kind", "records", "tokens", "chains", "bytes", "since"}, Right: map[int]bool{2: true, 3: true, 4: true, 5: true}}
			for _, raw := range packs {
				if a.json {
					if err := a.printRaw(typed("result", raw)); err != nil {
						return err
					}
					continue
				}
				var p httpapi.Pack
				if err := json.Unmarshal(raw, &p); err != nil {
					return fmt.Errorf("read a pack: %w", err)
				}
				t.Add(p.Hash, p.Kind, fmt.Sprint(p.Records), fmt.Sprint(p.Tokens), fmt.Sprint(p.Chains), fmt.Sprint(p.Bytes), p.Since.UTC().Format(time.RFC3339))
			}
			if a.json {
				return a.listed(len(packs), "")
			}
			return a.printTable(t)
		}),
	})
}

func (a *app) packBuild() *cobra.Command {
	var kind string
	c := &cobra.Command{
		Use:   "build --kind KIND",
		Short: "Count the names of a kind's records and keep the pack; prints its hash",
		Long:  "Nothing is resolved by a pack before a switch: locus pack diff shows what that would change.",
		Example: "  locus pack build --kind place\n" +
			"  locus pack build --kind person --json",
		Args: arguments(),
		RunE: a.connectedTo(writes, func(c *cobra.Command, cl *client, _ []string) error {
			result, err := a.change(c.Context(), cl, "/v1/packs", httpapi.PackRequest{Kind: kind}, progressOf)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(result)
			}
			p, err := resultOf[httpapi.Pack](result)
			if err != nil {
				return err
			}
			a.say("%s records, %s tokens, %s chains", term.Count(int64(p.Records)), term.Count(int64(p.Tokens)), term.Count(int64(p.Chains)))
			_, err = fmt.Fprintln(a.stdout, p.Hash)
			return err
		}),
	}
	c.Flags().StringVar(&kind, "kind", "place", "the kind whose records are counted")
	return a.connection(c)
}

// packKind returns the kind of a pack: the given one, or that of the records it counts.
func packKind(c *cobra.Command, cl *client, hash, kind string) (string, error) {
	if kind != "" {
		return kind, nil
	}
	packs, err := packsOf(c, cl)
	if err != nil {
		return "", err
	}
	for _, raw := range packs {
		var p httpapi.Pack
		if err := json.Unmarshal(raw, &p); err != nil {
			return "", fmt.Errorf("read a pack: %w", err)
		}
		if p.Hash == hash && p.Kind != "" {
			return p.Kind, nil
		}
	}
	return "", usage("locus pack list, or --kind", "pack %.32q: nobody knows which kind it is for", hash)
}

func (a *app) packDiff() *cobra.Command {
	var kind string
	c := &cobra.Command{
		Use:   "diff PACK",
		Short: "Show what would merge and split if a kind were weighed by this pack; changes nothing",
		Example: "  locus pack diff 5d3c0f6a1b2e4478\n" +
			"  locus pack diff 5d3c0f6a1b2e4478 --kind place --json | jq .split",
		Args: arguments("PACK"),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			kind, err := packKind(c, cl, args[0], kind)
			if err != nil {
				return err
			}
			return a.diffed(c, cl, kind, httpapi.KindRequest{Pack: args[0]})
		}),
	}
	c.Flags().StringVar(&kind, "kind", "", "the kind; that of the records which the pack counts, if left out")
	return a.connection(c)
}

func (a *app) packSwitch() *cobra.Command {
	var f changing
	var kind string
	c := &cobra.Command{
		Use:   "switch PACK",
		Short: "Weigh a kind by another pack, while everybody goes on",
		Long: "What is written from now on is, and the records that are there are resolved anew, cell by cell; ids stay. It\n" +
			"may be stopped anywhere: the servers go on by themselves, and so does the same command.",
		Example: "  locus pack switch 5d3c0f6a1b2e4478 --dry-run\n" +
			"  locus pack switch 5d3c0f6a1b2e4478 --yes",
		Args: arguments("PACK"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.connectedTo(f.access(), func(c *cobra.Command, cl *client, args []string) error {
				kind, err := packKind(c, cl, args[0], kind)
				if err != nil {
					return err
				}
				return a.switched(c, cl, kind, httpapi.KindRequest{Pack: args[0]}, &f)
			})(c, args)
		},
	}
	f.flags(c)
	c.Flags().StringVar(&kind, "kind", "", "the kind; that of the records which the pack counts, if left out")
	return a.connection(c)
}
