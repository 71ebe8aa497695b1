// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// differentMaps compares the head of a cell and its copies of the cell map with the maps of the authority.
func differentMaps(ctx context.Context, e *engine.Engine, id cell.ID) (found []resolve.Difference, err error) {
	var head cell.Head
	if err := e.View(ctx, id, func(tx storage.Tx) (err error) { head, err = tx.Head(ctx); return err }); err != nil {
		return nil, err
	}
	own, err := mapsOf(ctx, e, id)
	if err != nil {
		return nil, err
	}
	// Read the authority last, so that it has every version that the copies can have.
	theirs, err := mapsOf(ctx, e, e.Map().Authority())
	if err != nil {
		return nil, err
	}
	all, newest := map[uint64]string{}, uint64(0)
	for _, m := range theirs {
		if m.Map != nil {
			all[m.Epoch()], newest = m.text, max(newest, m.Epoch())
		}
	}
	note := func(what, stored, want string) {
		found = append(found, resolve.Difference{What: "map", Cell: id, ID: what, Stored: stored, Want: want,
			Advice: "see locus cell list; a growth, or a restart, writes it again"})
	}
	for _, m := range own {
		switch {
		case m.Map == nil:
			note("copy", "a text that is no cell map", "a cell map")
		case m.Epoch() > newest:
			note("copy", fmt.Sprintf("epoch %d", m.Epoch()), fmt.Sprintf("at most %d, which the authority has", newest))
		case all[m.Epoch()] != "" && all[m.Epoch()] != m.text && m.Epoch() < newest:
			note("copy", fmt.Sprintf("another map of epoch %d", m.Epoch()), "what the authority has")
		}
	}
	if head.Epoch > newest {
		note("head", fmt.Sprintf("wants epoch %d", head.Epoch), fmt.Sprintf("at most %d, which the authority has", newest))
	}
	if head.Keys != cell.Open && int(id.Gen) >= e.Map().Current() {
		note("head", "takes no keys", "it is of the current generation")
	}
	return found, nil
}

// storedMap is a version of the cell map as a cell stores it, with no Map if its text is none.
type storedMap struct {
	*cell.Map
	text string
}

// mapsOf reads all versions of the cell map in a cell.
func mapsOf(ctx context.Context, e *engine.Engine, id cell.ID) (all []storedMap, err error) {
	err = e.View(ctx, id, func(tx storage.Tx) error {
		texts, err := tx.CellMaps(ctx)
		all = nil
		for _, text := range texts {
			m, err := cell.ParseMap(text)
			if err != nil {
				m = nil
			}
			all = append(all, storedMap{m, string(text)})
		}
		return err
	})
	return all, err
}
