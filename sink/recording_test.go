// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/sinktest"
)

// trail is a target of changes. The runner calls it for several cells at once, but the world of the test is locked.
type trail struct {
	l   *locked
	got map[cell.ID][]changelog.Seq
}

func (r *trail) DeliverChanges(_ context.Context, changes []sink.Change) (int, error) {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	for _, c := range changes {
		r.got[c.Cell] = append(r.got[c.Cell], c.Seq)
	}
	return len(changes), nil
}

func (r *trail) Close() error { return nil }

// saves counts how often a position is written.
type saves struct {
	sinktest.Store
	n int
}

func (s *saves) Save(ctx context.Context, token int64, p sink.Progress) ([]sink.Request, error) {
	s.n++
	return s.Store.Save(ctx, token, p)
}

// A sink of changes writes its position once a second and when it ends, however many changes there are. The next owner
// continues after the last change.
func TestRunner_TrailSavesNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store, row := newLocked(10), &saves{}, &leases{}
		target := &trail{l, map[cell.ID][]changelog.Seq{}}
		at, err := sink.StartOfChanges(t.Context(), l, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Store.Save(t.Context(), 0, sink.Progress{Position: at}); err != nil {
			t.Fatal(err)
		}
		opts := options(l, nil, store, row.holder("a"))
		opts.OpenChanges = func(context.Context) (sink.ChangeSink, error) { return target, nil }
		for range 2 {
			store.n = 0
			stop := start(t, sink.New(opts))
			for range 100 {
				l.act(5)
				pass(100 * time.Millisecond)
			}
			pass(2 * time.Second)
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			if store.n > 15 {
				t.Errorf("the position was written %d times in 12 s", store.n)
			}
			opts.Lease = row.holder("b")
		}
		tail, err := l.Tail(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for id, got := range target.got {
			next := at.Cells[id].At + 1
			for _, seq := range got {
				if seq != next {
					t.Fatalf("cell %v: change %d came in place of %d", id, seq, next)
				}
				next++
			}
			if next != tail[id]+1 {
				t.Errorf("cell %v: the last change is %d of %d", id, next-1, tail[id])
			}
		}
	})
}
