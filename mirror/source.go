// SPDX-License-Identifier: Apache-2.0

package mirror

import (
	"context"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
)

// Source is an installation, here or behind a network. What it answers was committed, and never older than what
// it answered before. An error that wraps cell.ErrUnavailable means: ask again.
type Source interface {
	// Installation answers with the id of the cell map, which tells installations apart, and the cells of
	// today; there may be more tomorrow.
	Installation(ctx context.Context) (id string, cells []cell.ID, err error)
	// Tail is where the logs of all cells end now: everything acknowledged before the call lies up to it.
	Tail(ctx context.Context) (map[cell.ID]changelog.Seq, error)
	// Changes are those of one cell after a place, in order, at most limit. The error is changelog.ErrTrimmed if
	// some of them were trimmed, or if the log never came to that place.
	Changes(ctx context.Context, of cell.ID, after changelog.Seq, limit int) ([]changelog.Change, error)
	// ListStates answers with the states of all ids of a cell after one of them, in order, at most limit and at
	// least one, if there are more. The zero id is before all.
	ListStates(ctx context.Context, of cell.ID, after locality.ID, limit int) ([]State, error)
	// States answers with the states of ids, and of the birth ids of records, in no order, each once. A record
	// that is not there, or not any more, is left out.
	States(ctx context.Context, ids []locality.ID, records []entity.PUID) ([]State, error)
}

// MostStates is how many ids and records States is asked for at once, and ListStates, at most.
const MostStates = 200

// touched are the ids whose state changes may have changed, and the records whose birth ids are, each once.
func touched(changes []changelog.Change) (ids []locality.ID, records []entity.PUID) {
	for i := range changes {
		c := &changes[i]
		switch c.Kind {
		case changelog.Assigned:
			records = append(records, puids(c.After)...)
		case changelog.Put:
			if len(c.Before) == 0 { // a new version changes its entity, which has a change of its own
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

// moved are the records of an entity whose redirects may lead elsewhere after a change: those that came or went, or
// all if the anchor may have another birth id now, since it was deleted and came back, which takes two versions.
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
