// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// inOrder returns the cells in the order of their puids.
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
	for _, id := range cells {
		if err := l.readRedo(ctx, id); err != nil {
			return fmt.Errorf("cell %v: %w", id, err)
		}
	}
	for _, id := range cells {
		lo, _ := l.opts.Cells.Map().PuidRange(id)
		for after, more := entity.PUID(lo), true; more; {
			var records []*entity.Record
			err := l.Resolver.read(ctx, id, func(tx storage.Tx) (err error) {
				records, err = tx.ListRecords(ctx, "", after, l.loads.page)
				return err
			})
			var nodes []*node
			if err == nil {
				nodes, err = l.decode(records)
			}
			if err != nil {
				return fmt.Errorf("cell %v: read records: %w", id, err)
			}
			for _, n := range nodes {
				l.emit(n)
				after = n.PUID
			}
			more = len(records) == l.loads.page
			l.tell(LoadProgress{LoadRead, len(l.puids), max(l.records, len(l.puids))})
		}
	}
	l.records = len(l.puids)
	if l.records > math.MaxUint32-1 {
		return fmt.Errorf("%w: more than %d records", ErrLoad, uint32(math.MaxUint32-1))
	}
	for _, e := range l.entries {
		if _, lives := slices.BinarySearch(l.puids, e.puid); !lives {
			l.gone = append(l.gone, e.puid)
			for _, f := range l.lostBy[e.puid] {
				l.lost = append(l.lost, derived.Posting{Key: f, PUID: e.puid})
			}
		}
	}
	l.lostBy = nil
	return nil
}

// readRedo reads the redo set of a cell, and what else a load has to know about it.
func (l *loader) readRedo(ctx context.Context, id cell.ID) error {
	for after, more := entity.PUID(math.MinInt64), true; more; {
		var page []derived.Redo
		if err := l.Resolver.read(ctx, id, func(tx storage.Tx) (err error) {
			if after == math.MinInt64 {
				err = l.look(ctx, tx)
			}
			if err == nil {
				page, err = tx.Redo(ctx, after, l.loads.page)
			}
			return err
		}); err != nil {
			return err
		}
		for _, e := range page {
			if e.Decided != 0 {
				return fmt.Errorf("%w: record %v was decided about", ErrLoad, e.PUID)
			}
			l.entries, after = append(l.entries, loadEntry{e.PUID, e.Version}), e.PUID
			if len(e.LostKeys) > 0 {
				l.lostBy[e.PUID] = e.LostKeys
			}
		}
		more = len(page) == l.loads.page
	}
	return nil
}

func (l *loader) look(ctx context.Context, tx storage.Tx) error {
	counts, err := tx.Counts(ctx)
	if err != nil {
		return err
	}
	l.records += int(counts.Records)
	l.stale = l.stale || counts.Entities > 0
	for _, table := range []string{"posting", "edge"} {
		rows, err := tx.ReadRows(ctx, table, nil, 1)
		if err != nil {
			return err
		}
		l.stale = l.stale || len(rows) > 0
	}
	some, err := tx.ListDecisions(ctx, entity.DecisionKey{A: math.MinInt64}, 1)
	if err == nil && len(some) > 0 {
		err = fmt.Errorf("%w: there are decisions", ErrLoad)
	}
	return err
}

// decode normalises records on all processors.
func (l *loader) decode(records []*entity.Record) ([]*node, error) {
	for _, rec := range records {
		if rec != nil && !rec.Deleted() && l.Rules().Kind(rec.Kind) == nil {
			return nil, fmt.Errorf("%w: there is a kind %s", errOldRules, rec.Kind)
		}
	}
	nodes := make([]*node, len(records))
	parallel(len(records), func(i int) {
		if records[i] != nil {
			nodes[i] = l.node(records[i])
		}
	})
	return nodes, nil
}

// nodes reads records by their numbers, which are ordered.
func (l *loader) nodes(ctx context.Context, numbers []uint32) (map[uint32]*node, error) {
	read := make(map[uint32]*node, len(numbers))
	for part := range slices.Chunk(numbers, l.loads.page) {
		puids := make([]entity.PUID, len(part))
		for i, n := range part {
			puids[i] = l.puids[n]
		}
		found := make(map[entity.PUID]*entity.Record, len(part))
		if err := fromHomes(ctx, l.Resolver, l.Resolver.read, puids, func(tx storage.Tx, group []entity.PUID) ([]*entity.Record, error) {
			return tx.Records(ctx, group)
		}, func(group []entity.PUID, records []*entity.Record) {
			for i, rec := range records {
				found[group[i]] = rec
			}
		}); err != nil {
			return nil, fmt.Errorf("read records: %w", err)
		}
		records := make([]*entity.Record, len(part))
		for i, n := range part {
			if records[i] = found[puids[i]]; records[i] == nil || records[i].Deleted() || records[i].Version != l.versions[n] {
				return nil, errLoadMoved
			}
		}
		nodes, err := l.decode(records)
		if err != nil {
			return nil, err
		}
		for i, n := range part {
			read[n] = nodes[i]
		}
	}
	return read, nil
}
