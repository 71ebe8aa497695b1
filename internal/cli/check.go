// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

func (a *app) checkCommand() *cobra.Command {
	var repair bool
	var cells []string
	c := &cobra.Command{
		Use:   "check",
		Short: "Compare all data with its recomputation from the records, and repair differences",
		Long: "Compares keys, records, births, postings, decisions, edges, entities, the search index, logs, totals, counters, cell\n" +
			"maps and rollups, while reads and writes continue. Prints a line for each row that differs, and writes nothing.\n" +
			"--repair recomputes rows that follow from others; ids stay. The exit code is 0 if nothing differs or everything was\n" +
			"repaired, 1 if something differs, 6 if a cell could not be compared. A check can be interrupted and repeated.",
		Example: "  locus check --cell g1-19 --json\n" +
			"  locus check --repair --url http://127.0.0.1:7070",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			to := looks
			if repair {
				to = writes
			}
			cl, err := a.connect(c, to)
			if err != nil {
				return err
			}
			defer cl.close()
			request := map[string]any{"repair": repair}
			if len(cells) > 0 {
				request["cells"] = cells
			}
			return a.check(c, cl, request)
		},
	}
	c.Flags().BoolVar(&repair, "repair", false, "recompute rows that differ")
	c.Flags().StringSliceVar(&cells, "cell", nil,
		"check only this cell, such as g1-19; may be repeated. Rollups are compared only if all cells are checked")
	return a.connection(c)
}

// check runs a check and prints what it finds.
func (a *app) check(c *cobra.Command, cl *client, request map[string]any) error {
	rows := int64(0) // rows of completed steps
	page := 0        // rows of the current step
	result, err := a.change(c.Context(), cl, "/v1/check", request, func(raw json.RawMessage) (step, line string, err error) {
		var of struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(raw, &of); err != nil {
			return "", "", fmt.Errorf("read a line of the check: %w", err)
		}
		if of.Type == httpapi.LineDifference {
			d, err := resultOf[cells.Difference](raw)
			if err == nil {
				err = a.printDifference(raw, d.Repaired, fmt.Sprint(d.Cell), string(d.What), d.ID, d.Stored, d.Want, d.Advice)
			}
			return "check", fmt.Sprintf("found %s %s of cell %v", d.What, d.ID, d.Cell), err
		}
		p, err := resultOf[cells.CheckProgress](raw)
		if page = max(p.Rows, page); p.Done {
			rows, page = rows+int64(page), 0
		}
		return "check", fmt.Sprintf("checking %s of cell %v: %s rows compared", p.Step, p.Cell,
			term.Count(rows+int64(page))), err
	})
	if err != nil {
		f := explainFailure(c.Context(), err)
		if f.Code == string(httpapi.CodeDamaged) {
			f.Hint = "--cell checks the other cells; " + restores
		}
		return f
	}
	all, err := resultOf[httpapi.Checked](result)
	if err != nil {
		return err
	}
	left := all.Differs - all.Repaired
	if all.Differs == 0 {
		err = a.summary(result, "%s: everything is correct", plural(all.Cells, "cell"))
	} else {
		err = a.summary(result, "%s: %s, %d of them repaired", plural(all.Cells, "cell"), plural(all.Differs, "difference"),
			all.Repaired)
	}
	if err != nil || left == 0 {
		return err
	}
	f := &failure{Code: "differs", Message: plural(left, "row") + " wrong", Exit: exitFailed,
		Hint: "locus check --repair recomputes rows that follow from others"}
	if request["repair"] == true {
		f.Hint = "the lines above say what to do about each"
	}
	return f
}

// printDifference prints a difference, and whether it was repaired.
func (a *app) printDifference(raw json.RawMessage, repaired bool, columns ...string) error {
	if a.json {
		return a.printRaw(raw)
	}
	line := "differs"
	if repaired {
		line = "repaired"
	}
	for _, column := range columns {
		line += "\t" + term.Escape(column)
	}
	if _, err := fmt.Fprintln(a.stdout, line); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}
