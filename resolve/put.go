// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/mutant"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
)

// write is a record that changed in this batch: what it was and what it is. Either may be nil.
type write struct {
	puid     entity.PUID
	old, new *node
	lost     []uint64 // features of former versions that the record carries no more
}

// fresh tells whether the record had no edges and no entity before the batch.
func (w *write) fresh() bool { return w.old == nil }

// batch is one Apply of ops with distinct keys.
type batch struct {
	*Resolver
	ops     []Op
	pass    []int // the positions in ops that this batch does
	results []Result
	now     time.Time

	writes map[entity.PUID]*write
	nodes  map[entity.PUID]*node // every record that the batch looked at, as it is now
	redo   map[cell.ID][]Redo
	repair bool // the writes come from the redo set: what follows from them may be half done
}

func newBatch(r *Resolver, ops []Op, pass []int, results []Result) *batch {
	return &batch{
		Resolver: r, ops: ops, pass: pass, results: results, now: r.opts.Now().UTC().Truncate(time.Millisecond),
		writes: make(map[entity.PUID]*write, len(pass)), nodes: make(map[entity.PUID]*node, 4*len(pass)),
		redo: map[cell.ID][]Redo{},
	}
}

// run does the three rounds. After the first, each record that it reports is durable; what the others
// could not do stands in the redo set.
func (b *batch) run(ctx context.Context, report *Batched) {
	held := b.held()
	if !held {
		b.cache.clear() // others may have written since
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
	worked, err := b.drain(ctx)
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
	if err := b.redoAll(ctx, left); err != nil {
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

// maxAttempts is how often a round begins again because the cells have changed under it.
const maxAttempts = 50

// put is the first round: key, puid, record, birth id, change and redo entry in one transaction of
// the record's home cell. A cell that fails fails its own records only.
func (b *batch) put(ctx context.Context) {
	todo := b.pass
	for attempt := 0; ; attempt++ {
		again, why := b.putOnce(ctx, todo)
		if len(again) == 0 {
			return
		}
		err := b.pause(ctx, attempt)
		if err == nil {
			err = b.refresh(ctx, why)
		}
		if err != nil || attempt == maxAttempts {
			b.refuse(again, fmt.Errorf("%w: %w", ErrUnavailable, errors.Join(why, err)))
			return
		}
		todo = again
	}
}

// pause lets a cell move: the first attempts follow at once.
func (b *batch) pause(ctx context.Context, attempt int) error {
	if attempt < 3 {
		return ctx.Err()
	}
	t := time.NewTimer(min(time.Millisecond<<(attempt-3), 100*time.Millisecond))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// refuse fails ops of which nothing was written.
func (b *batch) refuse(group []int, err error) {
	for _, i := range group {
		b.results[i] = Result{Err: err}
	}
}

// target is where an op is done: the cell of its record, whose puid is 0 while the key has none.
type target struct {
	key  cell.Key
	cell cell.ID
	puid entity.PUID
	// sure tells that the puid was not remembered: a cell said so just now.
	sure bool
}

// putOnce does the first round for ops, and answers with those for which the cell map was too old, and
// why.
func (b *batch) putOnce(ctx context.Context, todo []int) (again []int, why error) {
	targets, err := b.find(ctx, todo)
	if err != nil {
		b.refuse(todo, err)
		return nil, nil
	}
	groups := map[cell.ID][]int{}
	for _, i := range todo {
		if t, ok := targets[i]; ok {
			groups[t.cell] = append(groups[t.cell], i)
		}
	}
	successors, err := b.successors(ctx, targets)
	if err != nil {
		b.refuse(todo, err)
		return nil, nil
	}
	var mu sync.Mutex
	for len(groups) > 0 {
		var written []cell.ID
		elsewhere := map[int]entity.PUID{}
		var vanished []int
		_ = eachCell(groups, func(id cell.ID, group []int) error {
			p, err := b.putCell(ctx, id, group, targets, successors)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				b.took(id, p)
				written = append(written, id)
				maps.Copy(elsewhere, p.elsewhere)
				vanished = append(vanished, p.vanished...)
			case outdated(err):
				again, why = append(again, group...), err
			default:
				if errors.Is(err, ErrUnknownOutcome) {
					b.dirty = true
				}
				b.refuse(group, fmt.Errorf("cell %v: %w", id, b.asked(id, err)))
			}
			return nil
		})
		for _, id := range written {
			delete(b.cleared, id)
		}
		clear(groups)
		for i, puid := range elsewhere {
			home, err := b.home(puid)
			if err != nil {
				again, why = append(again, i), err
				continue
			}
			t := targets[i]
			b.dir.Know(t.key, int64(puid))
			targets[i] = target{key: t.key, cell: home, puid: puid, sure: true}
			groups[home] = append(groups[home], i)
		}
		for i, t := range b.findAgain(ctx, vanished, targets) {
			targets[i] = t
			groups[t.cell] = append(groups[t.cell], i)
		}
		for _, group := range groups {
			slices.Sort(group)
		}
	}
	return again, why
}

// putCell is the first round in one cell.
func (b *batch) putCell(ctx context.Context, id cell.ID, group []int, targets map[int]target, successors map[entity.PUID]locality.ID) (*putter, error) {
	c, err := b.opts.Cells.Cell(id)
	if err != nil {
		return nil, err
	}
	norms := b.normalise(group)
	var p *putter
	err = c.Update(ctx, func(tx Tx) error {
		p = &putter{batch: b, id: id, group: group, targets: targets, successors: successors, norms: norms} // anew if it runs again
		return p.run(ctx, tx)
	})
	return p, err
}

// took notes what the first round wrote in a cell.
func (b *batch) took(id cell.ID, p *putter) {
	b.redo[id] = append(b.redo[id], p.entered...)
	for i, w := range p.writes {
		w.lost = p.entered[i].Lost
		b.writes[w.puid] = w
		n := w.new
		if n == nil {
			n = &node{Record: p.records[i]}
		}
		b.nodes[w.puid] = n
		b.cache.put(n)
	}
	for _, n := range p.unchanged {
		b.nodes[n.PUID] = n
		b.cache.put(n)
	}
}

// find asks the directory of keys where each op is done. An op whose cells cannot be asked is refused, and
// so is the deletion of a key that was never put.
func (b *batch) find(ctx context.Context, todo []int) (map[int]target, error) {
	targets := make(map[int]target, len(todo))
	var puts, deletes []int
	var putKeys, deleteKeys []cell.Key
	m := b.opts.Cells.Map()
	for _, i := range todo {
		k := m.KeyOf(b.ops[i].Source, b.ops[i].Key)
		if b.ops[i].Delete {
			deletes, deleteKeys = append(deletes, i), append(deleteKeys, k)
		} else {
			puts, putKeys = append(puts, i), append(putKeys, k)
		}
	}
	if len(puts) > 0 {
		found, err := b.dir.Find(ctx, putKeys)
		if err != nil {
			return nil, fmt.Errorf("find keys: %w", err)
		}
		for n, f := range found {
			if f.Err != nil {
				b.refuse([]int{puts[n]}, f.Err)
				continue
			}
			targets[puts[n]] = target{key: putKeys[n], cell: f.Cell, puid: entity.PUID(f.PUID)}
		}
	}
	if len(deletes) > 0 {
		for n, f := range b.lookup(ctx, deleteKeys) {
			switch {
			case f.Err != nil:
				b.refuse([]int{deletes[n]}, f.Err)
			case f.PUID == cell.Nothing:
				b.refuse([]int{deletes[n]}, entity.ErrNotFound)
			default:
				targets[deletes[n]] = target{key: deleteKeys[n], cell: f.Cell, puid: entity.PUID(f.PUID)}
			}
		}
	}
	return targets, nil
}

// findAgain is find for ops whose puids were remembered, and whose records are not there: their cell came
// back from a backup, or a replica, which does not know of them. Nor is anything else that is remembered to
// be trusted.
func (b *batch) findAgain(ctx context.Context, ops []int, targets map[int]target) map[int]target {
	if len(ops) == 0 {
		return nil
	}
	for _, i := range ops {
		b.dir.Forget(targets[i].key)
	}
	b.doubt()
	found, err := b.find(ctx, ops)
	if err != nil {
		b.refuse(ops, err)
	}
	for i, t := range found {
		t.sure = true
		found[i] = t
	}
	return found
}

// lookup answers with the puids of keys to be deleted. A cell that cannot be asked fails its own keys only.
func (b *batch) lookup(ctx context.Context, keys []cell.Key) []cell.Found {
	found := make([]cell.Found, len(keys))
	puids, err := b.dir.Lookup(ctx, keys)
	if err != nil && len(keys) > 1 {
		for i := range keys {
			found[i] = b.lookup(ctx, keys[i:i+1])[0]
		}
		return found
	}
	for i := range found {
		if found[i].Err = err; err == nil && puids[i] != cell.Nothing {
			found[i].PUID = puids[i]
			found[i].Cell, found[i].Err = b.home(entity.PUID(puids[i]))
		}
	}
	return found
}

// normalise reads the records to be put, before the transaction begins.
func (b *batch) normalise(group []int) map[int]*match.Record {
	norms := make(map[int]*match.Record, len(group))
	for _, i := range group {
		if op := &b.ops[i]; !op.Delete {
			norms[i] = b.opts.Matcher.Normalise(op.Source, op.Key, match.Attributes(op.Attributes))
		}
	}
	return norms
}

// putter is the first round in one cell.
type putter struct {
	*batch
	id         cell.ID
	group      []int
	targets    map[int]target
	successors map[entity.PUID]locality.ID
	norms      map[int]*match.Record

	// elsewhere are the ops whose keys have puids of other cells: compaction copied them here, and the
	// records stay where they are. Nothing is done with these ops.
	elsewhere map[int]entity.PUID
	// vanished are the ops whose puids were remembered, and have no record. Nothing is done with these either.
	vanished  []int
	unchanged []*node // what is stored already: whoever asks for it later need not read it again
	writes    []*write
	records   []*entity.Record // of the writes, in their order
	entered   []Redo           // their entries in the redo set
	births    []entity.Birth
	changes   []changelog.Change
	counts    entity.Counts
}

func (p *putter) run(ctx context.Context, tx Tx) error {
	puids, err := p.allocate(ctx, tx)
	if err != nil {
		return err
	}
	p.group = slices.DeleteFunc(slices.Clone(p.group), func(i int) bool { return p.elsewhere[i] != 0 })
	known := make([]entity.PUID, len(p.group))
	for n, i := range p.group {
		known[n] = puids[i]
	}
	stored := make(map[entity.PUID]*entity.Record, len(known))
	records, err := tx.Records(ctx, known)
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	for i, rec := range records {
		stored[known[i]] = rec
	}
	for _, i := range p.group {
		if t := p.targets[i]; stored[puids[i]] == nil && t.puid != 0 && !t.sure && !p.ops[i].Delete && !mutant.On("P7f") {
			p.vanished = append(p.vanished, i)
			continue
		}
		if err := p.decide(i, puids[i], stored[puids[i]]); err != nil {
			return err
		}
	}
	return p.store(ctx, tx)
}

// allocate answers with the puids of the group. Keys that have none get the cell's next ones, if it takes
// keys.
func (p *putter) allocate(ctx context.Context, tx Tx) (map[int]entity.PUID, error) {
	puids := make(map[int]entity.PUID, len(p.group))
	var fresh []int
	var keys []cell.Key
	for _, i := range p.group {
		t := p.targets[i]
		puids[i] = t.puid
		if t.puid == 0 {
			fresh, keys = append(fresh, i), append(keys, t.key)
		}
	}
	if len(fresh) == 0 {
		return puids, nil
	}
	if err := p.dir.Gate(ctx, tx, p.opts.Cells.Map(), p.id); err != nil {
		return nil, err
	}
	allocated, err := tx.Allocate(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("allocate puids: %w", err)
	}
	p.elsewhere = map[int]entity.PUID{}
	for n, i := range fresh {
		puids[i] = entity.PUID(allocated[n].PUID)
		if home, err := p.home(puids[i]); (err != nil || home != p.id) && !mutant.On("P8f") {
			p.elsewhere[i] = puids[i]
		}
	}
	return puids, nil
}

// decide says what one op does to the record that is stored, if any.
func (p *putter) decide(i int, puid entity.PUID, stored *entity.Record) error {
	op := &p.ops[i]
	live := stored != nil && !stored.Deleted()
	if op.Delete {
		if !live {
			p.results[i] = Result{Err: entity.ErrNotFound}
			return nil
		}
		p.delete(i, stored)
		return nil
	}
	rec := &entity.Record{PUID: puid, Ref: op.Ref, Version: 1, Anchor: puid, Observed: op.Observed, Attributes: op.Attributes}
	if rec.Observed.IsZero() {
		rec.Observed = p.now
	}
	if !live {
		birth, err := p.opts.Mint(op.Ref, p.opts.Cells.Map().Segment(p.id, p.targets[i].key.Position()))
		if err != nil {
			return fmt.Errorf("mint a birth id: %w", err)
		}
		rec.Birth = birth
		if stored != nil {
			rec.Version = stored.Version + 1
		}
		p.births = append(p.births, entity.Birth{ID: birth, PUID: puid})
		p.counts.Records++
		p.results[i] = Result{PUID: puid, Version: rec.Version, Entity: rec.Birth, Outcome: Founded}
		p.put(&write{puid: puid, new: &node{Record: rec, norm: p.norms[i]}}, rec)
		return nil
	}
	p.results[i] = Result{PUID: puid, Version: stored.Version, Entity: stored.Birth}
	same := maps.EqualFunc(op.Attributes, stored.Attributes, slices.Equal)
	switch {
	case !op.Observed.IsZero() && op.Observed.Before(stored.Observed):
		p.results[i].Outcome = Stale
	case same && (op.Observed.IsZero() || op.Observed.Equal(stored.Observed)):
		p.results[i].Outcome = Unchanged
		p.unchanged = append(p.unchanged, &node{Record: stored, norm: p.norms[i]})
	default:
		rec.Version, rec.Birth, rec.Anchor = stored.Version+1, stored.Birth, stored.Anchor
		p.results[i].Version, p.results[i].Outcome = rec.Version, Updated
		p.put(&write{puid: puid, old: p.node(stored), new: &node{Record: rec, norm: p.norms[i]}}, rec)
	}
	return nil
}

func (p *putter) put(w *write, rec *entity.Record) {
	p.add(w, rec, changelog.Change{Kind: changelog.Put, Entity: rec.Birth, After: versionOf(w.new)})
}

func (p *putter) delete(i int, stored *entity.Record) {
	tombstone := &entity.Record{PUID: stored.PUID, Version: stored.Version + 1, Anchor: stored.Anchor}
	p.add(&write{puid: stored.PUID, old: p.node(stored)}, tombstone, changelog.Change{Kind: changelog.Deleted, Entity: stored.Birth})
	p.births = append(p.births, entity.Birth{ID: stored.Birth, Successor: p.successors[stored.PUID]})
	p.counts.Records--
	p.results[i] = Result{PUID: stored.PUID, Version: tombstone.Version, Entity: stored.Birth}
}

// add notes a write, the record that it stores, and the change that tells of it.
func (p *putter) add(w *write, rec *entity.Record, c changelog.Change) {
	w.lost = lostFeatures(w.old, w.new)
	c.Time, c.Before = p.now, versionOf(w.old)
	p.writes = append(p.writes, w)
	p.records = append(p.records, rec)
	p.changes = append(p.changes, c)
}

func (p *putter) store(ctx context.Context, tx Tx) error {
	if err := tx.ClearRedo(ctx, p.cleared[p.id]); err != nil {
		return fmt.Errorf("clear redo: %w", err)
	}
	if len(p.writes) == 0 {
		return nil
	}
	records, redos := p.records, make([]Redo, len(p.writes))
	for i, w := range p.writes {
		redos[i] = Redo{PUID: w.puid, Version: records[i].Version, Lost: w.lost}
	}
	if mutant.On("P1a") && len(records) > 1 {
		records = records[1:]
	}
	if err := tx.PutRecords(ctx, records); err != nil {
		return fmt.Errorf("put records: %w", err)
	}
	if err := tx.PutBirths(ctx, p.births); err != nil {
		return fmt.Errorf("put births: %w", err)
	}
	if p.entered = redos; !mutant.On("P9c") {
		entered, err := tx.PutRedo(ctx, redos)
		if err != nil {
			return fmt.Errorf("put redo: %w", err)
		}
		p.entered = entered
	}
	if err := tx.Append(ctx, p.changes); err != nil {
		return fmt.Errorf("append changes: %w", err)
	}
	return tx.AddCounts(ctx, p.counts)
}

// lostFeatures are those of old that new does not carry.
func lostFeatures(old, new *node) []uint64 {
	if old == nil {
		return nil
	}
	var lost []uint64
	for _, f := range old.norm.Features() {
		if !new.carries(f.Hash) {
			lost = append(lost, f.Hash)
		}
	}
	return lost
}

func versionOf(n *node) []changelog.Version {
	if n == nil {
		return nil
	}
	return []changelog.Version{{PUID: n.PUID, Version: n.Version}}
}

// compareBirth orders records by the time of their birth, then by birth id.
func compareBirth(a, b locality.ID) int {
	if c := bytes.Compare(a[10:], b[10:]); c != 0 {
		return c
	}
	return a.Compare(b)
}
