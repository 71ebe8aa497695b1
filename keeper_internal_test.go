// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/locus-db/locus/backend/all"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
)

// Who began a growth may leave as soon as it is announced: the servers finish it.
func TestKeeper_FinishesAGrowth(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	cells, err := all.Open(t.Context(), t.TempDir(), &all.Options{Cells: 2, Rules: Rules, Notice: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ahead := func() time.Time { return time.Now().Add(time.Minute) }
	s, err := Open(t.Context(), cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.keeper.stop()
	s.follow.stop() // the clock is changed below
	begun, leave := context.WithCancel(t.Context())
	err = s.Grow(begun, cell.Growth{Cells: 4}, func(p cell.Progress) {
		if p.Step == cell.StepAnnounced {
			leave()
		}
	})
	if !errors.Is(err, context.Canceled) || s.Map().Generations() != 2 || s.Map().Current() != 0 {
		t.Fatalf("%v, map %d", err, s.Map().Epoch())
	}
	k := &keeper{Service: s}
	k.opts.Now = func() time.Time { return s.Map().Starts(1).Add(-time.Millisecond) }
	if k.tick(t.Context()); s.Map().Current() != 0 {
		t.Fatal("it takes keys before it has started")
	}
	k.opts.Now = ahead
	if k.tick(t.Context()); s.Map().Current() != 1 || k.failed {
		t.Fatalf("current generation %d, failed %t", s.Map().Current(), k.failed)
	}
	status, err := s.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range status.Cells {
		if old := c.Cell.Gen == 0; (c.Head.Keys == cell.Sealed) != old || c.Filter != old {
			t.Errorf("cell %v is %v, filter %t", c.Cell, c.Head.Keys, c.Filter)
		}
	}
}
