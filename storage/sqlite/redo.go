// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
)

var insertRedo = inserting("redo (puid, version, decided, lost)", 4, "ON CONFLICT DO NOTHING")

// PutRedo inserts the entries, several per statement. If one exists, which is rare, all of its statement are read,
// merged and written again.
func (t *tx) PutRedo(ctx context.Context, entries []derived.Redo) ([]derived.Redo, error) {
	if err := t.alter(ctx); err != nil {
		return nil, err
	}
	there, err := insertAll(t, insertRedo, inOrder(entries, compareRedo), func(to *list, e derived.Redo) {
		to.add(int64(e.PUID), e.Version, e.Decided, lostOrNull(e.LostKeys))
	})
	merged := make(map[entity.PUID]derived.Redo, len(there))
	for _, e := range there {
		if err == nil {
			merged[e.PUID], err = t.mergeRedo(ctx, e)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("put %d redo entries: %w", len(entries), err)
	}
	now := slices.Clone(entries)
	for i, e := range now {
		if m, ok := merged[e.PUID]; ok {
			now[i] = m
		}
	}
	return now, nil
}

func compareRedo(a, b derived.Redo) int { return cmp.Compare(a.PUID, b.PUID) }

// mergeRedo merges e into the stored entry and returns the result.
func (t *tx) mergeRedo(ctx context.Context, e derived.Redo) (derived.Redo, error) {
	var now derived.Redo
	if err := t.query(ctx, "SELECT puid, version, decided, lost FROM redo WHERE puid = ?", func(r row) (err error) {
		now, err = readRedo(r)
		return err
	}, int64(e.PUID)); err != nil {
		return now, err
	}
	now.Version, now.Decided = max(now.Version, e.Version), max(now.Decided, e.Decided)
	for _, key := range e.LostKeys {
		if !slices.Contains(now.LostKeys, key) {
			now.LostKeys = append(now.LostKeys, key)
		}
	}
	return now, t.exec("UPDATE redo SET version = ?2, decided = ?3, lost = ?4 WHERE puid = ?1", int64(e.PUID),
		now.Version, now.Decided, lostOrNull(now.LostKeys))
}

// lostOrNull encodes blocking keys, or returns NULL for none.
func lostOrNull(keys []uint64) any {
	if len(keys) == 0 {
		return nil
	}
	lost := make([]byte, 0, 8*len(keys))
	for _, key := range keys {
		lost = binary.BigEndian.AppendUint64(lost, key)
	}
	return lost
}

// Redo reads the table in order.
func (t *tx) Redo(ctx context.Context, after entity.PUID, limit int) ([]derived.Redo, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	entries, err := rows(ctx, t, readRedo, "SELECT puid, version, decided, lost FROM redo WHERE puid > ? ORDER BY puid LIMIT +?", int64(after), int64(limit))
	if err != nil {
		return nil, fmt.Errorf("read redo entries: %w", err)
	}
	return entries, nil
}

func readRedo(r row) (derived.Redo, error) {
	e, lost := derived.Redo{PUID: entity.PUID(r.int(0)), Version: r.int(1), Decided: r.int(2)}, r.blob(3)
	if len(lost)%8 != 0 {
		return e, cell.Damaged("redo", e.PUID, fmt.Errorf("%d bytes of blocking keys", len(lost)))
	}
	for ; len(lost) > 0; lost = lost[8:] {
		e.LostKeys = append(e.LostKeys, binary.BigEndian.Uint64(lost))
	}
	return e, nil
}

// ClearRedo runs a statement for each run of successive puids with the same version, as new records have.
func (t *tx) ClearRedo(ctx context.Context, entries []derived.Redo) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	sorted := inOrder(entries, compareRedo)
	var runs [][]derived.Redo
	for from := 0; from < len(sorted); {
		to := from + 1
		for to < len(sorted) && follows(sorted[to-1], sorted[to]) {
			to++
		}
		runs, from = append(runs, sorted[from:to]), to
	}
	err := each(t, "DELETE FROM redo WHERE puid BETWEEN ? AND ? AND version <= ? AND decided <= ?", runs,
		func(s *stmt, run []derived.Redo) error {
			return s.exec(int64(run[0].PUID), int64(run[len(run)-1].PUID), run[0].Version, run[0].Decided)
		})
	if err != nil {
		return fmt.Errorf("clear %d redo entries: %w", len(entries), err)
	}
	return nil
}

// follows reports whether b is the next entry after a and differs in nothing else.
func follows(a, b derived.Redo) bool {
	return b.PUID == a.PUID+1 && b.Version == a.Version && b.Decided == a.Decided
}

// RedoDepth counts the rows, which are few.
func (t *tx) RedoDepth(ctx context.Context) (depth int, err error) {
	if err := t.use(ctx); err != nil {
		return 0, err
	}
	err = t.query(ctx, "SELECT count(*) FROM redo", func(r row) error { depth = int(r.int(0)); return nil })
	if err != nil {
		return 0, fmt.Errorf("count redo entries: %w", err)
	}
	return depth, nil
}
