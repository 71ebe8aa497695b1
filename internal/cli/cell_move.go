// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) cellMove() *cobra.Command {
	var f changing
	var to httpapi.MoveRequest
	c := &cobra.Command{
		Use:   "move CELL --to URL",
		Short: "Move a cell to another database; its writers wait for some milliseconds",
		Long: "Copies the rows, then the changes made since. At the end, writers of the cell wait while the last changes are copied and\n" +
			"the cell map is updated. If the command fails before that, the cell stays where it was. It can be interrupted at any\n" +
			"point and repeated. It refuses a cell that is already being moved, and a target with rows of anything but this move;\n" +
			"--replace deletes rows that the cell left there when it moved away.",
		Example: "  locus cell move g0-3 --to postgres://db2/locus_g0_3\n" +
			"  locus cell move g0-3 --to sqlite:/srv/locus/g0-3.db --dry-run",
		Args: arguments("CELL"),
		RunE: func(c *cobra.Command, args []string) error {
			if to.URL == "" {
				return usage("locus cell move "+args[0]+" --to URL",
					"locus cell move: --to is missing: the new database of the cell")
			}
			cl, err := a.connect(c, f.access())
			if err != nil {
				return err
			}
			defer cl.close()
			return a.move(c, cl, args[0], &to, &f)
		},
	}
	f.flags(c)
	c.Flags().StringVar(&to.URL, "to", "", "URL of the new database; created if it does not exist")
	c.Flags().BoolVar(&to.Replace, "replace", false,
		"delete rows that the cell left in the new database when it moved away from there")
	return a.connection(c)
}

func (a *app) move(c *cobra.Command, cl *client, name string, to *httpapi.MoveRequest, f *changing) error {
	path := "/v1/cells/" + url.PathEscape(name)
	var of httpapi.CellDetail
	if _, err := cl.get(c.Context(), path, nil, &of); err != nil {
		return err
	}
	if a.json {
		plan := map[string]any{"type": "plan", "cell": of.Cell.Cell, "from": of.URL, "to": cell.Redact(to.URL),
			"records": of.Records, "bytes": of.Bytes}
		if err := a.printJSON(plan); err != nil {
			return err
		}
	} else {
		a.say("will move cell %s, %s and %s bytes\nfrom   %s\nto     %s\nat the end its writers wait for some milliseconds; its readers do not",
			of.Cell.Cell, plural(int(of.Records), "record"), term.Count(of.Bytes), term.Escape(of.URL), term.Escape(cell.Redact(to.URL)))
	}
	if f.dryRun {
		return nil
	}
	if err := a.confirm(f.yes, fmt.Sprintf("Move cell %s?", of.Cell.Cell)); err != nil {
		return err
	}
	result, err := a.change(c.Context(), cl, path+"/move", to, steps(func(p cell.MoveProgress) (step, line string, err error) {
		return p.Step, moveLine(&p), nil
	}))
	if err != nil {
		return err
	}
	p, err := resultOf[cell.MoveProgress](result)
	if err != nil {
		return err
	}
	if p.Step == "there" {
		return a.summary(result, "nothing to do: cell %s is already in that database, at %s", of.Cell.Cell,
			term.Escape(of.URL))
	}
	return a.summary(result, "done: cell %s is at %s; its writers waited for %v", of.Cell.Cell,
		term.Escape(cell.Redact(to.URL)), p.Pause.Round(100*time.Microsecond))
}

func moveLine(p *cell.MoveProgress) string {
	switch {
	case p.Step == "copy" && p.Table != "":
		return fmt.Sprintf("copied %s rows, now of %s", term.Count(p.Rows), p.Table)
	case p.Step == "copy":
		return fmt.Sprintf("copied %s rows", term.Count(p.Rows))
	case p.Step == "follow":
		return fmt.Sprintf("followed %s changes", term.Count(p.Followed))
	case p.Step == "switch":
		return "switching: writers wait"
	default: // "done" and "there" are in the summary
		return ""
	}
}
