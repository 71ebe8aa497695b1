// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage"
)

// The process that began a growth may end as soon as it is announced: other processes finish it.
func TestKeeper_FinishesAGrowth(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	cells, err := storage.Open(t.Context(), t.TempDir(), &storage.Options{Cells: 2, Notice: time.Second, Scratch: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := locus.OpenCells(t.Context(), cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	begun, leave := context.WithCancel(t.Context())
	err = s.Cells().Grow(begun, cell.Growth{Cells: 4}, func(p cell.Progress) {
		if p.Step == cell.StepAnnounced {
			leave()
		}
	})
	if !errors.Is(err, context.Canceled) || s.Cells().Map().Generations() != 2 {
		t.Fatalf("%v, map %d", err, s.Cells().Map().Epoch())
	}
	var left string // the unfinished work
	for late := time.Now().Add(patience(t)); ; {
		m := s.Cells().Map()
		if now := time.Now(); m.Current() != 0 && now.Before(m.Starts(1)) {
			t.Fatal("it takes keys before it has started")
		}
		status, err := s.Cells().Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if left = ""; m.Current() != 1 {
			left = "the new generation takes no keys"
		}
		for _, c := range status.Cells {
			if old := c.Cell.Gen == 0; (c.Head.Keys == cell.Sealed) != old || c.Filter != old {
				left += " cell " + c.Cell.String() + " is " + c.Head.Keys.String()
			}
		}
		if left == "" {
			return
		}
		if time.Now().After(late) {
			t.Fatal(left)
		}
		engine.Sleep(t.Context(), pace, nil)
	}
}
