// SPDX-License-Identifier: Apache-2.0

package celltest_test

import (
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/celltest"
	"github.com/locus-db/locus/internal/longtest"
)

func TestMain(m *testing.M) { conformance.ExpectFailures(); m.Run() }

// open returns a cell in memory with the range of g0-8 of 16 cells, which begins with the one number that is never a
// puid, and with at most one planted bug.
func open(t *testing.T, bug string) celltest.Cell {
	t.Helper()
	db, err := (&celltest.Memory{}).Dial(t.Context(), "mem", true)
	if err != nil {
		t.Fatal(err)
	}
	id := cell.Identity{Map: "m", Cell: cell.ID{Index: 8}, Lo: 0, Hi: 1<<32 - 1}
	if err := db.Identify(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return plant(celltest.Cell{Database: db, Lo: id.Lo, Hi: id.Hi, LeaveRoom: func(n int64) error {
		return db.Update(t.Context(), func(s cell.Store) error {
			stats, err := db.Stats(t.Context())
			if err != nil {
				return err
			}
			return s.Skip(t.Context(), stats.PUIDRoom-stats.PUIDs-uint64(n))
		})
	}}, bug)
}

func TestMemory(t *testing.T) {
	t.Parallel()
	celltest.Run(t, func(t *testing.T) celltest.Cell { t.Helper(); return open(t, "") })
}

func TestMemory_Driver(t *testing.T) {
	t.Parallel()
	celltest.RunDriver(t, func(*testing.T) celltest.Kind[cell.Store] {
		return celltest.Kind[cell.Store]{Driver: &celltest.Memory{}, URL: func(name string) string { return "mem:" + name }}
	})
}

func TestRun_SkipsNoRoomByName(t *testing.T) {
	t.Parallel()
	c := open(t, "")
	c.LeaveRoom = nil
	if v := celltest.Cases.VerdictOf("NoRoom", c); v.Failed || !strings.Contains(v.Log, "LeaveRoom") {
		t.Errorf("NoRoom without LeaveRoom: %+v", v)
	}
}

// TestRun_FindsEveryBug plants one bug at a time; the case intended for it must find it.
func TestRun_FindsEveryBug(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	celltest.Cases.FindsEveryBug(t, open, conformance.Bugs{
		ByCase: map[string]string{
			"missing keys are left out":     "EmptyCellHasNoKey",
			"order is lost":                 "AnswersInOrder",
			"old keys get new puids":        "AllocatesOnce",
			"all are fresh":                 "AllocatesOnce",
			"duplicates in a batch":         "DuplicatesInBatch",
			"ring alone is the key":         "SameRingOtherDigest",
			"digest alone is the key":       "SameRingOtherDigest",
			"long batches are cut":          "ThousandKeys",
			"rollback keeps rows":           "RollbackLeavesNothing",
			"error is swallowed":            "RollbackLeavesNothing",
			"writers do not see each other": "ConcurrentAllocation",
			"puid 0":                        "PuidsRiseInsideTheRange",
			"puids fall":                    "PuidsRiseInsideTheRange",
			"range is left":                 "NoRoom",
			"copies overwrite":              "CopyKeepsWhatIsThere",
			"rings are unsigned":            "ScanInOrder",
			"the key itself is scanned":     "ScanInOrder",
			"limit is for readers only":     "Drop",
			"nothing is skipped":            "Skip",
			"skipping goes round":           "SkipToTheEnd",
			"puids of dropped rows return":  "PuidsAreNeverGivenAgain",
			"views see what is committed":   "ViewIsASnapshot",
			"views write":                   "ViewDoesNotWrite",
			"fences are narrow":             "Head",
			"images are forgotten":          "Head",
			"updates write heads":           "HeadOnlyInExclusive",
			"exclusives always commit":      "ExclusiveRollsBack",
			"moved cells are written":       "UpdateOnlyWhereServing",
			"seals do not wait":             "SealWaitsForUpdates",
			"seals read before they wait":   "SealWaitsForUpdates",
			"writers overtake":              "SealAmongWriters",
			"heads are read outside":        "SealAmongWriters",
			"exclusives run together":       "ExclusivesRunAlone",
			"old maps are the newest":       "CellMap",
			"superseded maps are kept":      "CellMapSuperseded",
			"any map is newer":              "CellMapConflict",
			"maps are compared outside":     "CellMapConflictAtOnce",
			"filters are kept":              "Filter",
			"low pulses overwrite":          "Witnesses",
		},
		ByModel: []string{
			"missing keys are left out", "order is lost", "old keys get new puids", "all are fresh",
			"duplicates in a batch", "rollback keeps rows", "error is swallowed", "puid 0",
			"copies overwrite",
		},
		Tries: 1,
	})
}
