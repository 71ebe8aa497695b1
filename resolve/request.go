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
)

// A process without the lease puts, asks the process that has it to work off what it put, and waits: the lease
// stays where it is, with all that is remembered there. What it asks for are cells, whose redo sets have the work.

// elsewhere sees to it that this process has the lease, or that another one has worked off what stands in the
// redo sets of cells, and reports whether the latter is so. The error says why it is neither.
func (r *Resolver) elsewhere(ctx context.Context, cells []cell.ID) (bool, error) {
	if r.held() {
		return false, r.hold(ctx, leasePatience)
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

// await waits until what was asked for under a number is done, or this process has the lease.
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
		case r.held():
			return false, r.begin(ctx)
		}
		wait = min(max(waited/16, leasePoll), leasePollMost)
	}
}

// leaveTo asks the process that has the lease to work off the redo sets of cells, and does not wait for that.
func (r *Resolver) leaveTo(ctx context.Context, cells []cell.ID) {
	if _, err := r.lease.Ask(ctx, r.opts.Cells.Map().Epoch(), namesOf(cells)); err != nil {
		r.dirty = true // Rest asks again
	}
}

// learn finds out what became of entries that another process has worked off: those of which something is left, or
// whose cells do not say, are handed to waits.
func (b *batch) learn(ctx context.Context, own []Redo, cells []cell.ID, waits func(entity.PUID)) error {
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
		if home, err := b.home(e.PUID); err != nil || b.isDown(home) || left[e.PUID] {
			waits(e.PUID)
		}
	}
	return nil
}

// markAll notes where the logs of all cells end, if anything counts by them: another process has written there.
func (r *Resolver) markAll(ctx context.Context) {
	r.asks.Lock()
	counted := len(r.marks) > 0
	r.asks.Unlock()
	if !counted {
		return
	}
	all := map[cell.ID]struct{}{}
	for _, id := range r.opts.Cells.Map().Cells() {
		all[id] = struct{}{}
	}
	_ = eachCell(all, func(id cell.ID, _ struct{}) error {
		var at changelog.Bounds
		err := r.view(ctx, id, func(tx Tx) (err error) {
			at, err = tx.Bounds(ctx)
			return err
		})
		if err == nil {
			r.noteMark(id, at.Last)
		}
		return err
	})
}

// listen reads, beside what the caller does, what other processes ask for: once, and until the function that it
// returns is called if they have asked lately, so that little waits for the next batch.
func (r *Resolver) listen(ctx context.Context) (heard func()) {
	if r.lease == nil || !r.held() {
		return func() {}
	}
	stop, done := make(chan struct{}), make(chan struct{})
	lately := r.opts.Now().Sub(r.shared) < listenLately
	go func() {
		defer close(done)
		for {
			if _, _, err := r.lease.Look(ctx); err != nil || !lately {
				return // what is not heard now is heard the next time
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

// listenLately is for how long a process goes on listening after others have asked for something.
const listenLately = time.Second

// wanted reports whether other processes have asked for something that is not done.
func (r *Resolver) wanted() bool {
	_, number := r.requests()
	return number > 0
}

// requests are the cells whose redo sets other processes want worked off, as far as is known, and the number up
// to which that is all they want; 0 if they want nothing.
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

// namesOf writes cells as one asks for them.
func namesOf(cells []cell.ID) string {
	names := make([]string, len(cells))
	for i, id := range slices.SortedFunc(slices.Values(cells), cell.ID.Compare) {
		names[i] = id.String()
	}
	return strings.Join(names, " ")
}

// tell tells the processes that asked for something that it is done, beside what the caller does next.
func (r *Resolver) tell(ctx context.Context, number int64) {
	if number == 0 {
		return
	}
	partly := !r.whole()
	r.finished.Store(number)
	ctx = context.WithoutCancel(ctx)
	r.telling.Go(func() {
		if err := r.lease.Finish(ctx, number, partly); err != nil {
			r.finished.Store(0) // or they would wait for ever
		}
	})
}

// slice is how many entries are worked off at once: so many that what each takes together is shared by many, so few
// that others need not wait for long and little is done twice when the lease is lost.
type slice struct {
	size int
	rate float64 // entries a second, the last time
}

const (
	sliceLeast = 16
	sliceFirst = 1000
	sliceMost  = maxGroup
	// sliceLong is what a slice should not take, sliceShort what one may take that should have been larger.
	sliceLong, sliceShort = leaseTTL / 2, leaseTTL / 4
)

// took notes how long n entries took. A slice that is long is halved, unless the last one was long too and that
// has only made it slower: then it is the distance to the databases that takes the time, and not the entries.
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

// lost makes slices shorter after the lease was lost in one.
func (s *slice) lost() { s.size = max(s.size/2, sliceLeast) }
