// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) sessionCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "session",
		Short:   "List and end the sessions of people who are signed in to the console",
		Example: "  locus session list\n  locus session end 0j0g0xae",
	}
	c.AddCommand(a.sessionList(), a.sessionEnd())
	return c
}

var sessionIDs = namesAt("/v1/sessions", "sessions", "id")

func (a *app) sessionList() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:     "list",
		Short:   "List the sessions that have not ended",
		Example: "  locus session list\n  locus session list --json | jq -r .name",
		Args:    arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			var list httpapi.SessionList
			if _, err := cl.get(c.Context(), "/v1/sessions", nil, &list); err != nil {
				return err
			}
			if a.json {
				return printEach(a, list.Sessions)
			}
			t := &term.Table{Header: []string{"id", "name", "author", "since", "last used", "expires"}}
			for _, s := range list.Sessions {
				t.Add(s.ID, s.Name, s.Author, moment(s.Created), moment(s.Used), moment(s.Expires))
			}
			return a.printTable(t)
		}),
	})
}

func (a *app) sessionEnd() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:     "end ID",
		Short:   "End a session, within a second in every process",
		Example: "  locus session end 0j0g0xae\n  locus session end 0j0g0xae --url https://locus.example",
		Args:    arguments("ID"), ValidArgsFunction: a.names(sessionIDs, 1),
		RunE: a.connectedTo(writes, func(c *cobra.Command, cl *client, args []string) error {
			var ended struct{ ID, Name string }
			raw, err := cl.do(c.Context(), http.MethodDelete, "/v1/sessions/"+url.PathEscape(args[0]), nil, nil, &ended)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(raw)
			}
			a.say("ended the session %s of %s", term.Escape(ended.ID), term.Escape(ended.Name))
			return nil
		}),
	})
}
