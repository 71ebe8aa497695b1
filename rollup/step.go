// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/lease"
)

// Progress is the result of a Step.
type Progress struct {
	// Held reports whether this process follows the cell. The other fields are set only then.
	Held bool
	// Applied is the number of changes applied; More reports whether further changes are ready.
	Applied int
	More    bool
	// Missing lists versions that have no complete generation in the cell: see Build.
	Missing []Version
	// Left lists generations of the cell that the catalogue no longer names: see Erase.
	Left []int64
	// Old reports that the catalogue may be old and must be read again before the next Step: the cell has generations
	// that it does not name yet, or the lease was just acquired. Missing is then empty, because generations of an old
	// catalogue may already have been built, served and erased.
	Old bool
	// Apart is the error that stopped the generations with groups elsewhere, nil if there was none. The other
	// generations continued.
	Apart error
}

// Step acquires or renews the lease and applies the next batch of changes to all generations. After an error the
// commit may or may not have happened; the next Step continues from the stored state.
func (f *Follower) Step(ctx context.Context, catalog Catalog) (p Progress, err error) {
	if f.opts.Wants == nil || f.opts.Wants() {
		p.Held, err = f.lease.Take(ctx, 0)
	} else {
		p.Held, err = f.lease.Try(ctx, 0)
	}
	f.note()
	if errors.Is(err, lease.ErrLost) {
		err = nil // another process follows the cell now
	}
	if err != nil || !p.Held {
		return Progress{}, err
	}
	b, err := f.read(ctx, catalog)
	if err != nil {
		return p, fmt.Errorf("read the log: %w", err)
	}
	p.Missing, p.Left, p.Old = compare(b.all, catalog)
	f.reachable(&p, b)
	if p.Old = p.Old || f.told != f.token.Load(); p.Old {
		p.Missing = nil
	}
	if len(b.works) == 0 {
		f.told = f.token.Load()
		return p, nil
	}
	f.carryAll(ctx, b)
	p.Applied, p.More, p.Apart = b.read()
	err = f.term().update(ctx, func(tx Tx) error { return f.commit(ctx, tx, b) })
	if err == nil {
		err = f.failApart(ctx, b)
	}
	if err != nil {
		if errors.Is(err, lease.ErrLost) {
			f.lease.Lost()
			f.note()
			return Progress{}, nil
		}
		return Progress{Held: true}, fmt.Errorf("apply changes: %w", err)
	}
	f.told = f.token.Load()
	return p, nil
}

// batch is the content of the next commit.
type batch struct {
	all   []Generation // of the cell
	works []work
	more  bool  // a generation needs another Step at once
	apart error // error of generations whose groups are elsewhere
}

// work is the change to one generation.
type work struct {
	from  Generation // as it was read
	to    changelog.Seq
	at    time.Time
	read  int  // number of changes
	full  bool // there may be more
	delta *delta
	keys  [][]byte
	err   error // why the generation cannot continue

	// For groups elsewhere:
	forward *CatchUp
	groups  int64 // net number of groups added
}

// logged is a range of the log: up to limit changes after a position.
type logged struct {
	after changelog.Seq
	limit int
}

// part returns the range of the log to apply to a generation next.
func (f *Follower) part(g *Generation) logged {
	if g.Definition.external() {
		return logged{g.Watermark, pending}
	}
	return logged{g.Watermark, f.opts.Batch}
}

// read reads the generations and the changes after their watermarks in one snapshot, and computes the effect on
// the groups. Generations with the same watermark share the read.
func (f *Follower) read(ctx context.Context, catalog Catalog) (*batch, error) {
	b := &batch{}
	logs := map[logged][]changelog.Change{}
	versions, highest := catalog.versions(), catalog.Highest()
	if err := f.opts.Database.View(ctx, func(tx Tx) (err error) {
		clear(logs)
		b.works = nil
		if b.all, err = generations(ctx, tx); err != nil {
			return err
		}
		for _, g := range b.all {
			part := f.part(&g)
			if _, done := logs[part]; done || !follows(g, versions, highest) {
				continue
			}
			changes, err := tx.Changes(ctx, part.after, part.limit)
			if err == nil && len(changes) == 0 {
				err = within(ctx, tx, g.Watermark)
			}
			if err != nil && !errors.Is(err, changelog.ErrTrimmed) && !errors.Is(err, errBeyond) {
				return err
			}
			logs[part] = changes
			if err != nil {
				logs[part] = nil
				b.works = append(b.works, work{from: g, to: g.Watermark, at: g.At, err: err})
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for _, g := range b.all {
		part := f.part(&g)
		changes := logs[part]
		switch {
		case len(changes) == 0 || !follows(g, versions, highest):
		case g.FrozenFor != 0 && g.Definition.external():
			// Readers stay at the frozen position until they see that the generation continues, and so do its
			// groups.
			b.works = append(b.works, work{from: g, to: g.Watermark, at: g.At})
			b.more = true
		default:
			w := f.work(g, changes)
			w.full = len(changes) == part.limit
			b.works = append(b.works, w)
		}
	}
	return b, nil
}

// errBeyond reports a watermark that the log of the cell has never reached. Its generation would skip changes appended
// until the log gets there.
var errBeyond = errors.New("the cell's log ends before the watermark, which is therefore damaged: rebuild the rollup")

// within returns errBeyond if a watermark is beyond the end of the log.
func within(ctx context.Context, tx Tx, watermark changelog.Seq) error {
	bounds, err := tx.Bounds(ctx)
	if err == nil && watermark > bounds.Last {
		err = fmt.Errorf("%w: it ends at %d", errBeyond, bounds.Last)
	}
	return err
}

// read returns the number of changes applied, whether there may be more, and the error of stopped generations.
func (b *batch) read() (applied int, more bool, apart error) {
	more = b.more
	for _, w := range b.works {
		applied, more = max(applied, w.read), more || w.full
	}
	return applied, more, b.apart
}

// follows reports whether to update a generation. A generation frozen for one that is no longer planned continues. A
// generation that is no longer named does not, because its remaining readers would be ahead of the serving one.
func follows(g Generation, versions map[int64]Version, highest int64) bool {
	_, wanted := versions[g.Number]
	_, coming := versions[g.FrozenFor]
	switch {
	case g.State != Following, !wanted && g.Number <= highest:
		return false
	case g.FrozenFor == 0:
		return true
	}
	return !coming && g.FrozenFor <= highest
}

func (f *Follower) work(g Generation, changes []changelog.Change) work {
	last := changes[len(changes)-1]
	w := work{from: g, to: last.Seq, at: last.Time, read: len(changes)}
	if g.Definition.external() {
		w.forward = newCatchUp(&g.Definition, changes, last.Seq)
		return w
	}
	w.delta = newDelta(&g.Definition)
	for i := range changes {
		w.delta.change(&changes[i])
	}
	w.keys = w.delta.keys()
	return w
}

// commit writes a batch under the lease. Generations whose watermark changed since the read are skipped.
func (f *Follower) commit(ctx context.Context, tx Tx, b *batch) error {
	now, err := tx.Generations(ctx)
	if err != nil {
		return err
	}
	for _, w := range b.works {
		i := slices.IndexFunc(now, func(g Generation) bool { return g.Number == w.from.Number })
		if i < 0 {
			continue
		}
		g := now[i]
		if g.State != Following || g.Watermark != w.from.Watermark || g.FrozenFor != w.from.FrozenFor {
			continue // another process was faster
		}
		if w.err != nil && g.Definition.external() {
			continue // see failApart
		}
		if err := f.apply(ctx, tx, g, w); err != nil {
			return err
		}
	}
	return nil
}

// apply advances one generation. One that cannot continue stays at its watermark with the reason.
func (f *Follower) apply(ctx context.Context, tx Tx, g Generation, w work) error {
	if g.Definition.external() {
		g.Watermark, g.At, g.FrozenFor, g.FrozenAt = w.to, w.at, 0, 0
		g.Groups += w.groups
		return tx.PutGeneration(ctx, g)
	}
	if w.err == nil {
		stored, err := tx.Rows(ctx, g.Number, w.keys)
		if err != nil {
			return err
		}
		rows, groups, err := w.delta.apply(w.keys, stored)
		if g.Groups += groups; err == nil && g.Groups > maxGroups {
			err = tooMany(&g.Definition)
		}
		if err == nil {
			err = g.Definition.boundedRows(rows)
		}
		if err == nil {
			g.Watermark, g.At, g.FrozenFor = w.to, w.at, 0
			return errors.Join(tx.PutRows(ctx, g.Number, rows), tx.PutGeneration(ctx, g))
		}
		w.err, g.Groups = err, g.Groups-groups
	}
	g.State, g.Reason = Failed, fmt.Sprintf("after change %d: %v", g.Watermark, w.err)
	return tx.PutGeneration(ctx, g)
}

func tooMany(d *Definition) error {
	return fmt.Errorf("%w: rollup %s: more than %d groups in a cell: group by less", ErrLimit, d.Name, maxGroups)
}
