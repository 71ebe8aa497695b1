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
	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/resolve/derived"
)

// write is a record that changed in this batch, before and after. Either may be nil.
type write struct {
	puid     entity.PUID
	old, new *node
	lost     []uint64 // blocking keys of former versions that the record no longer carries
	back     bool     // the record had been deleted
	posted   []uint64 // the blocking keys that it is posted under after the batch
}

// fresh reports whether the record had no edges and no entity before the batch.
func (w *write) fresh() bool { return w.old == nil }

// batch is one Apply of ops with distinct keys.
type batch struct {
	*Resolver
	ops     []Op
	pass    []int // the positions in ops of this batch
	results []Result
	tell    func(i int, r Result) // see Resolver.apply
	now     time.Time

	writes map[entity.PUID]*write
	nodes  map[entity.PUID]*node // every record that the batch read, in its current version
	redo   map[cell.ID][]derived.Redo
	// blocks are the records of the blocking keys that were read, before the batch.
	blocks map[uint64]block
	// former are the entities that were read, before the batch, by anchor; nil if there is none.
	former map[entity.PUID]*entity.Entity
	// leaders are the leaders for the contents of the batch.
	leaders leadership
	// decided are the decisions, not withdrawn, about the records whose edges were read.
	decided map[entity.PUID][]entity.Decision
	cause   changelog.Cause // cause of the changes, "" to derive it from the writes
	untold  bool            // cells may have older rules
	repair  bool            // the writes come from the redo set: their consequences may be half done
	// peek reads for a hypothetical batch, which writes nothing; nil if the batch is real. See Match.
	peek *peek
}

func newBatch(r *Resolver, ops []Op, pass []int, results []Result) *batch {
	return &batch{
		Resolver: r, ops: ops, tell: func(int, Result) {}, pass: pass, results: results, now: r.opts.Now().UTC().Truncate(time.Millisecond),
		writes: make(map[entity.PUID]*write, len(pass)), nodes: make(map[entity.PUID]*node, 4*len(pass)),
		redo: map[cell.ID][]derived.Redo{}, decided: map[entity.PUID][]entity.Decision{},
		blocks: map[uint64]block{}, former: map[entity.PUID]*entity.Entity{},
	}
}

// load adds records to nodes.
func (b *batch) load(ctx context.Context, nodes map[entity.PUID]*node, puids []entity.PUID) error {
	if b.peek != nil {
		return b.peek.load(ctx, nodes, puids)
	}
	return b.Resolver.load(ctx, nodes, puids)
}

// entities reads the entities stored under these anchors; a missing one gets no entry.
func (b *batch) entities(ctx context.Context, anchors []entity.PUID) (map[entity.PUID]*entity.Entity, error) {
	if b.peek != nil {
		return b.peek.entitiesOf(ctx, anchors)
	}
	return b.entitiesOf(ctx, b.read, anchors)
}

// run runs the three rounds. After the first round every reported record is durable; what the other rounds could not do
// stays in the redo set.
func (b *batch) run(ctx context.Context, report *Batched) {
	err := b.ensureRules(ctx)
	if err == nil && b.Rules().Outdated() { // another process may have upgraded since
		err = b.reload(ctx)
	}
	if err == nil {
		err = b.Rules().outdated()
	}
	if err != nil {
		b.refuse(b.pass, err)
		return
	}
	reign := b.reign
	heard := b.listen(ctx)
	begin := time.Now()
	putting, round := span.Start(ctx, "put")
	b.put(putting)
	round.End(nil)
	heard()
	report.Put += time.Since(begin)
	if b.untold {
		_ = b.spread(ctx, b.opts.Cells.Map().Cells()) // a cell that is missed is updated when it refuses records
	}
	if b.holding {
		b.keepLease(ctx)
		b.pend(func(entity.PUID) bool { return true })
		b.redoLog.markDirty()
		return
	}
	if len(b.writes) > 0 || b.lease != nil && b.holdsLease() && (b.due() || b.wanted()) {
		if err := b.settle(ctx, reign, report); err != nil {
			report.Err = errors.Join(report.Err, err)
			b.pend(func(entity.PUID) bool { return true })
		}
	}
	b.answer(ctx)
}

// settle has the second and third round done, by the lease holder or by this process. It takes the direct
// path if no other process has had the lease since before the first round, nothing is left undone and there
// are no requests; otherwise it goes through the redo set.
func (b *batch) settle(ctx context.Context, reign int, report *Batched) error {
	var own []derived.Redo
	var cells []cell.ID
	for id, entries := range b.redo {
		own, cells = append(own, entries...), append(cells, id)
	}
	slices.SortFunc(own, func(a, b derived.Redo) int { return cmp.Compare(a.PUID, b.PUID) })
	for attempt := 0; ; attempt++ {
		if err := b.Rules().ready(); err != nil {
			b.redoLog.markDirty()
			return err
		}
		done, err := b.elsewhere(ctx, cells)
		if err == nil && !done {
			err = b.Rules().ready()
		}
		if err != nil {
			return err
		}
		if done {
			waits := map[entity.PUID]bool{}
			err := b.learn(ctx, own, cells, func(p entity.PUID) { waits[p] = true })
			b.pend(func(p entity.PUID) bool { return waits[p] })
			return err
		}
		if reign == b.reign && b.clean() && !b.due() && !b.wanted() {
			if err = b.rounds(ctx, report); err == nil {
				b.redoLog.finish(b.redo)
				return nil
			}
		} else if err = b.work(ctx, own, "", leasePatience); err == nil {
			report.Err = errors.Join(report.Err, b.redoLog.takeTrouble())
			b.pend(b.redoLog.isBlocked)
			b.nodes = map[entity.PUID]*node{} // the repair has read them again
			return nil
		}
		report.Err = errors.Join(report.Err, err)
		short := reign == b.reign && b.clean()
		if mended := b.recover(ctx, err); mended != nil || ctx.Err() != nil {
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

// settleAttempts is how often a batch is retried after a lost lease or a refusal by a cell.
const settleAttempts = 3

func (b *batch) rounds(ctx context.Context, report *Batched) error {
	begin := time.Now()
	posting, round := span.Start(ctx, "post")
	met, err := b.candidates(posting)
	round.End(err)
	if err != nil {
		return err
	}
	post := time.Now()
	report.Post += post.Sub(begin)
	if err := b.renew(ctx); err != nil {
		return err
	}
	clustering, round := span.Start(ctx, "resolve")
	err = b.cluster(clustering, met)
	round.End(err)
	if err != nil {
		return err
	}
	report.Resolve += time.Since(post)
	return nil
}

// pend marks the results of records with unfinished consequences.
func (b *batch) pend(left func(entity.PUID) bool) {
	for _, i := range b.pass {
		res := &b.results[i]
		if res.Err == nil && b.writes[res.PUID] != nil && left(res.PUID) {
			res.Pending = true
		}
	}
}
