// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// loadRange is the range of record numbers of a cell: from up to, but not including, to.
type loadRange struct {
	cell     cell.ID
	from, to int
}

// inOrder returns the cells ordered by puid.
func (l *loader) inOrder() []cell.ID {
	m := l.opts.Cells.Map()
	return slices.SortedFunc(slices.Values(m.Cells()), func(a, b cell.ID) int {
		x, _ := m.PuidRange(a)
		y, _ := m.PuidRange(b)
		return int(min(max(x/2-y/2, -1), 1))
	})
}

// read reads the redo sets and then all live records, and collects the postings.
func (l *loader) read(ctx context.Context) error {
	cells := l.inOrder()
	entries := make([][]loadEntry, len(cells))
	if err := l.abreast(len(cells), func(i int) (err error) {
		if entries[i], err = l.readRedo(ctx, cells[i]); err != nil {
			return fmt.Errorf("cell %v: %w", cells[i], err)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := l.readDecisions(ctx); err != nil {
		return err
	}
	all := slices.Concat(entries...)
	if 100*len(all) < l.loads.whole*l.records {
		return l.choose(ctx, all)
	}
	l.puids, l.births = make([]entity.PUID, 0, l.records), make([]locality.ID, 0, l.records)
	for _, id := range cells {
		from := len(l.puids)
		if err := l.readCell(ctx, id); err != nil {
			return fmt.Errorf("cell %v: read records: %w", id, err)
		}
		l.ranges = append(l.ranges, loadRange{id, from, len(l.puids)})
	}
	if l.records = len(l.puids); l.records > math.MaxUint32-1 {
		return fmt.Errorf("%w: more than %d records", ErrLoad, uint32(math.MaxUint32-1))
	}
	l.divide()
	l.redo = make([]uint32, l.records)
	rec := 0
	for _, e := range all { // ordered by puid, as the records are
		for rec < l.records && l.puids[rec] < e.puid {
			rec++
		}
		if rec < l.records && l.puids[rec] == e.puid {
			l.redo[rec] = uint32(min(e.version, math.MaxUint32)) //nolint:gosec // a higher one stays in the redo set
			continue
		}
		l.gone = append(l.gone, e)
		for _, f := range l.lostBy[e.puid] {
			l.lost = append(l.lost, derived.Posting{Key: f, PUID: e.puid})
		}
	}
	l.lostBy, l.pieces = nil, nil
	return l.flush()
}

// divide divides the ranges into parts.
func (l *loader) divide() {
	for _, r := range l.ranges {
		for from := r.from; from < r.to; from += l.loads.part {
			l.parts = append(l.parts, loadRange{r.cell, from, min(from+l.loads.part, r.to)})
		}
	}
}

// readRedo reads the redo set of a cell and the other state of the cell that a load needs.
func (l *loader) readRedo(ctx context.Context, id cell.ID) (entries []loadEntry, err error) {
	for after, more := entity.PUID(math.MinInt64), true; more; {
		var page []derived.Redo
		if err := l.Resolver.read(ctx, id, func(tx storage.Tx) (err error) {
			if after == math.MinInt64 {
				err = l.look(ctx, tx)
			}
			if err == nil {
				page, err = tx.Redo(ctx, after, l.loads.rows)
			}
			return err
		}); err != nil {
			return nil, err
		}
		for _, e := range page {
			if e.Decided != 0 {
				return nil, fmt.Errorf("%w: record %v was decided about", ErrLoad, e.PUID)
			}
			entries, after = append(entries, loadEntry{e.PUID, e.Version}), e.PUID
			if len(e.LostKeys) > 0 {
				l.mu.Lock()
				l.lostBy[e.PUID] = e.LostKeys
				l.mu.Unlock()
			}
		}
		more = len(page) == l.loads.rows
	}
	return entries, nil
}

func (l *loader) look(ctx context.Context, tx storage.Tx) error {
	counts, err := tx.Counts(ctx)
	if err != nil {
		return err
	}
	stale := counts.Entities > 0
	for _, table := range []string{"posting", "edge"} {
		rows, err := tx.ReadRows(ctx, table, nil, 1)
		if err != nil {
			return err
		}
		stale = stale || len(rows) > 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records, l.stale = l.records+int(counts.Records), l.stale || stale
	return nil
}

// readCell reads the live records of a cell. One page is normalised while the next one is read.
func (l *loader) readCell(ctx context.Context, id cell.ID) error {
	ctx, stop := context.WithCancel(ctx)
	pages, failed := make(chan []*entity.Record, 1), make(chan error, 1)
	defer func() {
		stop()
		for range pages { // waits for the reader
		}
	}()
	go func() {
		defer close(pages)
		lo, _ := l.opts.Cells.Map().PuidRange(id)
		for after, more := entity.PUID(lo), true; more; {
			var page []*entity.Record
			if err := l.Resolver.read(ctx, id, func(tx storage.Tx) (err error) {
				page, err = tx.ListRecords(ctx, "", after, l.loads.page)
				return err
			}); err != nil {
				failed <- err
				return
			}
			if more = len(page) == l.loads.page; more {
				after = page[len(page)-1].PUID
			}
			select {
			case pages <- page:
			case <-ctx.Done():
				return
			}
		}
	}()
	for page := range pages {
		for _, rec := range page {
			if l.Rules().Kind(rec.Kind) == nil {
				return fmt.Errorf("%w: there is a kind %s", errOldRules, rec.Kind)
			}
		}
		if err := l.emit(page); err != nil {
			return err
		}
		l.tell(LoadProgress{LoadRead, len(l.puids), max(l.records, len(l.puids))})
	}
	select {
	case err := <-failed:
		return err
	default:
		return ctx.Err()
	}
}

// emit gives the records of a page the next numbers, keeps them in the spills and collects their postings.
func (l *loader) emit(page []*entity.Record) error {
	const size = 64
	first := len(l.puids)
	for _, rec := range page {
		l.puids, l.births = append(l.puids, rec.PUID), append(l.births, rec.Birth)
	}
	pieces := slices.Collect(slices.Chunk(page, size))
	for len(l.pieces) < len(pieces) {
		l.pieces = append(l.pieces, loadPiece{})
	}
	errs := make([]error, len(pieces))
	parallel(len(pieces), func(i int) {
		l.pieces[i].reset()
		for j, rec := range pieces[i] {
			n := l.node(rec)
			l.pieces[i].add(n)
			errs[i] = cmp.Or(errs[i], l.emitPostings(uint32(first+i*size+j), n)) //nolint:gosec // read refuses more
		}
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i := range pieces {
		if err := l.keep(&l.pieces[i]); err != nil {
			return err
		}
	}
	return nil
}

// slots returns, of the given numbers in ascending order, those whose records were not deleted since, in the order of
// their slots in the spills, and these slots.
func (l *loader) slots(numbers []uint32) (read, slots []uint32) {
	if l.part != nil {
		return l.part.readOf(numbers)
	}
	return numbers, numbers
}

// nodes decodes records by number, in ascending order, without those deleted since. It does not normalise them, because
// they are only merged.
func (l *loader) nodes(numbers []uint32) (map[uint32]*node, error) {
	numbers, slots := l.slots(numbers)
	found, err := l.decode(slots, false)
	if err != nil {
		return nil, err
	}
	read := make(map[uint32]*node, len(numbers))
	for i, number := range numbers {
		read[number] = found[i]
	}
	return read, nil
}

// decode decodes records by their slots in the spill, which must ascend.
func (l *loader) decode(slots []uint32, normalise bool) ([]*node, error) {
	found := make([]*node, len(slots))
	return found, l.spill.parts(slots, func(i int, row []byte) {
		rec := readSpilled(row)
		n := &node{Record: rec, kind: l.Rules().Kind(rec.Kind)}
		if found[i] = n; normalise {
			n.norm = n.kind.normalise(rec)
		}
	})
}
