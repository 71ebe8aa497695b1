// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) sourceDead() *cobra.Command {
	c := &cobra.Command{
		Use: "dead", Short: "List, retry or drop the messages of a source that cannot become records",
		Example: "  locus source dead list crm\n  locus source dead retry crm",
	}
	c.AddCommand(a.sourceDeadList(),
		a.sourceDeadDo("retry", "Read messages again, after the mapping was corrected", "will be tried again"),
		a.sourceDeadDo("drop", "Drop dead letters", "dropped"))
	return c
}

func (a *app) sourceDeadList() *cobra.Command {
	return a.connection(&cobra.Command{
		Use: "list NAME", Short: "List the dead letters of a source, with the place of each message in the stream",
		Example: "  locus source dead list crm\n  locus source dead list crm --json | jq -r .reason | sort | uniq -c",
		Args:    arguments("NAME"), ValidArgsFunction: a.names(sourceNames, 1),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			var list httpapi.LetterList
			if _, err := cl.get(c.Context(), sourcePath(args[0])+"/dead", nil, &list); err != nil {
				return err
			}
			if a.json {
				return printEach(a, list.Letters)
			}
			t := &term.Table{Header: []string{"at", "key", "reason"}}
			for _, l := range list.Letters {
				t.Add(l.At, l.Key, l.Reason)
			}
			return a.printTable(t)
		}),
	})
}

func (a *app) sourceDeadDo(verb, short, done string) *cobra.Command {
	return a.connection(&cobra.Command{
		Use: verb + " NAME [PARTITION:OFFSET]...", Short: short + "; by default all",
		Example: "  locus source dead " + verb + " crm\n  locus source dead " + verb + " crm 0:4711 2:12",
		Args:    atLeast("NAME"), ValidArgsFunction: a.names(sourceNames, 1),
		RunE: a.connectedTo(writes, func(c *cobra.Command, cl *client, args []string) error {
			return a.handleLetters(c, cl, sourcePath(args[0])+"/dead/"+verb, httpapi.LettersRequest{At: args[1:]}, done)
		}),
	})
}
