// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/locality"
)

func (a *app) sinkDead() *cobra.Command {
	c := &cobra.Command{
		Use: "dead", Short: "List, retry or drop the events that a target has rejected",
		Example: "  locus sink dead list hook\n  locus sink dead retry hook",
	}
	c.AddCommand(a.sinkDeadList(),
		a.sinkDeadDo("retry", "Read the ids again and deliver their current state", "to be delivered again"),
		a.sinkDeadDo("drop", "Drop dead letters", "dropped"))
	return c
}

func (a *app) sinkDeadList() *cobra.Command {
	return a.connection(&cobra.Command{
		Use: "list NAME", Short: "List the dead letters of a sink, with the reason of each",
		Example: "  locus sink dead list hook\n  locus sink dead list hook --json | jq -r .reason | sort | uniq -c",
		Args:    arguments("NAME"), ValidArgsFunction: a.names(sinkNames, 1),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			var all []httpapi.SinkLetter
			for query := (url.Values{"limit": {"1000"}}); ; {
				var page httpapi.SinkLetterList
				if _, err := cl.get(c.Context(), sinkPath(args[0])+"/dead", query, &page); err != nil {
					return err
				}
				if all = append(all, page.Letters...); page.Cursor == "" {
					break
				}
				query.Set("cursor", page.Cursor)
			}
			if a.json {
				return printEach(a, all)
			}
			t := &term.Table{Header: []string{"id", "op", "rejected", "reason"}}
			for _, l := range all {
				t.Add(l.ID.String(), string(l.Op), moment(l.Time), l.Reason)
			}
			return a.printTable(t)
		}),
	})
}

func (a *app) sinkDeadDo(verb, short, done string) *cobra.Command {
	return a.connection(&cobra.Command{
		Use: verb + " NAME [ID]...", Short: short + "; by default all",
		Example: "  locus sink dead " + verb + " hook\n  locus sink dead " + verb + " hook 20be0ffc-314a-bd53-7a50-013a65ca76d2",
		Args:    atLeast("NAME"), ValidArgsFunction: a.names(sinkNames, 1),
		RunE: a.connectedTo(writes, func(c *cobra.Command, cl *client, args []string) error {
			var request httpapi.SinkDeadRequest
			for _, text := range args[1:] {
				id, err := locality.Parse(text)
				if err != nil {
					return usage("locus sink dead list "+args[0]+" shows the ids", "%.60q is not an id", text)
				}
				request.IDs = append(request.IDs, id)
			}
			return a.handleLetters(c, cl, sinkPath(args[0])+"/dead/"+verb, request, done)
		}),
	})
}

// handleLetters retries or drops dead letters of a sink or of a source, as the path says.
func (a *app) handleLetters(c *cobra.Command, cl *client, path string, request any, done string) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	var handled struct{ Letters int64 }
	raw, err := cl.do(c.Context(), http.MethodPost, path, nil, body, &handled)
	if err != nil {
		return err
	}
	if a.json {
		return a.printRaw(raw)
	}
	a.say("%s %s", counted(handled.Letters, "dead letter", "dead letters"), done)
	return nil
}
