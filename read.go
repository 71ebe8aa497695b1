// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
)

// view reads one snapshot of one cell.
func (s *Service) view(ctx context.Context, id cell.ID, fn func(resolve.Tx) error) error {
	return s.at(ctx, id, func(c resolve.Cell) error { return c.View(ctx, fn) })
}

// at does something with a cell, and again with a newer cell map if it has moved.
func (s *Service) at(ctx context.Context, id cell.ID, do func(resolve.Cell) error) error {
	for attempt := 0; ; attempt++ {
		c, err := s.cells.Cell(id)
		if err == nil {
			err = do(c)
		}
		if !errors.Is(err, cell.ErrMoved) || attempt == maxRefresh {
			return err
		}
		if err := s.cells.Refresh(ctx); err != nil {
			return fmt.Errorf("%w: cell %v has moved: %w", ErrUnavailable, id, err)
		}
	}
}

// maxRefresh is how often a read begins again with a newer cell map.
const maxRefresh = 3

// located answers where an address lives, with a newer cell map if this one does not know it. An id that the
// newest map does not speak about was never minted: entity.ErrNotFound.
func located[A any](ctx context.Context, s *Service, address A, at func(*cell.Map, A) (cell.ID, error)) (cell.ID, error) {
	id, err := at(s.Map(), address)
	sure := s.cells.Alone() // nobody else writes the map
	for n := 0; n < maxRefresh && !sure && (errors.Is(err, cell.ErrNoCell) || errors.Is(err, cell.ErrStaleMap)); n++ {
		epoch := s.Map().Epoch()
		if err := s.cells.Refresh(ctx); err != nil {
			return id, fmt.Errorf("%w: read the cell map again: %w", ErrUnavailable, err)
		}
		// The first reading may have begun before the id was minted, with somebody else's question. One that
		// finds no newer map has asked the authority.
		sure = n > 0 && s.Map().Epoch() == epoch
		id, err = at(s.Map(), address)
	}
	if sure && errors.Is(err, cell.ErrStaleMap) {
		err = fmt.Errorf("%w: its date lies beyond every cell map", entity.ErrNotFound)
	}
	return id, err
}

// Record answers with the record of an external key. The error is entity.ErrNotFound if it was
// never put, entity.ErrErased if it was deleted.
func (s *Service) Record(ctx context.Context, ref entity.Ref) (*Record, error) {
	rec, err := s.recordOf(ctx, ref)
	if err != nil {
		return nil, err
	}
	of, err := s.withEntities(ctx, []*entity.Record{rec})
	if err != nil {
		return nil, err
	}
	return of[0], nil
}

// recordOf reads the record of an external key.
func (s *Service) recordOf(ctx context.Context, ref entity.Ref) (*entity.Record, error) {
	if problems := checkRef(ref); len(problems) > 0 {
		return nil, &InvalidError{Problems: problems}
	}
	key := s.Map().KeyOf(ref.Source, ref.Key)
	for attempt := 0; ; attempt++ {
		puids, err := s.keys.Lookup(ctx, []cell.Key{key})
		if err != nil {
			return nil, fmt.Errorf("record %v: %w", ref, err)
		}
		if puids[0] == cell.Nothing {
			return present(ref, nil)
		}
		records, err := s.records(ctx, []entity.PUID{entity.PUID(puids[0])})
		if err != nil {
			return nil, err
		}
		if records[0] != nil || attempt > 0 {
			return present(ref, records[0])
		}
		s.keys.Forget(key) // its cell came back from a backup that does not know of the record
	}
}

// record reads the record of a puid.
func (s *Service) record(ctx context.Context, puid entity.PUID) (*entity.Record, error) {
	records, err := s.records(ctx, []entity.PUID{puid})
	if err != nil {
		return nil, err
	}
	return present(puid, records[0])
}

// present is what was found at an address, or the error that says why nothing is there.
func present(address fmt.Stringer, rec *entity.Record) (*entity.Record, error) {
	switch {
	case rec == nil:
		return nil, fmt.Errorf("record %v: %w", address, entity.ErrNotFound)
	case rec.Deleted():
		return nil, fmt.Errorf("record %v: %w", address, entity.ErrErased)
	default:
		return rec, nil
	}
}

// records reads by puid, in order, nil where there is none.
func (s *Service) records(ctx context.Context, puids []entity.PUID) ([]*entity.Record, error) {
	groups := map[cell.ID][]int{}
	for i, p := range puids {
		id, err := located(ctx, s, int64(p), (*cell.Map).Puid)
		if err != nil {
			return nil, fmt.Errorf("record %v: %w", p, err)
		}
		groups[id] = append(groups[id], i)
	}
	records := make([]*entity.Record, len(puids))
	for id, group := range groups {
		want := make([]entity.PUID, len(group))
		for n, i := range group {
			want[n] = puids[i]
		}
		if err := s.view(ctx, id, func(tx resolve.Tx) error {
			found, err := tx.Records(ctx, want)
			for n, rec := range found {
				records[group[n]] = rec
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	for i, rec := range records {
		if rec == nil {
			continue
		}
		if err := s.known(ctx, rec.Kind); err != nil {
			return nil, fmt.Errorf("record %v: %w", puids[i], err)
		}
	}
	return records, nil
}

// withEntities adds the id of its entity to each record.
func (s *Service) withEntities(ctx context.Context, records []*entity.Record) ([]*Record, error) {
	of := make([]*Record, len(records))
	var joined []*Record // to records that were there before them
	var anchors []entity.PUID
	for i, rec := range records {
		of[i] = &Record{Record: rec, Entity: rec.Birth}
		if rec.Anchor != rec.PUID {
			joined, anchors = append(joined, of[i]), append(anchors, rec.Anchor)
		}
	}
	found, err := s.records(ctx, anchors)
	if err != nil {
		return nil, err
	}
	for i, anchor := range found {
		if anchor != nil && !anchor.Deleted() {
			joined[i].Entity = anchor.Birth
		}
	}
	return of, nil
}

// Records lists live records; next is the After of the next page, 0 if there is none.
func (s *Service) Records(ctx context.Context, q RecordQuery) (records []*Record, next entity.PUID, err error) {
	if q.Source != "" && !isSource(q.Source) {
		return nil, 0, &InvalidError{[]Problem{{"/source", "invalid", "no source has such a name"}}}
	}
	page, next, err := list(ctx, s, q.After, q.Limit, q.Damaged, func(tx resolve.Tx, after entity.PUID, limit int) ([]*entity.Record, error) {
		return tx.ListRecords(ctx, q.Source, after, limit)
	}, func(rec *entity.Record) entity.PUID { return rec.PUID })
	if err != nil {
		return nil, 0, err
	}
	records, err = s.withEntities(ctx, page)
	if err != nil && q.Damaged != nil && errors.Is(err, cell.ErrDamaged) {
		records, err = s.withEntitiesApart(ctx, page, q.Damaged)
	}
	return records, next, err
}

// withEntitiesApart is withEntities for records of which one has an anchor that cannot be read: its entity has the id then. If that
// cannot be read either, the record is left out.
func (s *Service) withEntitiesApart(ctx context.Context, page []*entity.Record, damaged func(*cell.DamagedError)) ([]*Record, error) {
	records := make([]*Record, 0, len(page))
	for _, rec := range page {
		of, err := s.withEntities(ctx, []*entity.Record{rec})
		if errors.Is(err, cell.ErrDamaged) {
			var e *entity.Entity
			if e, err = s.entityOf(ctx, rec.Anchor); err == nil {
				of = []*Record{{Record: rec, Entity: e.ID}}
			}
		}
		if row, ok := errors.AsType[*cell.DamagedError](err); ok {
			damaged(row)
			continue
		}
		if err != nil {
			return nil, err
		}
		records = append(records, of...)
	}
	return records, nil
}

// list reads a page of things that every cell holds in the order of their puids. The ranges of
// puids follow each other, so the cells are read one after the other.
func list[T any](ctx context.Context, s *Service, after entity.PUID, limit int, damaged func(*cell.DamagedError),
	read func(resolve.Tx, entity.PUID, int) ([]T, error), puid func(T) entity.PUID,
) (page []T, next entity.PUID, err error) {
	if limit, err = checkLimit(limit); err != nil {
		return nil, 0, err
	}
	cells := slices.SortedFunc(slices.Values(s.Map().Cells()), func(a, b cell.ID) int {
		loA, _ := s.Map().PuidRange(a)
		loB, _ := s.Map().PuidRange(b)
		return cmp.Compare(loA, loB)
	})
	for _, id := range cells {
		lo, hi := s.Map().PuidRange(id)
		from := entity.PUID(lo)
		if after != 0 {
			if int64(after) >= hi {
				continue
			}
			from = max(from, after)
		}
		found, err := listCell(ctx, s, id, from, limit+1-len(page), damaged, read, puid)
		if err != nil {
			return nil, 0, err
		}
		page = append(page, found...)
		if len(page) > limit {
			page = page[:limit]
			return page, puid(page[limit-1]), nil
		}
	}
	return page, 0, nil
}

// listCell reads a part of a page in one cell. Around rows that cannot be read it asks for less and less at once, down to one row,
// which it hands to damaged and passes over.
func listCell[T any](ctx context.Context, s *Service, id cell.ID, after entity.PUID, limit int, damaged func(*cell.DamagedError),
	read func(resolve.Tx, entity.PUID, int) ([]T, error), puid func(T) entity.PUID,
) (page []T, err error) {
	for step := limit; len(page) < limit; {
		var found []T
		wanted := min(step, limit-len(page))
		err := s.view(ctx, id, func(tx resolve.Tx) (err error) {
			found, err = read(tx, after, wanted)
			return err
		})
		row, ok := errors.AsType[*cell.DamagedError](err)
		switch {
		case err != nil && (!ok || damaged == nil):
			return nil, err
		case err != nil && wanted > 1:
			step = wanted / 2
		case err != nil:
			at, parsed := strconv.ParseInt(row.Key, 10, 64)
			if parsed != nil || entity.PUID(at) <= after {
				return nil, err
			}
			damaged(row)
			after, step = entity.PUID(at), limit
		default:
			page = append(page, found...)
			if len(found) < wanted {
				return page, nil
			}
			after = puid(found[len(found)-1])
		}
	}
	return page, nil
}

// Entity answers with the entity that an id leads to, for ever: an id that was merged away leads
// to the survivor. The error is entity.ErrNotFound for an id that was never given out,
// entity.ErrErased if the last record behind it was deleted, and an *InvalidError for an id that is
// not of version b.
func (s *Service) Entity(ctx context.Context, id locality.ID) (*Entity, error) {
	if err := checkID("/id", id); err != nil {
		return nil, err
	}
	passed := map[locality.ID]bool{} // two records that were deleted at once may lead to each other
	for at, seen := id, 0; ; seen++ {
		home, err := located(ctx, s, at, (*cell.Map).Entity)
		if err != nil {
			return nil, fmt.Errorf("entity %v: %w", id, err)
		}
		var birth *entity.Birth
		if err := s.view(ctx, home, func(tx resolve.Tx) error {
			births, err := tx.Births(ctx, []locality.ID{at})
			if err == nil {
				birth = births[0]
			}
			return err
		}); err != nil {
			return nil, err
		}
		switch {
		case birth == nil:
			return nil, fmt.Errorf("entity %v: %w", id, entity.ErrNotFound)
		case birth.PUID == 0 && (birth.Successor.IsZero() || passed[at]):
			return nil, fmt.Errorf("entity %v: %w", id, entity.ErrErased)
		case birth.PUID == 0:
			passed[at] = true
			at = birth.Successor
			continue
		}
		e, err := s.entityOf(ctx, birth.PUID)
		if err != nil {
			return nil, err
		}
		if e != nil {
			return &Entity{Entity: e, Requested: id}, nil
		}
		if seen > maxReread {
			return nil, fmt.Errorf("%w: entity %v is changing, try again", ErrUnavailable, id)
		}
	}
}

// maxReread is how often a read starts again because a merge came in between.
const maxReread = 1000

// entityOf reads the entity of a record; nil if a merge or a deletion came in between.
func (s *Service) entityOf(ctx context.Context, puid entity.PUID) (*entity.Entity, error) {
	records, err := s.records(ctx, []entity.PUID{puid})
	if err != nil {
		return nil, err
	}
	rec := records[0]
	if rec == nil || rec.Deleted() {
		return nil, nil
	}
	home, err := located(ctx, s, int64(rec.Anchor), (*cell.Map).Puid)
	if err != nil {
		return nil, fmt.Errorf("record %v: %w", puid, err)
	}
	var e *entity.Entity
	if err := s.view(ctx, home, func(tx resolve.Tx) error {
		found, err := tx.Entities(ctx, []entity.PUID{rec.Anchor})
		if err == nil {
			e = found[0]
		}
		return err
	}); err != nil {
		return nil, err
	}
	if e == nil && rec.Anchor == rec.PUID {
		return s.resolver.Alone(rec), nil
	}
	return e, nil
}

// Find resolves an address - an entity id, a puid or SOURCE:KEY - to its entity. Only an id can
// have been redirected. The error is an *InvalidError if it is none of these.
func (s *Service) Find(ctx context.Context, address string) (*Entity, error) {
	if id, err := locality.Parse(address); err == nil {
		if err := checkID("/address", id); err != nil {
			return nil, err
		}
		return s.Entity(ctx, id)
	}
	rec, err := s.recordAt(ctx, address)
	if err != nil {
		return nil, err
	}
	e, err := s.Entity(ctx, rec.Birth)
	if err != nil {
		return nil, err
	}
	return &Entity{Entity: e.Entity, Requested: e.ID}, nil
}

// recordAt reads the record of an address; an entity id stands for its anchor.
func (s *Service) recordAt(ctx context.Context, address string) (*entity.Record, error) {
	if id, err := locality.Parse(address); err == nil {
		if err := checkID("/address", id); err != nil {
			return nil, err
		}
		e, err := s.Entity(ctx, id)
		if err != nil {
			return nil, err
		}
		return s.record(ctx, e.Anchor())
	}
	if puid, err := entity.ParsePUID(address); err == nil {
		return s.record(ctx, puid)
	}
	ref, err := ParseRef(address)
	if err != nil {
		return nil, err
	}
	return s.recordOf(ctx, ref)
}

// ParseRef reads SOURCE:KEY; the first colon divides. The error is an *InvalidError.
func ParseRef(address string) (entity.Ref, error) {
	source, key, found := strings.Cut(address, ":")
	if !found {
		return entity.Ref{}, &InvalidError{[]Problem{{"/address", "invalid", "an address is an entity id, a puid, or SOURCE:KEY"}}}
	}
	ref := entity.Ref{Source: source, Key: key}
	if problems := checkRef(ref); len(problems) > 0 {
		return entity.Ref{}, &InvalidError{Problems: problems}
	}
	return ref, nil
}

// MemberRecords reads the records of an entity, in the order of its members. One that was deleted
// since the entity was read is left out.
func (s *Service) MemberRecords(ctx context.Context, e *entity.Entity) ([]*entity.Record, error) {
	puids := make([]entity.PUID, len(e.Members))
	for i, m := range e.Members {
		puids[i] = m.PUID
	}
	records, err := s.records(ctx, puids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(records, func(rec *entity.Record) bool { return rec == nil || rec.Deleted() }), nil
}
