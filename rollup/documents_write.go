// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// A step writes documents one by one before it commits. These rules keep that correct if a writer is killed,
// duplicated or late:
//
//   - A document contains the changes of its group up to its own watermark. A writer reads it, adds exactly the
//     changes between that watermark and the new one, and compares the watermark in the write. A late write finds
//     a different watermark and has no effect.
//   - The generation's watermark advances only after all documents that the changes touch have been written. A
//     document behind it has not been touched since.
//   - Every group that a change touches is written, even if it is empty or unchanged: its watermark makes late
//     writes fail.
//
// After a crash or a lost reply the next step reads the documents and adds to each what it lacks.

// errElsewhere reports that another process writes the same documents; the next step reads how far it got.
var errElsewhere = errors.New("rollup: another process writes the documents")

// reachable removes work that needs documents which this process does not have.
func (f *Follower) reachable(p *Progress, b *batch) {
	if f.opts.Database.Documents != nil {
		return
	}
	leave := func(g *Generation) bool {
		if !g.Definition.external() {
			return false
		}
		_, b.apart = f.opts.Database.documents(g)
		return true
	}
	p.Missing = slices.DeleteFunc(p.Missing, func(v Version) bool { return leave(&Generation{Definition: v.Definition}) })
	p.Left = slices.DeleteFunc(p.Left, func(number int64) bool {
		return slices.ContainsFunc(b.all, func(g Generation) bool { return g.Number == number && leave(&g) })
	})
	p.Apart = b.apart
}

// carryAll writes the documents of a batch and removes generations that cannot be committed now.
func (f *Follower) carryAll(ctx context.Context, b *batch) {
	works := b.works[:0]
	for _, w := range b.works {
		if w.forward != nil && w.err == nil {
			err := f.carry(ctx, &w)
			wrong, is := errors.AsType[unfit](err)
			switch {
			case is:
				w.err = wrong
			case errors.Is(err, errElsewhere):
				continue
			case err != nil:
				b.apart = errors.Join(b.apart, fmt.Errorf("generation %d of rollup %s: %w", w.from.Number, w.from.Definition.Name, err))
				continue
			}
		}
		works = append(works, w)
	}
	b.works = works
}

// carry advances the documents of a generation to the end of the batch. If the error is unfit, nothing was
// written.
func (f *Follower) carry(ctx context.Context, w *work) error {
	in, err := f.opts.Database.documents(&w.from)
	if err != nil {
		return err
	}
	read := func(keys [][]byte) ([]moved, error) {
		docs, err := in.Documents(ctx, w.from.namespace(), keys)
		if err != nil {
			return nil, err
		}
		return found(keys, docs), nil
	}
	docs, err := read(w.forward.keys())
	if err != nil {
		return err
	}
	if slices.ContainsFunc(docs, func(d moved) bool { return d.is && d.Watermark > w.to }) {
		return errElsewhere
	}
	w.forward.apply(docs)
	for _, d := range docs {
		if w.groups += d.grew; d.err == nil {
			d.err = w.from.Definition.bounded(d.Key, d.next)
		}
		if d.err != nil {
			return unfit{d.err}
		}
	}
	if w.from.Groups+w.groups > MaxGroups {
		return unfit{tooMany(&w.from.Definition)}
	}
	for range attempts {
		if docs, err = w.write(ctx, in, docs); err != nil || len(docs) == 0 {
			return err
		}
		if docs, err = read(keysOf(docs)); err != nil {
			return err
		}
		docs = slices.DeleteFunc(docs, func(d moved) bool { return d.is && d.Watermark >= w.to })
		w.forward.apply(docs)
	}
	return errElsewhere
}

// write writes documents and returns those that had changed since they were read.
func (w *work) write(ctx context.Context, in Documents, docs []moved) ([]moved, error) {
	docs = slices.DeleteFunc(docs, func(d moved) bool { return d.is && d.Watermark == w.to })
	swaps := make([]Swap, len(docs))
	for i, d := range docs {
		swaps[i] = Swap{Document: Document{Key: d.Key, Body: d.next, Watermark: w.to}, Is: d.is, Was: d.Watermark}
	}
	done, err := in.Swap(ctx, w.from.namespace(), swaps)
	if err != nil {
		return nil, err
	}
	var lost []moved
	for i, d := range docs {
		if !done[i] {
			lost = append(lost, d)
		}
	}
	return lost, nil
}

func keysOf(docs []moved) [][]byte {
	keys := make([][]byte, len(docs))
	for i, d := range docs {
		keys[i] = d.Key
	}
	return keys
}

// failApart freezes generations whose documents cannot continue. It needs an exclusive update: readers are ahead
// of the watermark and stay at the current end of the log.
func (f *Follower) failApart(ctx context.Context, b *batch) error {
	for _, w := range b.works {
		if w.err == nil || !w.from.Definition.external() {
			continue
		}
		if err := f.term().exclusive(ctx, func(tx Tx) error {
			now, err := generations(ctx, tx)
			if err != nil {
				return err
			}
			bounds, err := tx.Bounds(ctx)
			if err != nil {
				return err
			}
			for _, g := range now {
				if g.Number == w.from.Number && g.State == Following && g.Watermark == w.from.Watermark && g.FrozenFor == w.from.FrozenFor {
					g.State, g.FrozenAt, g.Reason = Failed, bounds.Last, fmt.Sprintf("after change %d: %v", g.Watermark, w.err)
					return tx.PutGeneration(ctx, g)
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// settle assigns the documents of a new generation a Space that was never written before.
func (f term) settle(ctx context.Context, tx Tx, g *Generation) error {
	if f.opts.Database.Documents == nil {
		_, err := f.opts.Database.documents(g)
		return err
	}
	g.StoreID = f.opts.Database.Documents.StoreID()
	g.BuildID = rand.Int64() //nolint:gosec // no secret: it is only to differ
	var err error
	g.History, err = tx.History(ctx)
	return err
}

// fillDocuments writes rows as documents.
func (f term) fillDocuments(ctx context.Context, g Generation, rows []Row) error {
	in, err := f.opts.Database.documents(&g)
	if err != nil {
		return err
	}
	swaps := make([]Swap, len(rows))
	for i, r := range rows {
		swaps[i] = Swap{Document: Document{Key: r.Key, Body: r.Body, Watermark: g.Watermark}}
	}
	done, err := in.Swap(ctx, g.namespace(), swaps)
	if err == nil && slices.Contains(done, false) {
		err = errElsewhere
	}
	return err
}

// dropDocuments deletes all documents of a generation that the catalogue no longer names.
func (f term) dropDocuments(ctx context.Context, g *Generation) error {
	in, err := f.opts.Database.documents(g)
	switch {
	case f.opts.Database.Documents == nil:
		return err
	case err != nil:
		return nil //nolint:nilerr // they are in a database that is not used any more
	}
	for n := written; n >= written; {
		if n, err = in.Drop(ctx, g.Number, written); err != nil {
			return err
		}
	}
	return nil
}
