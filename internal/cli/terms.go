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

func (a *app) termsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "terms",
		Short: "Count names and weight them by their frequency",
		Example: "  locus terms build --kind place\n" +
			"  locus terms diff 5d3c0f6a1b2e4478 --kind place",
	}
	c.AddCommand(a.termsList(), a.termsBuild(), a.termsDiff(), a.termsMigrate())
	return c
}

func (a *app) termsList() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "list",
		Short: "List the stored term-frequency tables, the newest last",
		Example: "  locus terms list\n" +
			"  locus terms list --json | jq -r .hash",
		Args: arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			terms, err := termsOf(c, cl)
			if err != nil {
				return err
			}
			t := &term.Table{Header: []string{"terms", "kind", "records", "tokens", "chains", "bytes", "since"},
				Right: map[int]bool{2: true, 3: true, 4: true, 5: true}}
			for _, raw := range terms {
				if a.json {
					if err := a.printRaw(typed("result", raw)); err != nil {
						return err
					}
					continue
				}
				var p httpapi.Terms
				if err := json.Unmarshal(raw, &p); err != nil {
					return fmt.Errorf("read a term-frequency table: %w", err)
				}
				t.Add(p.Hash, p.Kind, fmt.Sprint(p.Records), fmt.Sprint(p.Tokens), fmt.Sprint(p.Chains), fmt.Sprint(p.Bytes),
					p.Since.UTC().Format(time.RFC3339))
			}
			if a.json {
				return a.listed(len(terms), "")
			}
			return a.printTable(t)
		}),
	})
}

func (a *app) termsBuild() *cobra.Command {
	var kind string
	c := &cobra.Command{
		Use:   "build --kind KIND",
		Short: "Count the names of a kind's records, store the table and print its hash",
		Long:  "A stored table has no effect before a migration; locus terms diff shows the effect.",
		Example: "  locus terms build --kind place\n" +
			"  locus terms build --kind person --json",
		Args: arguments(),
		RunE: a.connectedTo(writes, func(c *cobra.Command, cl *client, _ []string) error {
			result, err := a.change(c.Context(), cl, "/v1/term-frequencies", httpapi.TermsRequest{Kind: kind}, progressOf)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(result)
			}
			p, err := resultOf[httpapi.Terms](result)
			if err != nil {
				return err
			}
			a.say("%s records, %s tokens, %s chains", term.Count(int64(p.Records)), term.Count(int64(p.Tokens)),
				term.Count(int64(p.Chains)))
			_, err = fmt.Fprintln(a.stdout, p.Hash)
			return err
		}),
	}
	c.Flags().StringVar(&kind, "kind", "place", "kind whose records are counted")
	return a.connection(c)
}

// termsKind returns the kind of a term-frequency table: the given one, or the kind of the records it counts.
func termsKind(c *cobra.Command, cl *client, hash, kind string) (string, error) {
	if kind != "" {
		return kind, nil
	}
	terms, err := termsOf(c, cl)
	if err != nil {
		return "", err
	}
	for _, raw := range terms {
		var p httpapi.Terms
		if err := json.Unmarshal(raw, &p); err != nil {
			return "", fmt.Errorf("read a term-frequency table: %w", err)
		}
		if p.Hash == hash && p.Kind != "" {
			return p.Kind, nil
		}
	}
	return "", usage("locus terms list, or --kind", "term-frequency table %.32q: its kind is unknown", hash)
}

func (a *app) termsDiff() *cobra.Command {
	var kind string
	c := &cobra.Command{
		Use:   "diff HASH",
		Short: "Show what would merge and split if a kind used this term-frequency table, without changing anything",
		Example: "  locus terms diff 5d3c0f6a1b2e4478\n" +
			"  locus terms diff 5d3c0f6a1b2e4478 --kind place --json | jq .split",
		Args: arguments("HASH"),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			kind, err := termsKind(c, cl, args[0], kind)
			if err != nil {
				return err
			}
			return a.diffed(c, cl, kind, httpapi.KindRequest{Terms: args[0]})
		}),
	}
	c.Flags().StringVar(&kind, "kind", "", "kind; by default that of the counted records")
	return a.connection(c)
}

func (a *app) termsMigrate() *cobra.Command {
	var f changing
	var kind string
	c := &cobra.Command{
		Use:   "migrate HASH",
		Short: "Migrate a kind to another term-frequency table, while reads and writes continue",
		Long: "New writes use it at once, and existing records are resolved again, cell by cell; ids stay. The migration\n" +
			"can be interrupted at any point; the servers continue it, or repeat the command.",
		Example: "  locus terms migrate 5d3c0f6a1b2e4478 --dry-run\n" +
			"  locus terms migrate 5d3c0f6a1b2e4478 --yes",
		Args: arguments("HASH"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.connectedTo(f.access(), func(c *cobra.Command, cl *client, args []string) error {
				kind, err := termsKind(c, cl, args[0], kind)
				if err != nil {
					return err
				}
				return a.switched(c, cl, kind, httpapi.KindRequest{Terms: args[0]}, &f)
			})(c, args)
		},
	}
	f.flags(c)
	c.Flags().StringVar(&kind, "kind", "", "kind; by default that of the counted records")
	return a.connection(c)
}
