// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) whoamiCommand() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:     "whoami",
		Short:   "Show the principal of the current token, and its permissions",
		Example: "  locus whoami\n  locus whoami --json | jq -r .name",
		Args:    arguments(),
		RunE: a.connected(func(c *cobra.Command, cl *client, _ []string) error {
			var who httpapi.Whoami
			raw, err := cl.get(c.Context(), "/v1/whoami", nil, &who)
			if err != nil {
				return err
			}
			if a.json {
				return a.printRaw(raw)
			}
			name := cmp.Or(who.Name, "the operator, without a token")
			if who.Author != "" {
				name = who.Author + " (" + who.Name + ")"
			}
			if _, err := fmt.Fprintf(a.stdout, "%s at %s: %s\n", term.Escape(name), cl.job, strings.Join(who.Permissions, " ")); err != nil {
				return err
			}
			for _, share := range who.Shares {
				line := strings.Join(share.Permissions, " ")
				if share.Kinds != nil {
					line += ", kinds " + strings.Join(share.Kinds, " ")
				}
				if share.Sources != nil {
					line += ", writes " + strings.Join(share.Sources, " ")
				}
				if _, err := fmt.Fprintf(a.stdout, "  %s\n", term.Escape(line)); err != nil {
					return err
				}
			}
			return nil
		}),
	})
}
