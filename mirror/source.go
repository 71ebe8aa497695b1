// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

// Source is an installation, local or remote. It returns committed data, never older than what it returned
// before. An error that wraps cell.ErrUnavailable may be retried.
type Source interface {
	// Installation returns the ID of the cell map, which identifies the installation, and its current cells;
	// cells may be added later.
	Installation(ctx context.Context) (id string, cells []cell.ID, err error)
	// Tail returns the current ends of the logs of all cells: everything acknowledged before the call is at or
	// before them.
	Tail(ctx context.Context) (map[cell.ID]changelog.Seq, error)
	// Changes returns at most limit changes of one cell after a log position, in order. The error is
	// changelog.ErrTrimmed if some of them were trimmed, or if the log was never at that position.
	Changes(ctx context.Context, of cell.ID, after changelog.Seq, limit int) ([]changelog.Change, error)
	// ListStates returns at most limit states of all IDs of a cell after the given ID, in order, and at least one
	// if there are more. The zero ID is before all.
	ListStates(ctx context.Context, of cell.ID, after locality.ID, limit int) ([]State, error)
	// States returns the states of ids and of the birth IDs of records, in any order, each once. Missing and deleted
	// records are left out.
	States(ctx context.Context, ids []locality.ID, records []entity.PUID) ([]State, error)
}

// MostStates limits the IDs and records in a call of States, and the limit of ListStates.
const MostStates = 200

// Touched returns the IDs whose states changes may have changed, sorted, each once. It asks source for the birth IDs
// of the records that may have moved.
func Touched(ctx context.Context, source Source, changes []changelog.Change) ([]locality.ID, error) {
	ids, records := touched(changes)
	for part := range slices.Chunk(records, MostStates) {
		states, err := source.States(ctx, nil, part)
		if err != nil {
			return nil, fmt.Errorf("read the ids of %d records: %w", len(part), err)
		}
		for i := range states {
			ids = append(ids, states[i].ID)
		}
	}
	slices.SortFunc(ids, locality.ID.Compare)
	return slices.Compact(ids), nil
}

// touched returns the IDs whose states changes may have changed, and the records whose birth IDs may have, each
// once.
func touched(changes []changelog.Change) (ids []locality.ID, records []entity.PUID) {
	for i := range changes {
		c := &changes[i]
		switch c.Kind {
		case changelog.Assigned:
			records = append(records, puids(c.After)...)
		case changelog.Put:
			if len(c.Before) == 0 { // a new version changes its entity, which logs its own change
				ids = append(ids, c.Entity)
			}
		case changelog.Deleted:
			ids = append(ids, c.Entity)
		case changelog.Created, changelog.Changed, changelog.Merged, changelog.Split, changelog.Retired:
			ids = append(ids, c.Entity)
			records = append(records, moved(c.Before, c.After)...)
		}
	}
	slices.SortFunc(ids, locality.ID.Compare)
	slices.Sort(records)
	return slices.Compact(ids), slices.Compact(records)
}

func puids(versions []changelog.Version) []entity.PUID {
	list := make([]entity.PUID, len(versions))
	for i, v := range versions {
		list[i] = v.PUID
	}
	return list
}

// moved returns the records whose redirects may have changed: those that joined or left the entity. It returns all if
// the anchor may have a new birth ID because it was deleted and came back, which takes two versions.
func moved(before, after []changelog.Version) (records []entity.PUID) {
	was, is := puids(before), puids(after)
	if len(was) > 0 && len(is) > 0 && (was[0] != is[0] || after[0].Version > before[0].Version+1) {
		return append(was, is...)
	}
	for _, p := range was {
		if !slices.Contains(is, p) {
			records = append(records, p)
		}
	}
	for _, p := range is {
		if !slices.Contains(was, p) {
			records = append(records, p)
		}
	}
	return records
}
