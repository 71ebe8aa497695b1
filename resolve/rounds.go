// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
)

// write is a record that changed in this batch: what it was and what it is. Either may be nil.
type write struct {
	puid     entity.PUID
	old, new *node
	lost     []uint64 // features of former versions that the record carries no more
	back     bool     // the record had been deleted
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
	// decided is what people decided, and did not withdraw, about the records whose edges were read.
	decided map[entity.PUID][]entity.Decision
	cause   changelog.Cause // of what changes, "" if the writes are
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
	held := b.held()
	if !held {
		b.cache.clear() // others may have written since
	}
	if err := b.know(ctx); err != nil {
		b.refuse(b.pass, err)
		return
	}
	begin := time.Now()
	b.put(ctx)
	report.Put += time.Since(begin)
	if len(b.writes) > 0 {
		if err := b.settle(ctx, held, report); err != nil {
			report.Err = errors.Join(report.Err, err)
			b.pend(func(entity.PUID) bool { return true })
		}
	}
	b.answer(ctx)
}

// settle does the second and the third round, by the short way if this process has had the lease since
// before the first one and nothing is left undone, else by way of the redo set.
func (b *batch) settle(ctx context.Context, held bool, report *Batched) error {
	if err := b.hold(ctx, leasePatience); err != nil {
		return err
	}
	if held && b.whole() {
		err := b.rounds(ctx, report)
		if err == nil {
			for id, entries := range b.redo {
				b.cleared[id] = append(b.cleared[id], entries...)
			}
			return nil
		}
		report.Err = errors.Join(report.Err, err)
		if err := b.mend(ctx, err); err != nil {
			return err
		}
	}
	own := map[entity.PUID]int64{}
	for _, entries := range b.redo {
		for _, e := range entries {
			own[e.PUID] = e.Version
		}
	}
	worked, err := b.drain(ctx, own)
	if err != nil {
		return err
	}
	var left []Redo
	for _, entries := range b.redo {
		for _, e := range entries {
			if _, waits := b.blocked[e.PUID]; !waits && worked[e.PUID] < e.Version {
				left = append(left, e)
			}
		}
	}
	if err := b.redoAll(ctx, left, ""); err != nil {
		return err
	}
	report.Err, b.trouble = errors.Join(report.Err, b.trouble), nil
	b.pend(func(p entity.PUID) bool { _, waits := b.blocked[p]; return waits })
	b.nodes = map[entity.PUID]*node{} // whoever worked them off has read them anew
	return nil
}

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
