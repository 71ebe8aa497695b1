// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"time"
)

// window holds the batches of a file that are in flight. The server resolves waiting batches as a group, and a large
// group costs less per row. So the window grows as long as the server keeps up: at most to the server's maximum group,
// and to the rows that it processes in two seconds, because the writes of other clients wait behind the group.
type window struct {
	room, most int           // batches that may be under way, and the highest number of them
	flying     []*batch      // oldest first
	landed     chan struct{} // has a signal after a batch is done
}

const (
	underWayFirst, underWayLeast = 4, 2
	underWayMost                 = 16
	// groupRows is how many rows a server resolves together, and loadRows how many are put together before a load.
	groupRows, loadRows = 8000, 64_000
	loadMost            = 8 * underWayMost
	// longUnderWay is how long the rows under way may take.
	longUnderWay = 2 * time.Second
)

// newWindow returns an empty window for batches of a number of rows. loads says that they are not resolved yet.
func newWindow(rows int, loads bool) *window {
	most := min(max(groupRows/rows, underWayFirst), underWayMost)
	if loads {
		most = min(max(loadRows/rows, most), loadMost)
	}
	return &window{room: underWayFirst, most: most, landed: make(chan struct{}, 1)}
}

// enter waits until a batch may be sent: until there is room, and no earlier batch has one of its keys.
func (w *window) enter(ctx context.Context, b *batch) error {
	for _, earlier := range w.flying {
		if b.sharesKey(earlier) {
			<-earlier.done
		}
	}
	for w.land(); len(w.flying) >= w.room; w.land() {
		select {
		case <-w.landed: // any batch: a slow one does not block the others
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	w.flying = append(w.flying, b)
	return nil
}

// send sends a batch and signals that it is done.
func (w *window) send(b *batch, ctx, interrupt context.Context, cl *client) {
	b.send(ctx, interrupt, cl)
	select {
	case w.landed <- struct{}{}:
	default: // the signal of another one is not taken yet
	}
}

// land removes the batches that are done.
func (w *window) land() {
	all, kept := len(w.flying), w.flying[:0]
	for _, b := range w.flying {
		select {
		case <-b.done:
			w.learn(b, all)
		default:
			kept = append(kept, b)
		}
	}
	clear(w.flying[len(kept):])
	w.flying = kept
}

// learn adapts the room to the time that a batch took while all batches were under way. If it was in time, there is
// room for one more; if not, for as many as would have been in time.
func (w *window) learn(b *batch, all int) {
	if len(b.items) == 0 {
		return
	}
	inTime := int(int64(all) * int64(longUnderWay) / int64(max(b.took, time.Millisecond)))
	switch {
	case b.took > longUnderWay:
		w.room = max(min(inTime, w.room), underWayLeast)
	case inTime > w.room:
		w.room = min(w.room+1, w.most)
	}
}
