// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// The process that began a growth may end as soon as it is announced: other processes finish it.
func TestKeeper_FinishesAGrowth(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	cells, err := storage.Open(t.Context(), t.TempDir(), &storage.Options{Cells: 2, Notice: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ahead := func() time.Time { return time.Now().Add(time.Minute) }
	s, err := OpenCells(t.Context(), cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.maintainer.Stop()
	s.rollups.Close() // the clock changes below
	begun, leave := context.WithCancel(t.Context())
	err = s.Cells().Grow(begun, cell.Growth{Cells: 4}, func(p cell.Progress) {
		if p.Step == cell.StepAnnounced {
			leave()
		}
	})
	if !errors.Is(err, context.Canceled) || s.Cells().Map().Generations() != 2 || s.Cells().Map().Current() != 0 {
		t.Fatalf("%v, map %d", err, s.Cells().Map().Epoch())
	}
	k := s.engine.NewMaintainer()
	s.engine.Now = func() time.Time { return s.Cells().Map().Starts(1).Add(-time.Millisecond) }
	if k.Tick(t.Context()); s.Cells().Map().Current() != 0 {
		t.Fatal("it takes keys before it has started")
	}
	s.engine.Now = ahead
	if k.Tick(t.Context()); s.Cells().Map().Current() != 1 || k.Failed() {
		t.Fatalf("current generation %d, failed %t", s.Cells().Map().Current(), k.Failed())
	}
	status, err := s.Cells().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range status.Cells {
		if old := c.Cell.Gen == 0; (c.Head.Keys == cell.Sealed) != old || c.Filter != old {
			t.Errorf("cell %v is %v, filter %t", c.Cell, c.Head.Keys, c.Filter)
		}
	}
}
