// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

var errUnread = fmt.Errorf("%w: once", cell.ErrUnavailable)

// unreadCell fails some reading transactions, after a number of reads over all cells.
type unreadCell struct {
	storage.Cell
	left    *atomic.Int64
	moments int64
}

func (c unreadCell) once(read func() error) error {
	if left := c.left.Add(-1); left < 0 && left >= -c.moments {
		return errUnread
	}
	return read()
}

func (c unreadCell) View(ctx context.Context, fn func(storage.Tx) error) error {
	return c.once(func() error { return c.Cell.View(ctx, fn) })
}

func (c unreadCell) Read(ctx context.Context, fn func(storage.Tx) error) error {
	return c.once(func() error { return c.Cell.Read(ctx, fn) })
}

// A cell is unavailable for a moment at any point of a check: the check reports that, or retries and finds
// everything. It never takes unread rows for damage.
func TestP09_ACheckSaysWhatItCouldNotRead(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	in := open(t, t.TempDir(), nil)
	ops := world(5, 9)
	in.apply(t, ops)
	for i := 0; i < len(ops); i += 4 { // their ids redirect to others
		in.apply(t, []resolve.Op{{Ref: ops[i].Ref, Delete: true}})
	}
	if err := process(t, in.cells, "", nil).Drain(t.Context()); err != nil { // a check would wait for unfinished work
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 2))
	for _, d := range damages {
		if slices.Contains([]string{"a posting is gone", "an edge is gone", "a birth is gone", "a record is gone", "a key has another hash"}, d.name) {
			in.hurt(t, d, random)
		}
	}
	said := func(found []resolve.Difference) (all []string) {
		for _, d := range found {
			all = append(all, fmt.Sprint(d.What, " ", d.Cell, " ", d.ID))
		}
		slices.Sort(all)
		return all
	}
	want := said(in.differences(t, false))
	var left atomic.Int64
	check := func(from, moments int) ([]string, error) {
		left.Store(int64(from))
		var found []resolve.Difference
		err := process(t, in.cells, "", func(_ cell.ID, c storage.Cell) storage.Cell { return unreadCell{c, &left, int64(moments)} }).
			Check(t.Context(), resolve.Checking{Report: func(d resolve.Difference) error {
				found = append(found, d)
				return nil
			}})
		return said(found), err
	}
	if _, err := check(1<<30, 1); err != nil {
		t.Fatal(err)
	}
	reads, refused := 1<<30-int(left.Load()), 0
	for from := 0; from < reads; from++ {
		moments := 1
		stride := longtest.Sample(7, 20, 7, 1)
		if from >= reads-20 {
			moments, stride = 2, longtest.Sample(1, 3, 1, 1) // one page of the log is read a second time
		}
		if from%stride != 0 {
			continue
		}
		got, err := check(from, moments)
		if err != nil {
			refused++
		}
		if err == nil && !slices.Equal(got, want) || err != nil && !errors.Is(err, errUnread) {
			t.Errorf("%d reads from %d of %d on failed, and the check finds %d of %d differences: %v", moments, from, reads, len(got), len(want), err)
		}
		for _, d := range got {
			if !slices.Contains(want, d) {
				t.Errorf("%d reads from %d of %d on failed, and the check finds %s", moments, from, reads, d)
			}
		}
	}
	if refused == 0 || len(want) < 5 {
		t.Errorf("%d checks were refused, and %d differences are there to be found", refused, len(want))
	}
}
