// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/backend/all"
	"github.com/locus-db/locus/cell"
)

func (a *app) cellRestored() *cobra.Command {
	var f changing
	c := &cobra.Command{
		Use:   "restored",
		Short: "Make a restored backup safe to serve: no number that was given away is given away again",
		Long: "A backup does not know what happened after it was made. Every cell passes over the numbers that it may have\n" +
			"given away since, and takes no keys if a newer generation does. Run it once, before the first server.",
		Example: "  locus cell restored --data /var/lib/locus\n" +
			"  locus cell restored --map postgres://db1/locus --yes",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			w, err := a.locate(c)
			if err != nil {
				return err
			}
			cells, err := all.Open(c.Context(), w.place, &all.Options{MustExist: true, Rules: locus.Rules, Notice: w.notice, Restored: true})
			if err != nil {
				return fmt.Errorf("open the data: %w", err)
			}
			defer cells.Close()
			m := cells.Map()
			a.say("%s: %s, cell map %s, epoch %d\nwill let each cell pass over 1,048,576 puids, and seal those of older generations",
				w, plural(len(m.Cells()), "cell"), m.Spec().ID, m.Epoch())
			if f.dryRun {
				return nil
			}
			if err := a.confirm(f.yes, "Was it restored from a backup, and does no server work with it?"); err != nil {
				return err
			}
			if err := cell.Reincarnate(c.Context(), cells); err != nil {
				return fmt.Errorf("%s: %w", w, err)
			}
			if a.json {
				return a.printJSON(map[string]any{"type": "summary", "cells": len(m.Cells()), "epoch": cells.Map().Epoch()})
			}
			a.say("done: it may be served")
			return nil
		},
	}
	f.flags(c)
	a.installation(c)
	c.Flags().Lookup("data").Usage = "data directory that was restored"
	return c
}
