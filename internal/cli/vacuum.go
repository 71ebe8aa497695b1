// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/internal/httpapi"
)

func (a *app) vacuumCommand() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "vacuum",
		Short: "Remove the content of erased records from the database files",
		Long: "Trims the change logs of erased records and rewrites one database after the other. Writers of a cell wait while it is\n" +
			"rewritten. The command can be interrupted at any point and repeated.",
		Example: "  locus vacuum\n  locus vacuum --url http://127.0.0.1:7070 --json",
		Args:    arguments(),
		RunE: a.connectedTo(writes, func(c *cobra.Command, cl *client, _ []string) error {
			result, err := a.change(c.Context(), cl, "/v1/vacuum", nil, steps(func(v cells.Vacuumed) (step, line string, err error) {
				return v.Cell.String(), fmt.Sprintf("cell %v rewritten, %s trimmed", v.Cell, plural(v.Trimmed, "change")), nil
			}))
			if err != nil {
				return err
			}
			all, err := resultOf[httpapi.Vacuumed](result)
			if err != nil {
				return err
			}
			if all.Behind > 0 {
				return a.summary(result, "done, except %s, whose changes a rollup has not read yet: run vacuum again later",
					plural(all.Behind, "cell"))
			}
			return a.summary(result, "done: %s", plural(all.Cells, "cell"))
		}),
	})
}
