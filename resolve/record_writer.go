// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// recordWriter runs the first round in one cell.
type recordWriter struct {
	*batch
	id         cell.ID
	group      []int
	targets    map[int]target
	successors map[entity.PUID]locality.ID
	norms      map[int]*match.Record

	// elsewhere are the ops whose keys have puids of other cells: compaction copied the keys here, and the records stay
	// where they are. They perform these ops.
	elsewhere map[int]entity.PUID
	// vanished are the ops whose cached puids have no record. They are not performed either.
	vanished  []int
	unchanged []*node // already stored with this content; cached to save a later read
	writes    []*write
	records   []*entity.Record // of the writes, in their order
	entered   []derived.Redo   // redo entries of the writes
	births    []entity.Birth
	changes   []changelog.Change
	counts    entity.Counts
	images    changelog.Images // which changes carry images
	mark      changelog.Seq    // end of the log, if changes carry images
}

func (p *recordWriter) run(ctx context.Context, tx storage.Tx) error {
	if err := tx.Require(ctx, func(head cell.Head) error {
		if version := p.Rules().Version; head.Rules != version {
			return fmt.Errorf("%w: the cell has version %d, this process has %d", errOldRules, head.Rules, version)
		}
		return nil
	}); err != nil {
		return err
	}
	puids, known, err := p.allocate(ctx, tx)
	if err != nil {
		return err
	}
	p.writes, p.records = make([]*write, 0, len(p.group)), make([]*entity.Record, 0, len(p.group))
	p.births, p.changes = make([]entity.Birth, 0, len(p.group)), make([]changelog.Change, 0, len(p.group))
	p.group = slices.DeleteFunc(slices.Clone(p.group), func(i int) bool { return p.elsewhere[i] != 0 })
	stored := make(map[entity.PUID]*entity.Record, len(known))
	records, err := tx.Records(ctx, known)
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	for i, rec := range records {
		stored[known[i]] = rec
	}
	if p.images, err = imagesOf(ctx, tx); err != nil { // with the head, which is read by now
		return err
	}
	for _, i := range p.group {
		if t := p.targets[i]; stored[puids[i]] == nil && t.puid != 0 && !t.sure && !p.ops[i].Delete {
			p.vanished = append(p.vanished, i)
			continue
		}
		if err := p.decide(i, puids[i], stored[puids[i]]); err != nil {
			return err
		}
	}
	return p.store(ctx, tx)
}

// allocate returns the puids of the group, and those that may have records here. Keys without a puid get the next ones
// of the cell, if it accepts keys.
func (p *recordWriter) allocate(ctx context.Context, tx storage.Tx) (puids map[int]entity.PUID, known []entity.PUID, err error) {
	puids = make(map[int]entity.PUID, len(p.group))
	var fresh []int
	var keys []cell.Key
	for _, i := range p.group {
		t := p.targets[i]
		puids[i] = t.puid
		if t.puid == 0 {
			fresh, keys = append(fresh, i), append(keys, t.key)
		} else {
			known = append(known, t.puid)
		}
	}
	if len(fresh) == 0 {
		return puids, known, nil
	}
	if err := p.dir.Gate(ctx, tx, p.opts.Cells.Map(), p.id); err != nil {
		return nil, nil, err
	}
	allocated, err := tx.Allocate(ctx, keys)
	if err != nil {
		return nil, nil, fmt.Errorf("allocate puids: %w", err)
	}
	p.elsewhere = map[int]entity.PUID{}
	for n, i := range fresh {
		puids[i] = entity.PUID(allocated[n].PUID)
		if home, err := p.home(puids[i]); err != nil || home != p.id {
			p.elsewhere[i] = puids[i]
		} else if !allocated[n].Fresh {
			known = append(known, puids[i])
		}
	}
	return puids, known, nil
}

// decide determines what an op does, given the stored record, if any.
func (p *recordWriter) decide(i int, puid entity.PUID, stored *entity.Record) error {
	op := &p.ops[i]
	live := stored != nil && !stored.Deleted()
	if op.Delete {
		if !live {
			p.results[i] = Result{Err: entity.ErrNotFound}
			return nil
		}
		if err := op.refused(stored); err != nil {
			p.results[i] = Result{Err: err}
			return nil
		}
		p.delete(i, stored)
		return nil
	}
	kind := p.Rules().Kind(op.Kind)
	rec := &entity.Record{
		PUID: puid, Ref: op.Ref, Kind: kind.Name(), Version: 1, Anchor: puid, Observed: op.Observed,
		Attributes: op.Attributes,
	}
	if rec.Observed.IsZero() {
		rec.Observed = p.now
	}
	if !live {
		if stored != nil {
			rec.Version, rec.Birth = stored.Version+1, stored.Birth
		}
		if !op.Birth.IsZero() {
			rec.Version, rec.Birth = op.Version, op.Birth
		}
		if rec.Birth.IsZero() {
			birth, err := p.birth(i)
			if err != nil {
				return fmt.Errorf("mint a birth id: %w", err)
			}
			rec.Birth = birth
		}
		p.births = append(p.births, entity.Birth{ID: rec.Birth, PUID: puid})
		p.counts.Records++
		p.results[i] = Result{PUID: puid, Version: rec.Version, Entity: rec.Birth, Outcome: Created}
		p.put(&write{puid: puid, new: &node{Record: rec, kind: kind, norm: p.norms[i]}, back: stored != nil}, rec)
		return nil
	}
	if err := op.refused(stored); err != nil {
		p.results[i] = Result{Err: err}
		return nil
	}
	p.results[i] = Result{PUID: puid, Version: stored.Version, Entity: stored.Birth}
	same := rec.Kind == stored.Kind && maps.EqualFunc(op.Attributes, stored.Attributes, slices.Equal)
	switch {
	case !op.Observed.IsZero() && (op.Observed.Before(stored.Observed) || !op.Later && op.Observed.Equal(stored.Observed) && contents(rec, stored) < 0):
		p.results[i].Outcome = Stale
	case same && (op.Observed.IsZero() || op.Observed.Equal(stored.Observed)):
		p.results[i].Outcome = Unchanged
		p.unchanged = append(p.unchanged, &node{Record: stored, kind: kind, norm: p.norms[i]})
	default:
		rec.Version, rec.Birth, rec.Anchor = stored.Version+1, stored.Birth, stored.Anchor
		p.results[i].Version, p.results[i].Outcome = rec.Version, Updated
		n := &node{Record: rec, kind: kind, norm: p.norms[i]}
		if n.norm == nil {
			n.norm = kind.normalise(rec)
		}
		p.put(&write{puid: puid, old: p.node(stored), new: n}, rec)
	}
	return nil
}

// birth returns a birth id for the record of an op. A hypothetical record gets one that is later than all others and is
// not minted.
func (p *recordWriter) birth(i int) (locality.ID, error) {
	if p.peek != nil {
		return unborn, nil
	}
	return p.opts.Mint(p.ops[i].Ref, p.opts.Cells.Map().Segment(p.id, p.targets[i].key.Position()))
}

// contents orders observations of the same time. The greater one wins, so that the order of arrival does
// not matter.
func contents(a, b *entity.Record) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), a.Attributes.Compare(b.Attributes))
}

func (p *recordWriter) put(w *write, rec *entity.Record) {
	p.add(w, rec, changelog.Change{
		Kind: changelog.Put, Cause: changelog.CausePut, Entity: rec.Birth, After: versionOf(w.new),
	})
}

func (p *recordWriter) delete(i int, stored *entity.Record) {
	tombstone := &entity.Record{PUID: stored.PUID, Version: stored.Version + 1, Birth: stored.Birth, Anchor: stored.Anchor}
	p.add(&write{puid: stored.PUID, old: p.node(stored)}, tombstone, changelog.Change{Kind: changelog.Deleted, Cause: changelog.CauseDelete, Entity: stored.Birth})
	p.births = append(p.births, entity.Birth{ID: stored.Birth, Successor: p.successors[stored.PUID]})
	p.counts.Records--
	p.results[i] = Result{PUID: stored.PUID, Version: tombstone.Version, Entity: stored.Birth}
}

func (p *recordWriter) add(w *write, rec *entity.Record, c changelog.Change) {
	w.lost = p.lost(w.old, w.new)
	c.Time, c.Before = p.now, versionOf(w.old)
	if attributes := p.images.Records; attributes != nil {
		if w.old != nil {
			c.Was = changelog.ImageOfRecord(w.old.Record, attributes)
		}
		c.Is = changelog.ImageOfRecord(rec, attributes)
	}
	p.writes = append(p.writes, w)
	p.records = append(p.records, rec)
	p.changes = append(p.changes, c)
}

func (p *recordWriter) store(ctx context.Context, tx storage.Tx) error {
	if err := tx.ClearRedo(ctx, p.redoLog.finishedIn(p.id)); err != nil {
		return fmt.Errorf("clear redo: %w", err)
	}
	if len(p.writes) == 0 { // even so the caller of a repeated put may wait for the position of the first
		return p.end(ctx, tx, p.images, &p.mark)
	}
	records, redos := p.records, make([]derived.Redo, len(p.writes))
	for i, w := range p.writes {
		redos[i] = derived.Redo{PUID: w.puid, Version: records[i].Version, LostKeys: w.lost}
	}
	if err := tx.PutRecords(ctx, records); err != nil {
		return fmt.Errorf("put records: %w", err)
	}
	if err := tx.PutBirths(ctx, p.births); err != nil {
		return fmt.Errorf("put births: %w", err)
	}
	entered, err := tx.PutRedo(ctx, redos)
	if err != nil {
		return fmt.Errorf("put redo: %w", err)
	}
	p.entered = entered
	if err := tx.Append(ctx, p.changes); err != nil {
		return fmt.Errorf("append changes: %w", err)
	}
	if err := tx.AddCounts(ctx, p.counts); err != nil {
		return err
	}
	return p.end(ctx, tx, p.images, &p.mark)
}

// lost returns the blocking keys of old that new does not carry. While the kind is being switched, that includes
// the blocking keys under the former rules.
func (r *Resolver) lost(old, new *node) []uint64 {
	if old == nil {
		return nil
	}
	lost := lostKeys(old.norm, new, nil)
	if former := r.Rules().former; former != nil && former.Name() == old.kind.Name() {
		lost = lostKeys(former.normalise(old.Record), new, lost)
	}
	return lost
}

// lostKeys appends the blocking keys of old that new does not carry.
func lostKeys(old *match.Record, new *node, lost []uint64) []uint64 {
	for _, f := range old.BlockingKeys() {
		if !new.carries(f.Hash) && !slices.Contains(lost, f.Hash) {
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
