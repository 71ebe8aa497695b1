// SPDX-License-Identifier: Apache-2.0

package rolluptest_test

import (
	"testing"

	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/rolluptest"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/rollup"
)

func TestMain(m *testing.M) { conformance.ExpectFailures(); m.Run() }

func open(_ *testing.T, bug string) rolluptest.Cell {
	o := &others{}
	return rolluptest.Memory(func(s rollup.Store) rollup.Store { return &shelf{Store: s, bug: bug, others: o} }, bug)
}

func TestRun_PassesWithoutBug(t *testing.T) {
	t.Parallel()
	rolluptest.Run(t, func(t *testing.T) rolluptest.Cell { t.Helper(); return open(t, "") })
}

// TestRun_FindsEveryBug plants one bug at a time; the case meant for it must find it.
func TestRun_FindsEveryBug(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	rolluptest.Cases.FindsEveryBug(t, open, conformance.Bugs{
		ByCase: map[string]string{
			"empty batches fail":               "EmptyCell",
			"missing rows are empty":           "EmptyCell",
			"dropped rollups go":               "RollupsComeBackWhole",
			"the next version is forgotten":    "RollupsComeBackWhole",
			"numbers of 53 bits":               "RollupsComeBackWhole",
			"conditions are forgotten":         "RollupsComeBackWhole",
			"names in the order of people":     "RollupsInOrder",
			"seconds only":                     "GenerationsComeBackWhole",
			"no reason":                        "GenerationsComeBackWhole",
			"no watermark below zero":          "GenerationsComeBackWhole",
			"documents have no home":           "GenerationsComeBackWhole",
			"numbers in the order of text":     "GenerationsInOrder",
			"deleting twice fails":             "GenerationsInOrder",
			"rows go with their generation":    "DeletedGenerationKeepsRows",
			"keys end at zero":                 "RowsAreBytes",
			"keys are text":                    "RowsAreBytes",
			"keys fold":                        "RowsAreBytes",
			"long keys are cut":                "RowsAreBytes",
			"bodies of 64 KiB":                 "RowsAreBytes",
			"missing rows are left out":        "RowsInTheOrderAsked",
			"rows in the order of keys":        "RowsInTheOrderAsked",
			"a row is found once":              "RowsInTheOrderAsked",
			"written once":                     "PuttingReplacesAndDeletes",
			"nothing is deleted":               "PuttingReplacesAndDeletes",
			"long batches are cut":             "ThousandRows",
			"long answers are cut":             "ThousandRows",
			"after is included":                "RangesInOrder",
			"after is ignored by the last":     "RangesInOrder",
			"prefixes are ignored":             "RangesInOrder",
			"prefixes end at 0xff":             "RangesInOrder",
			"limits are not kept":              "RangesInOrder",
			"the last ones in order":           "RangesInOrder",
			"bytes are signed":                 "RangesInOrder",
			"ranges in any order":              "RangesInTheOrderAsked",
			"ranges without rows are left out": "RangesInTheOrderAsked",
			"generations are one":              "GenerationsAreApart",
			"dropping ignores the limit":       "DropInPortions",
			"dropping tells the limit":         "DropInPortions",
			"generations are remembered":       "SeesItsOwnWrites",
			"rollback keeps rows":              "RollbackLeavesNothing",
			"error is swallowed":               "RollbackLeavesNothing",
			"nothing is kept":                  "SurvivesReopening",
			"the context is not asked":         "CancelledContext",
			"readers do not wait":              "NobodyElseChangesGenerations",
			"readers of rollups do not wait":   "NobodyElseChangesRollups",
		},
		ByModel: []string{
			"missing rows are empty", "deleting twice fails", "rows go with their generation", "keys end at zero",
			"written once",
			"nothing is deleted", "after is included", "prefixes are ignored", "limits are not kept", "the last ones in order",
			"bytes are signed",
			"generations are one", "rollback keeps rows", "error is swallowed",
		},
		Tries: 3,
	})
}
