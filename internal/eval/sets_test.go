// SPDX-License-Identifier: Apache-2.0

package eval_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/locus-db/locus/internal/eval"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/match"
)

// dataSets returns the folder of the labelled sets; without it the test is skipped.
func dataSets(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("LOCUS_DATA_SETS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no labelled sets in %s: set LOCUS_DATA_SETS", dir)
	}
	return dir
}

// goals are the figures that the built-in kind must reach without labels.
var goals = map[string]float64{
	"fodors-zagats tables":     0.97,
	"fodors-zagats one-to-one": 0.98,
	"overture validation":      0.89,
	"chicago childcare":        0.90,
}

// TestAll_ReachesTheGoalsWithoutStatistics measures with the term-frequency table of a resolver that has not seen any
// data.
func TestAll_ReachesTheGoalsWithoutStatistics(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	reports, err := eval.All(t.Context(),
		eval.AllOptions{Data: dataSets(t), Small: true, Terms: match.DefaultTermFrequencies()})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		if goal, ok := goals[r.Name]; ok && r.F1.Value < goal {
			t.Errorf("%s: F1 %.4f, the goal is %.2f", r.Name, r.F1.Value, goal)
		}
	}
}

func TestAll_ReachesTheGoals(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	reports, err := eval.All(t.Context(),
		eval.AllOptions{Data: dataSets(t), Small: true, Baseline: filepath.Join("..", "..", "eval", "baseline.json")})
	if err != nil {
		t.Error(err)
	}
	reached := 0
	for _, r := range reports {
		if goal, ok := goals[r.Name]; ok {
			reached++
			if r.F1.Value < goal {
				t.Errorf("%s: F1 %.4f, the goal is %.2f", r.Name, r.F1.Value, goal)
			}
		}
		switch r.Name {
		case "fodors-zagats tables":
			if r.Blocking < 1 {
				t.Errorf("%s: blocking recall %.4f, want 1", r.Name, r.Blocking)
			}
		case "chicago childcare":
			if r.Blocking < 0.98 {
				t.Errorf("%s: blocking recall %.4f, want 0.98", r.Name, r.Blocking)
			}
		}
	}
	if reached != len(goals) {
		t.Errorf("%d of %d sets with a goal were measured", reached, len(goals))
	}
	var table bytes.Buffer
	if err := eval.WriteMarkdown(&table, reports); err != nil {
		t.Fatal(err)
	}
	if got := bytes.Count(table.Bytes(), []byte("\n")); got != len(reports)+2 {
		t.Errorf("the table has %d lines for %d sets", got, len(reports))
	}
}
