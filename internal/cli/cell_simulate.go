// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/simulate"
)

func (a *app) cellSimulate() *cobra.Command {
	var from, to uint64
	var o simulate.Options
	c := &cobra.Command{
		Use:   "simulate --to N",
		Short: "Play the growth from the first cells to many, with billions of records, in a second",
		Long: "How full and even cells become, how many of them a key costs, what room is left, and what the same growth\n" +
			"would have cost without Locus. It asks no data: one seed gives one answer.",
		Example: "  locus cell simulate --to 16384\n" +
			"  locus cell simulate --from 48 --to 12288 --records 50000000000 --seed 7 --json",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if to == 0 {
				return usage("locus cell simulate --to 16384", "locus cell simulate: --to is missing: how many cells the last generation has")
			}
			if o.Records < 1 {
				return usage("--records 1000000000", "--records %d: want at least 1", o.Records)
			}
			if o.Cells, err = simulate.Doubling(from, to); err != nil {
				return usage("--from 16 --to 16384", "%v", err)
			}
			report, err := simulate.Run(o)
			if err != nil {
				return fmt.Errorf("simulate: %w", err)
			}
			if a.json {
				return a.printJSON(report)
			}
			if err := a.printTable(report.Table()); err != nil {
				return err
			}
			fmt.Fprintln(a.stdout)
			if err := a.printTable(report.Beside()); err != nil {
				return err
			}
			for _, note := range report.Notes() {
				a.say("%s", note)
			}
			return nil
		},
	}
	f := c.Flags()
	f.Uint64Var(&from, "from", 16, "how many cells the first generation has; each has twice as many as the one before")
	f.Uint64Var(&to, "to", 0, "how many cells the last generation has")
	f.Int64Var(&o.Records, "records", 10_000_000_000, "how many records come in all")
	f.Uint64Var(&o.Seed, "seed", 1, "of all that is drawn")
	return c
}
