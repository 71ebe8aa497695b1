// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/tokens"
)

func (a *app) accessCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "access",
		Short:   "Block and unblock principals: tokens, people, services",
		Example: "  locus access block jwt:repo:crm\n  locus access list",
	}
	c.AddCommand(a.accessList(), a.accessChange("block", http.MethodPut), a.accessChange("unblock", http.MethodDelete))
	return c
}

var blockedNames = namesAt("/v1/blocks", "blocks", "name")

func (a *app) accessList() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:     "list",
		Short:   "List the principals that are blocked",
		Example: "  locus access list\n  locus access list --json | jq -r .name",
		Args:    arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			var list httpapi.BlockList
			if _, err := cl.get(c.Context(), "/v1/blocks", nil, &list); err != nil {
				return err
			}
			if a.json {
				return printEach(a, list.Blocks)
			}
			t := &term.Table{Header: []string{"blocked", "since", "by"}}
			for _, b := range list.Blocks {
				t.Add(b.Name, moment(b.Since), b.By)
			}
			return a.printTable(t)
		}),
	})
}

// accessChange returns the command that blocks a principal, or ends that.
func (a *app) accessChange(verb, method string) *cobra.Command {
	c := &cobra.Command{
		Use:     verb + " PRINCIPAL",
		Short:   "Refuse all requests of a principal, within a second in every process",
		Example: "  locus access block oidc:248289761001\n  locus access block cert:spiffe://example/crm --url https://locus.example",
		Args:    arguments("PRINCIPAL"),
		RunE: a.connectedTo(writes, func(c *cobra.Command, cl *client, args []string) error {
			if args[0] == "" {
				return usage("locus access "+verb+" ci", "a principal has a name")
			}
			var b tokens.Block
			raw, err := cl.do(c.Context(), method, "/v1/blocks/"+url.PathEscape(args[0]), nil, nil, &b)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(raw)
			}
			a.say("%sed %s", verb, term.Escape(b.Name))
			return nil
		}),
	}
	if method == http.MethodDelete {
		c.Short = "Unblock a principal: its credentials are valid again"
		c.Example = "  locus access unblock oidc:248289761001\n  locus access unblock ci --url https://locus.example"
		c.ValidArgsFunction = a.names(blockedNames, 1)
	}
	return a.connection(c)
}
