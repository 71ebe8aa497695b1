// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// A process without the lease puts its records, asks the lease holder to work off their redo entries, and
// waits. The lease stays with its holder, which has warm caches. A request names cells; the work is in
// their redo sets.

// elsewhere waits until this process has the lease (false) or another process has processed the redo sets of the cells
// (true).
func (r *Resolver) elsewhere(ctx context.Context, cells []cell.ID) (bool, error) {
	if r.holdsLease() {
		return false, r.acquireLease(ctx, leasePatience)
	}
	number, err := r.lease.Ask(ctx, r.opts.Cells.Map().Epoch(), namesOf(cells))
	if err != nil {
		return false, err
	}
	if number == 0 {
		return false, r.begin(ctx)
	}
	return r.await(ctx, number)
}

// await waits until request number is done, or this process has the lease.
func (r *Resolver) await(ctx context.Context, number int64) (bool, error) {
	give := time.NewTimer(leasePatience)
	defer give.Stop()
	begun := r.opts.Now()
	wait := min(max(r.usual/2, leasePoll), leasePollMost)
	for {
		if err := pause(ctx, wait, give.C); err != nil {
			return false, err
		}
		done, err := r.lease.Wait(ctx, r.opts.Cells.Map().Epoch(), number)
		waited := r.opts.Now().Sub(begun)
		switch {
		case err != nil:
			return false, err
		case done:
			r.usual = (3*r.usual + waited) / 4
			return true, nil
		case r.holdsLease():
			return false, r.begin(ctx)
		}
		wait = min(max(waited/16, leasePoll), leasePollMost)
	}
}

// leaveTo asks the lease holder to work off the redo sets of cells, without waiting.
func (r *Resolver) leaveTo(ctx context.Context, cells []cell.ID) {
	if _, err := r.lease.Ask(ctx, r.opts.Cells.Map().Epoch(), namesOf(cells)); err != nil {
		r.redoLog.markDirty() // Rest asks again
	}
}

// learn checks the results of work done by another process. It calls waits for entries that are still there
// and for those whose cells are down.
func (b *batch) learn(ctx context.Context, own []derived.Redo, cells []cell.ID, waits func(entity.PUID)) error {
	b.nodes = map[entity.PUID]*node{}
	b.markAll(ctx)
	if l := b.lease.Seen(); !l.Partly {
		return nil
	}
	entries, err := b.readRedo(ctx, cells)
	if err != nil {
		return err
	}
	left := map[entity.PUID]bool{}
	for _, e := range entries {
		left[e.PUID] = true
	}
	for _, e := range own {
		if home, err := b.home(e.PUID); err != nil || b.redoLog.isDown(home) || left[e.PUID] {
			waits(e.PUID)
		}
	}
	return nil
}

// markAll notes the log positions of all cells, if changes carry images, because another process has
// written there.
func (r *Resolver) markAll(ctx context.Context) {
	r.asks.Lock()
	counted := len(r.marks) > 0
	r.asks.Unlock()
	if !counted {
		return
	}
	_ = forCells(r.opts.Cells.Map().Cells(), func(id cell.ID) error {
		var at changelog.Bounds
		err := r.view(ctx, id, func(tx storage.Tx) (err error) {
			at, err = tx.Bounds(ctx)
			return err
		})
		if err == nil {
			r.noteMark(id, at.Last)
		}
		return err
	})
}

// listen polls in the background for requests of other processes: once, or until the returned function is
// called if a request arrived recently, so that few requests wait for the next batch.
func (r *Resolver) listen(ctx context.Context) (heard func()) {
	if r.lease == nil || !r.holdsLease() {
		return func() {}
	}
	stop, done := make(chan struct{}), make(chan struct{})
	lately := r.opts.Now().Sub(r.shared) < listenLately
	go func() {
		defer close(done)
		for {
			if _, _, err := r.lease.Look(ctx); err != nil || !lately {
				return // a request missed now is read the next time
			}
			if err := pause(ctx, leasePoll, nil); err != nil {
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	return func() {
		close(stop)
		<-done
	}
}

// listenLately is how long a process keeps polling after the last request of another process.
const listenLately = time.Second

func (r *Resolver) wanted() bool {
	_, number := r.requests()
	return number > 0
}

// requests returns the cells whose redo sets other processes want processed, and the number of the last request; 0 if
// there are none.
func (r *Resolver) requests() (cells []cell.ID, number int64) {
	if r.lease == nil {
		return nil, 0
	}
	l, held := r.lease.Held()
	if !held || l.Asked <= max(l.Done, r.finished.Load()) {
		return nil, 0
	}
	asks, all := l.Open()
	m := r.opts.Cells.Map()
	for _, names := range asks {
		for name := range strings.FieldsSeq(names) {
			id, err := cell.ParseID(name)
			if all = all || err != nil || !m.Has(id); !all {
				cells = append(cells, id)
			}
		}
	}
	if all {
		return m.Cells(), l.Asked
	}
	slices.SortFunc(cells, cell.ID.Compare)
	return slices.Compact(cells), l.Asked
}

func namesOf(cells []cell.ID) string {
	names := make([]string, len(cells))
	for i, id := range slices.SortedFunc(slices.Values(cells), cell.ID.Compare) {
		names[i] = id.String()
	}
	return strings.Join(names, " ")
}

// tell reports to other processes, in the background, that requests up to number are done.
func (r *Resolver) tell(ctx context.Context, number int64) {
	if number == 0 {
		return
	}
	partly := !r.clean()
	r.finished.Store(number)
	ctx = context.WithoutCancel(ctx)
	r.telling.Go(func() {
		if err := r.lease.Finish(ctx, number, partly); err != nil {
			r.finished.Store(0) // otherwise they would wait for ever
		}
	})
}

// slice is the number of redo entries processed at a time: large enough to share the cost of each write, small enough
// that other processes do not wait long and little is repeated if the lease is lost.
type slice struct {
	size int
	rate float64 // entries per second, the last time
}

const (
	sliceLeast = 16
	sliceFirst = 1000
	sliceMost  = maxGroup
	// sliceLong is the maximum intended duration of a slice; one shorter than sliceShort may grow.
	sliceLong, sliceShort = leaseTTL / 2, leaseTTL / 4
)

// took adjusts the size after n entries took d. A long slice is halved, unless halving has only lowered the
// rate: then the latency to the databases dominates, not the number of entries, and the size is doubled.
func (s *slice) took(n int, d time.Duration) {
	rate := float64(n) / max(d.Seconds(), math.SmallestNonzeroFloat32)
	switch long := d > sliceLong; {
	case long && cmp.Less(rate, 0.75*s.rate), d < sliceShort && n == s.size:
		s.size = min(2*s.size, sliceMost)
	case long:
		s.size = max(s.size/2, sliceLeast)
	}
	s.rate = rate
}

// lost halves the slice size after the lease was lost during a slice.
func (s *slice) lost() { s.size = max(s.size/2, sliceLeast) }
