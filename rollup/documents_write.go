// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// A step writes documents before it commits, each by itself. What keeps that right, whoever is killed, doubled
// or late:
//
//   - A document is what the changes up to its own watermark make of the group. Who writes it has read it, adds
//     exactly what lies between its watermark and the new one, and compares the watermark in the write. So
//     that stays true, and a write that comes late finds another watermark and is void.
//   - The generation's watermark moves once all documents that the changes touch have been written. So a
//     document behind it is one that nothing touched since.
//   - Every group that a change touches is written, one that is empty and one that is what it was, too: its
//     watermark keeps out who comes late.
//
// After a crash or an answer that was lost the next step reads the documents, and adds to each what it lacks.

// errElsewhere says that somebody else works on the same documents: the next step sees how far that one is.
var errElsewhere = errors.New("rollup: another process writes the documents")

// reachable leaves out what cannot be done without the documents that this process does not have.
func (f *Follower) reachable(p *Progress, b *batch) {
	if f.opts.Database.Documents != nil {
		return
	}
	leave := func(g *Generation) bool {
		if !g.Definition.apart() {
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

// carryAll writes the documents of a batch, and leaves out of it what cannot be committed now.
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

// carry takes the documents of a generation to the end of the batch. The error is unfit if that cannot be, and then
// nothing was written.
func (f *Follower) carry(ctx context.Context, w *work) error {
	in, err := f.opts.Database.documents(&w.from)
	if err != nil {
		return err
	}
	read := func(keys [][]byte) ([]moved, error) {
		docs, err := in.Documents(ctx, w.from.space(), keys)
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

// write writes documents, and answers with those that were not as they had been read.
func (w *work) write(ctx context.Context, in Documents, docs []moved) ([]moved, error) {
	docs = slices.DeleteFunc(docs, func(d moved) bool { return d.is && d.Watermark == w.to })
	swaps := make([]Swap, len(docs))
	for i, d := range docs {
		swaps[i] = Swap{Document: Document{Key: d.Key, Body: d.next, Watermark: w.to}, Is: d.is, Was: d.Watermark}
	}
	done, err := in.Swap(ctx, w.from.space(), swaps)
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

// failApart has generations stand still whose documents cannot go on. Alone, since readers are ahead of the
// watermark: they stay where the log ends now.
func (f *Follower) failApart(ctx context.Context, b *batch) error {
	for _, w := range b.works {
		if w.err == nil || !w.from.Definition.apart() {
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
				if g.Number == w.from.Number && g.State == Following && g.Watermark == w.from.Watermark && g.Yields == w.from.Yields {
					g.State, g.Until, g.Reason = Failed, bounds.Last, fmt.Sprintf("after change %d: %v", g.Watermark, w.err)
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

// settle says where the documents of a generation are to be that is built now: where nobody else ever wrote.
func (f term) settle(ctx context.Context, tx Tx, g *Generation) error {
	if f.opts.Database.Documents == nil {
		_, err := f.opts.Database.documents(g)
		return err
	}
	g.Home = f.opts.Database.Documents.Home()
	g.Fill = rand.Int64() //nolint:gosec // no secret: it is only to differ
	var err error
	g.History, err = tx.History(ctx)
	return err
}

// fillDocuments writes documents in the place of rows.
func (f term) fillDocuments(ctx context.Context, g Generation, rows []Row) error {
	in, err := f.opts.Database.documents(&g)
	if err != nil {
		return err
	}
	swaps := make([]Swap, len(rows))
	for i, r := range rows {
		swaps[i] = Swap{Document: Document{Key: r.Key, Body: r.Body, Watermark: g.Watermark}}
	}
	done, err := in.Swap(ctx, g.space(), swaps)
	if err == nil && slices.Contains(done, false) {
		err = errElsewhere
	}
	return err
}

// dropDocuments removes those of a generation that is named no more, by whomever they were written.
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
