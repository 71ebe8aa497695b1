// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/rollups"
)

func (a *app) rollupVerify() *cobra.Command {
	return a.connection(&cobra.Command{
		Use:   "verify [NAME]",
		Short: "Compare one rollup or all with their recomputation, while reads and writes continue",
		Long: "Recomputes each cell in one snapshot and compares the result with the stored groups, row by row. The exit code is 1 if\n" +
			"anything differs, which is a bug: please report it.",
		Example: "  locus rollup verify\n" +
			"  locus rollup verify places_by_category --json",
		Args:              atMost("NAME"),
		ValidArgsFunction: a.names(rollupNames, 1),
		RunE: a.connected(func(c *cobra.Command, cl *client, args []string) error {
			return newVerifying(a).all(c, cl, args)
		}),
	})
}

// verifying compares rollups with their recomputation.
type verifying struct {
	*app
	t        *term.Table // results
	differs  int         // number of rows that differ
	worst    string      // name of a rollup that differs
	building []string    // rollups without an active generation
}

func newVerifying(a *app) *verifying {
	return &verifying{app: a, t: &term.Table{
		Header: []string{"rollup", "cells", "things", "rows", "differ"},
		Right:  map[int]bool{1: true, 2: true, 3: true, 4: true},
	}}
}

// all compares the named rollups, or all active ones.
func (v *verifying) all(c *cobra.Command, cl *client, names []string) error {
	if len(names) == 0 {
		var list struct { // reads only the required fields, because a later release may have other definitions
			Rollups []struct {
				Name       string `json:"name"`
				Generation int64  `json:"generation"`
			} `json:"rollups"`
		}
		if _, err := cl.get(c.Context(), "/v1/rollups", nil, &list); err != nil {
			return err
		}
		for _, of := range list.Rollups {
			if of.Generation == 0 {
				v.building = append(v.building, of.Name)
				continue
			}
			names = append(names, of.Name)
		}
	}
	for _, name := range names {
		if err := v.one(c, cl, name); err != nil {
			return err
		}
	}
	return v.end(len(names))
}

// verifyLine is a line of progress: a count, or the result for a cell.
type verifyLine struct {
	Type string `json:"type"`
	rollups.CellVerification
}

// one compares one rollup.
func (v *verifying) one(c *cobra.Command, cl *client, name string) error {
	cells := 0
	result, err := v.change(c.Context(), cl, rollupPath(name)+"/verify", nil, func(raw json.RawMessage) (step, line string, err error) {
		of := verifyLine{}
		if err := json.Unmarshal(raw, &of); err != nil {
			return "", "", fmt.Errorf("read the progress: %w", err)
		}
		if of.Type == httpapi.LineVerified && of.Verification != nil {
			cells++
			if err := v.differences(name, &of.CellVerification); err != nil {
				return "", "", err
			}
		}
		things := 0
		if of.Verification != nil {
			things = of.Things
		}
		return name, fmt.Sprintf("verifying %s: %d cells compared, %s counted in %s", name, cells, term.Count(int64(things)),
			of.Cell), nil
	})
	if err != nil {
		return err
	}
	sum, err := resultOf[httpapi.RollupVerified](result)
	if err != nil {
		return err
	}
	if sum.Differs > 0 {
		v.differs, v.worst = v.differs+sum.Differs, name
	}
	if v.json {
		return v.printJSON(struct {
			Type   string `json:"type"`
			Rollup string `json:"rollup"`
			httpapi.RollupVerified
		}{"result", name, sum})
	}
	v.t.Add(name, fmt.Sprint(sum.Cells), fmt.Sprint(sum.Things), fmt.Sprint(sum.Rows), fmt.Sprint(sum.Differs))
	return nil
}

// differences prints the groups of a cell that differ.
func (v *verifying) differences(name string, of *rollups.CellVerification) error {
	for _, d := range of.Differences {
		if v.json {
			if err := v.printJSON(map[string]any{
				"type": "difference", "rollup": name, "cell": of.Cell, "watermark": fmt.Sprint(of.Watermark),
				"group": d.Group, "stored": d.Stored, "recomputed": d.Recomputed,
			}); err != nil {
				return err
			}
			continue
		}
		v.say("%s %s in cell %s, watermark %d: group %s is stored as %s, but is %s", v.talk.Paint("31", "differs"), term.Escape(name), of.Cell,
			of.Watermark, term.Escape(strings.Join(d.Group, ", ")), orNothing(d.Stored), orNothing(d.Recomputed))
	}
	if of.Reason != "" && !v.json {
		v.say("%s is stalled in cell %s at watermark %d: %s", term.Escape(name), of.Cell, of.Watermark,
			term.Escape(of.Reason))
	}
	if more := of.Differs - len(of.Differences); more > 0 && !v.json {
		v.say("and %s more in cell %s", plural(more, "row"), of.Cell)
	}
	return nil
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return term.Escape(text)
}

// end prints the overall result.
func (v *verifying) end(rollups int) error {
	var err error
	if v.json {
		err = v.printJSON(map[string]any{"type": "summary", "rollups": rollups, "differs": v.differs,
			"building": len(v.building)})
	} else {
		err = v.printTable(v.t)
	}
	switch {
	case err != nil:
		return err
	case v.differs > 0:
		return &failure{
			Code: "differs", Message: fmt.Sprintf("rollup %s differs from its recomputation: %s in all", v.worst,
				plural(v.differs, "row")), Exit: exitFailed,
			Hint: "report the lines above as a bug; locus rollup rebuild " + v.worst + " computes it again",
		}
	case len(v.building) > 0:
		return &failure{
			Code: "unavailable", Message: fmt.Sprintf("rollup %s is being built; there is nothing to compare yet",
				v.building[0]), Exit: exitUnavailable,
			Hint: "try again once it serves: locus rollup status " + v.building[0],
		}
	case rollups == 0 && !v.json:
		v.say("there are no rollups")
	case !v.json:
		v.say("%s: every row equals its recomputation", plural(rollups, "rollup"))
	}
	return nil
}
