// SPDX-License-Identifier: Apache-2.0

package perdocumenttest

import (
	"context"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance/countertest"
	"github.com/locus-db/locus/internal/perdocument"
)

// A day in 2026, and its noon.
const (
	day  = 20_594
	noon = counter.Minute(day*1440 + 720)
)

func theDay(id counter.ID) counter.BucketKey { return counter.NewBucketKey(day, id) }

func tallyOf(ids ...counter.ID) (tallies []counter.Tally) {
	for _, id := range ids {
		tallies = append(tallies, counter.Tally{ID: id, Minute: noon, N: 1})
	}
	return tallies
}

// count counts a hit of the first metric.
func count(ctx context.Context, s perdocument.Store) error { return addTallies(ctx, s, 1) }

func addTallies(ctx context.Context, s perdocument.Store, ids ...counter.ID) error {
	_, err := s.AddTallies(ctx, tallyOf(ids...))
	return err
}

func compact(ctx context.Context, s perdocument.Store) error { return countertest.CompactFirst(ctx, s) }

// total returns the total of a metric's day, open and closed.
func total(t tester, c Cell, id counter.ID) int64 {
	t.Helper()
	n := compacted(t, c, theDay(id)).N
	if open := buckets(t, c, counter.Days, theDay(id))[0]; open != nil {
		n += open[counter.DayTotal]
	}
	return n
}

// between runs an update and, when it has first run and before it commits, another one. It returns how often the
// first one ran.
func between(c Cell, fn, other func(context.Context, perdocument.Store) error) (runs int, _ error) {
	ctx := context.Background()
	err := c.Update(ctx, func(s perdocument.Store) error {
		err := fn(ctx, s)
		if runs++; err == nil && runs == 1 {
			err = c.Update(ctx, func(s perdocument.Store) error { return other(ctx, s) })
		}
		return err
	})
	return runs, err
}

// begunAnew fails unless an update is retried because of another one's write.
func begunAnew(t tester, c Cell, fn, other func(context.Context, perdocument.Store) error) {
	t.Helper()
	if runs, err := between(c, fn, other); err != nil || runs != 2 {
		t.Fatalf("an update of what another process wrote during it ran %d times, want 2: %v", runs, err)
	}
}
