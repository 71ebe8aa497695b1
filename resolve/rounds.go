// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/lease"
)

// write is a record that changed in this batch: what it was and what it is. Either may be nil.
type write struct {
	puid     entity.PUID
	old, new *node
	lost     []uint64 // features of former versions that the record carries no more
	back     bool     // the record had been deleted
	// Postings that the batch writes and removes, and those that the record has from then on.
	add, remove, posted []uint64
}

// fresh tells whether the record had no edges and no entity before the batch.
func (w *write) fresh() bool { return w.old == nil }

// batch is one Apply of ops with distinct keys.
type batch struct {
	*Resolver
	ops     []Op
	pass    []int // the positions in ops that this batch does
	results []Result
	tell    func(i int, r Result) // see Resolver.apply
	now     time.Time

	writes map[entity.PUID]*write
	nodes  map[entity.PUID]*node // every record that the batch looked at, as it is now
	redo   map[cell.ID][]Redo
	// leaders of the records that say the same as those of the batch.
	leaders leadership
	// decided is what people decided, and did not withdraw, about the records whose edges were read.
	decided map[entity.PUID][]entity.Decision
	cause   changelog.Cause // of what changes, "" if the writes are
	untold  bool            // cells may not have heard of the rules
	repair  bool            // the writes come from the redo set: what follows from them may be half done
}

func newBatch(r *Resolver, ops []Op, pass []int, results []Result) *batch {
	return &batch{
		Resolver: r, ops: ops, tell: func(int, Result) {}, pass: pass, results: results, now: r.opts.Now().UTC().Truncate(time.Millisecond),
		writes: make(map[entity.PUID]*write, len(pass)), nodes: make(map[entity.PUID]*node, 4*len(pass)),
		redo: map[cell.ID][]Redo{}, decided: map[entity.PUID][]entity.Decision{},
	}
}

// run does the three rounds. After the first, each record that it reports is durable; what the others
// could not do stands in the redo set.
func (b *batch) run(ctx context.Context, report *Batched) {
	if err := b.know(ctx); err != nil {
		b.refuse(b.pass, err)
		return
	}
	reign := b.reign
	heard := b.listen(ctx)
	begin := time.Now()
	b.put(ctx)
	heard()
	report.Put += time.Since(begin)
	if b.untold {
		_ = b.spread(ctx, b.opts.Cells.Map().Cells()) // or each when it refuses records
	}
	if len(b.writes) > 0 || b.lease != nil && b.held() && (b.due() || b.wanted()) {
		if err := b.settle(ctx, reign, report); err != nil {
			report.Err = errors.Join(report.Err, err)
			b.pend(func(entity.PUID) bool { return true })
		}
	}
	b.answer(ctx)
}

// settle has the second and the third round done: by another process if that has the lease, else by this one. It
// goes the short way if no other process has had the lease since before the first round, nothing is left undone and
// no other process asked for anything; else by way of the redo set.
func (b *batch) settle(ctx context.Context, reign int, report *Batched) error {
	var own []Redo
	var cells []cell.ID
	for id, entries := range b.redo {
		own, cells = append(own, entries...), append(cells, id)
	}
	slices.SortFunc(own, func(a, b Redo) int { return cmp.Compare(a.PUID, b.PUID) })
	for attempt := 0; ; attempt++ {
		done, err := b.elsewhere(ctx, cells)
		if err != nil {
			return err
		}
		if done {
			waits := map[entity.PUID]bool{}
			err := b.learn(ctx, own, cells, func(p entity.PUID) { waits[p] = true })
			b.pend(func(p entity.PUID) bool { return waits[p] })
			return err
		}
		if reign == b.reign && b.whole() && !b.due() && !b.wanted() {
			if err = b.rounds(ctx, report); err == nil {
				for id, entries := range b.redo {
					b.cleared[id] = append(b.cleared[id], entries...)
				}
				return nil
			}
		} else if err = b.work(ctx, own, "", leasePatience); err == nil {
			report.Err, b.trouble = errors.Join(report.Err, b.trouble), nil
			b.pend(func(p entity.PUID) bool { _, waits := b.blocked[p]; return waits })
			b.nodes = map[entity.PUID]*node{} // what worked them off has read them again
			return nil
		}
		report.Err = errors.Join(report.Err, err)
		short := reign == b.reign && b.whole()
		if mended := b.mend(ctx, err); mended != nil || ctx.Err() != nil {
			return errors.Join(err, mended)
		}
		lost := errors.Is(err, lease.ErrLost)
		if attempt == settleAttempts || !short && !lost && !outdated(err) {
			if lost {
				b.leaveTo(ctx, cells)
			}
			return err
		}
	}
}

// settleAttempts is how often a batch is begun again in which the lease was lost, or a cell refused.
const settleAttempts = 3

// rounds are the second and the third.
func (b *batch) rounds(ctx context.Context, report *Batched) error {
	begin := time.Now()
	met, err := b.post(ctx)
	if err != nil {
		return err
	}
	post := time.Now()
	report.Post += post.Sub(begin)
	if err := b.beat(ctx); err != nil {
		return err
	}
	if err := b.resolve(ctx, met); err != nil {
		return err
	}
	report.Resolve += time.Since(post)
	return nil
}

// pend marks the results of records for which something is left to do.
func (b *batch) pend(left func(entity.PUID) bool) {
	for _, i := range b.pass {
		res := &b.results[i]
		if res.Err == nil && b.writes[res.PUID] != nil && left(res.PUID) {
			res.Pending = true
		}
	}
}
