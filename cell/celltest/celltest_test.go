// SPDX-License-Identifier: Apache-2.0

package celltest_test

import (
	"context"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/cell/celltest"
	"github.com/locus-db/locus/conformance"
)

func TestMain(m *testing.M) { conformance.ExpectFailures(); m.Run() }

// directory is a cell's directory in memory, with at most one bug.
type directory struct {
	mu   sync.Mutex
	puid map[cell.Key]int64
	last int64
	hi   int64
	bug  string // at most one mistake that a backend could make
}

// open returns a directory with the range of g0-8 of 16 cells, which begins with
// the one number that is never a puid.
func open(_ *testing.T, bug string) celltest.Cell {
	const lo, hi = 0, 1<<32 - 1
	d := &directory{puid: map[cell.Key]int64{}, last: lo, hi: hi, bug: bug}
	if bug == "puid 0" {
		d.last = lo - 1
	}
	return celltest.Cell{Update: d.update, Lo: lo, Hi: hi, LeaveRoom: func(n int64) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.last = d.hi - n
		return nil
	}}
}

func (d *directory) update(ctx context.Context, fn func(cell.Store) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	puid, last := maps.Clone(d.puid), d.last
	if d.bug == "writers do not see each other" {
		d.puid = map[cell.Key]int64{}
		defer func() { maps.Copy(d.puid, puid) }()
	}
	err := fn((*store)(d))
	if err != nil && d.bug != "rollback keeps rows" {
		d.puid, d.last = puid, last
	}
	if d.bug == "error is swallowed" {
		return nil
	}
	return err
}

type store directory

func (s *store) Lookup(_ context.Context, keys []cell.Key) ([]int64, error) {
	puids := make([]int64, 0, len(keys))
	for _, k := range keys {
		puid, ok := s.puid[s.key(k)]
		if s.bug == "missing keys are left out" && !ok {
			continue
		}
		puids = append(puids, puid)
	}
	return puids, nil
}

// key forgets what a table with a wrong primary key would.
func (s *store) key(k cell.Key) cell.Key {
	switch s.bug {
	case "ring alone is the key":
		k.Digest = [16]byte{}
	case "digest alone is the key":
		k.Ring = 0
	}
	return k
}

func (s *store) Allocate(_ context.Context, keys []cell.Key) ([]cell.Allocation, error) {
	as := make([]cell.Allocation, 0, len(keys))
	fresh := map[cell.Key]bool{}
	before := maps.Clone(s.puid)
	for _, k := range keys {
		k = s.key(k)
		puid, ok := s.puid[k]
		if s.bug == "duplicates in a batch" {
			puid, ok = before[k]
		}
		if !ok || s.bug == "old keys get new puids" {
			if s.last == s.hi && s.bug != "range is left" {
				return nil, cell.ErrNoRoom
			}
			s.last++
			if s.bug == "puids fall" {
				s.last -= 3
			}
			puid = s.last
			s.puid[k], fresh[k] = puid, true
		}
		as = append(as, cell.Allocation{PUID: puid, Fresh: fresh[k] || s.bug == "all are fresh"})
	}
	if s.bug == "long batches are cut" && len(as) > 999 {
		as = as[:999]
	}
	if s.bug == "order is lost" && len(as) > 1 {
		as[0], as[1] = as[1], as[0]
	}
	return as, nil
}

func TestRun_PassesWithoutBug(t *testing.T) {
	t.Parallel()
	celltest.Run(t, func(t *testing.T) celltest.Cell { t.Helper(); return open(t, "") })
}

func TestRun_SkipsNoRoomByName(t *testing.T) {
	t.Parallel()
	c := open(t, "")
	c.LeaveRoom = nil
	if v := celltest.Cases.VerdictOf("NoRoom", c); v.Failed || !strings.Contains(v.Log, "LeaveRoom") {
		t.Errorf("NoRoom without LeaveRoom: %+v", v)
	}
}

// TestRun_FindsEveryBug plants one mistake after the other; each must be found by
// the case that is there for it.
func TestRun_FindsEveryBug(t *testing.T) {
	t.Parallel()
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
		},
		ByModel: []string{
			"missing keys are left out", "order is lost", "old keys get new puids", "all are fresh",
			"duplicates in a batch", "rollback keeps rows", "error is swallowed", "puid 0",
		},
		Tries: 1,
	})
}
