// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/bulk"
)

// TestWindow_FollowsTheServer sends batches to servers of several speeds, each of which answers all that wait at once.
func TestWindow_FollowsTheServer(t *testing.T) {
	t.Parallel()
	send := func(w *window) {
		b := newBatch()
		b.add(&bulk.Row{Key: "a"})
		b.keys = map[entity.Ref]struct{}{} // otherwise they would wait for each other
		if err := w.enter(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	answer := func(w *window, rows, perSecond int) {
		took := time.Duration(len(w.flying)*rows) * time.Second / time.Duration(perSecond)
		for _, b := range w.flying {
			b.took = took
			close(b.done)
		}
		w.land()
	}
	for _, c := range []struct {
		rows, perSecond, atLeast, atMost int
		loads                            bool
	}{
		{500, 100_000, 16, 16, false}, // a whole group
		{1000, 100_000, 8, 8, false},
		{1, 100_000, 16, 16, false},
		{500, 3000, 11, 12, false}, // two seconds
		{500, 700, 2, 3, false},
		{500, 100, 2, 2, false}, // the server must not wait for the client
		{500, 100_000, 128, 128, true},
		{1000, 100_000, 64, 64, true},
		{1, 100_000, 128, 128, true},
	} {
		w := newWindow(c.rows, c.loads)
		if w.room != 4 {
			t.Errorf("it begins with %d", w.room)
		}
		// After a pause of the server, the same is reached again.
		for _, now := range []int{c.perSecond, 20, c.perSecond} {
			for range 60 {
				for len(w.flying) < w.room {
					send(w)
				}
				answer(w, c.rows, now)
			}
			if now == c.perSecond && (w.room < c.atLeast || w.room > c.atMost) {
				t.Errorf("%d batches of %d rows at %d rows a second, want %d to %d", w.room, c.rows, c.perSecond,
					c.atLeast, c.atMost)
			}
		}
	}
}
