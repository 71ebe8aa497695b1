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
		Short: "Remove what erased records said from the files of the cells",
		Long: "Trims the log of changes as far as it tells of erased records, and writes the database of one cell after\n" +
			"the other anew. Writers of that cell wait, the others go on. It may be stopped and begun again anywhere.",
		Example: "  locus vacuum\n  locus vacuum --url http://127.0.0.1:7070 --json",
		Args:    arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			cl, err := a.connect(c, writes)
			if err != nil {
				return err
			}
			defer cl.close()
			result, err := a.change(c.Context(), cl, "/v1/vacuum", nil, steps(func(v cells.Vacuumed) (step, line string, err error) {
				return v.Cell.String(), fmt.Sprintf("cell %v written anew, %s trimmed", v.Cell, plural(v.Trimmed, "change")), nil
			}))
			if err != nil {
				return err
			}
			all, err := resultOf[httpapi.Vacuumed](result)
			if err != nil {
				return err
			}
			if all.Behind > 0 {
				return a.summary(result, "done, but a rollup has yet to count changes of %s: vacuum again", plural(all.Behind, "cell"))
			}
			return a.summary(result, "done: %s", plural(all.Cells, "cell"))
		},
	})
}
