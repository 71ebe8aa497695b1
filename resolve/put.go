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
	redo   map[cell.ID][]entity.PUID
	repair bool // the writes come from the redo set: what follows from them may be half done
}

func newBatch(r *Resolver, ops []Op, pass []int, results []Result) *batch {
	return &batch{
		Resolver: r, ops: ops, pass: pass, results: results, now: r.opts.Now().UTC().Truncate(time.Millisecond),
		writes: make(map[entity.PUID]*write, len(pass)), nodes: make(map[entity.PUID]*node, 4*len(pass)),
		redo: map[cell.ID][]entity.PUID{},
	}
}

// run does the three rounds. After the first, each record that it reports is durable; an error from
// the others leaves it to the redo set to finish.
func (b *batch) run(ctx context.Context, report *Batched) error {
	begin := time.Now()
	if err := b.put(ctx); err != nil {
		return err
	}
	put := time.Now()
	report.Put += put.Sub(begin)
	if len(b.writes) > 0 {
		met, err := b.post(ctx)
		if err != nil {
			return err
		}
		post := time.Now()
		report.Post += post.Sub(put)
		if err := b.resolve(ctx, met); err != nil {
			return err
		}
		report.Resolve += time.Since(post)
	}
	for id, puids := range b.redo {
		b.cleared[id] = append(b.cleared[id], puids...)
	}
	return b.answer(ctx)
}

// put is the first round: key, puid, record, birth id, change and redo entry in one transaction of
// the key's home cell. A cell that fails fails its own records only.
func (b *batch) put(ctx context.Context) error {
	groups := map[cell.ID][]int{}
	keys := make(map[int]cell.Key, len(b.pass))
	for _, i := range b.pass {
		k := b.opts.Map.KeyOf(b.ops[i].Source, b.ops[i].Key)
		keys[i] = k
		id := b.opts.Map.Home(k.Position())
		groups[id] = append(groups[id], i)
	}
	successors, err := b.successors(ctx, groups, keys)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var written []cell.ID
	err = eachCell(groups, func(id cell.ID, group []int) error {
		norms := b.normalise(group)
		var p *putter
		err := b.cells[id].Update(ctx, func(tx Tx) error {
			p = &putter{batch: b, id: id, group: group, keys: keys, successors: successors, norms: norms} // anew if it runs again
			return p.run(ctx, tx)
		})
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			if errors.Is(err, ErrUnknownOutcome) {
				return err
			}
			for _, i := range group {
				b.results[i] = Result{Err: fmt.Errorf("cell %v: %w", id, err)}
			}
			return nil
		}
		written = append(written, id)
		for i, w := range p.writes {
			b.writes[w.puid] = w
			b.redo[id] = append(b.redo[id], w.puid)
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
		return nil
	})
	for _, id := range written {
		delete(b.cleared, id)
	}
	return err
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
	keys       map[int]cell.Key
	successors map[entity.PUID]locality.ID
	norms      map[int]*match.Record

	unchanged []*node // what is stored already: whoever asks for it later need not read it again
	writes    []*write
	records   []*entity.Record // of the writes, in their order
	births    []entity.Birth
	changes   []changelog.Change
	counts    entity.Counts
}

func (p *putter) run(ctx context.Context, tx Tx) error {
	puids, err := p.allocate(ctx, tx)
	if err != nil {
		return err
	}
	known := make([]entity.PUID, 0, len(puids))
	for _, i := range p.group {
		if puids[i] != 0 {
			known = append(known, puids[i])
		}
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
		if err := p.decide(i, puids[i], stored[puids[i]]); err != nil {
			return err
		}
	}
	return p.store(ctx, tx)
}

// allocate finds the puids of the group, 0 for a key to be deleted that was never put.
func (p *putter) allocate(ctx context.Context, tx Tx) (map[int]entity.PUID, error) {
	puids := make(map[int]entity.PUID, len(p.group))
	var puts, deletes []int
	for _, i := range p.group {
		if p.ops[i].Delete {
			deletes = append(deletes, i)
		} else {
			puts = append(puts, i)
		}
	}
	if len(puts) > 0 {
		allocated, err := tx.Allocate(ctx, p.keysOf(puts))
		if err != nil {
			return nil, fmt.Errorf("allocate puids: %w", err)
		}
		for n, i := range puts {
			puids[i] = entity.PUID(allocated[n].PUID)
		}
	}
	if len(deletes) > 0 {
		found, err := tx.Lookup(ctx, p.keysOf(deletes))
		if err != nil {
			return nil, fmt.Errorf("look up keys: %w", err)
		}
		for n, i := range deletes {
			puids[i] = entity.PUID(found[n])
		}
	}
	return puids, nil
}

func (p *putter) keysOf(group []int) []cell.Key {
	keys := make([]cell.Key, len(group))
	for n, i := range group {
		keys[n] = p.keys[i]
	}
	return keys
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
		birth, err := p.opts.Mint(op.Ref, p.opts.Map.Segment(p.id, p.keys[i].Position()))
		if err != nil {
			return fmt.Errorf("mint a birth id: %w", err)
		}
		rec.Birth = birth
		if stored != nil {
			rec.Version = stored.Version + 1
		}
		p.births = append(p.births, entity.Birth{ID: birth, PUID: puid})
		p.counts.Records++
		p.results[i] = Result{PUID: puid, Version: rec.Version, Outcome: Founded}
		p.put(&write{puid: puid, new: &node{Record: rec, norm: p.norms[i]}}, rec)
		return nil
	}
	p.results[i] = Result{PUID: puid, Version: stored.Version}
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
	p.results[i] = Result{PUID: stored.PUID, Version: tombstone.Version}
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
		redos[i] = Redo{PUID: w.puid, Lost: w.lost}
	}
	if mutant.On("P1a") && len(records) > 1 {
		records = records[1:]
	}
	if mutant.On("P9c") {
		redos = nil
	}
	if err := tx.PutRecords(ctx, records); err != nil {
		return fmt.Errorf("put records: %w", err)
	}
	if err := tx.PutBirths(ctx, p.births); err != nil {
		return fmt.Errorf("put births: %w", err)
	}
	if err := tx.PutRedo(ctx, redos); err != nil {
		return fmt.Errorf("put redo: %w", err)
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
