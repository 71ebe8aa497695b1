// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/running"
	"github.com/locus-db/locus/source"
	"github.com/locus-db/locus/storage"
)

// store keeps the progress of one source at one revision of its definition.
type store struct {
	h        *Handle
	name     string
	revision int64
	saved    source.Progress // last
}

// Load reads the progress. If a cell was restored from a backup since reading began, the position is the beginning.
func (s *store) Load(ctx context.Context) (p source.Progress, err error) {
	if err := s.h.catalog.View(ctx, func(tx storage.Tx) error {
		p, err = running.Read[source.Progress](ctx, tx, progressName(s.name))
		return err
	}); err != nil {
		return p, err
	}
	s.saved = p
	returns := s.h.returns(ctx, p.Returns)
	for id, n := range returns {
		if before, known := p.Returns[id]; known && n > before && len(p.Position.Next) > 0 {
			s.h.engine.Logger.Warn("source stream restarts from the beginning: its cell was restored from a backup", "source",
				s.name, "cell", id)
			p.Position = source.Position{}
		}
	}
	p.Returns = returns
	return p, nil
}

// returns returns how often each cell was restored from a backup; for an unavailable cell the value in known.
func (h *Handle) returns(ctx context.Context, known map[string]int) map[string]int {
	all := maps.Clone(known)
	if all == nil {
		all = map[string]int{}
	}
	cells := h.engine.Map().Cells()
	counts := make([]int, len(cells))
	_ = h.engine.Parallel(cells, func(i int, id cell.ID) error {
		counts[i] = -1
		return h.engine.View(ctx, id, func(tx storage.Tx) error {
			head, err := tx.Head(ctx)
			if err == nil {
				counts[i] = head.Returns
			}
			return err
		})
	})
	for i, id := range cells {
		if counts[i] >= 0 {
			all[id.String()] = counts[i]
		}
	}
	return all
}

// Save writes the progress and the letters unless the lease is lost or the definition is another one. Without anything
// new it only reads.
func (s *store) Save(ctx context.Context, token int64, p *source.Progress, add []source.Letter,
	remove []source.At) (again []source.Letter, err error) {
	run := s.h.engine.Update
	quiet := len(add)+len(remove) == 0 && same(*p, s.saved)
	if quiet {
		run = s.h.engine.View
	}
	err = run(ctx, s.h.engine.Map().Authority(), func(tx storage.Tx) error {
		letters, err := s.admitted(ctx, tx, token)
		if err != nil {
			return err
		}
		again = nil
		letters = slices.DeleteFunc(letters, func(l source.Letter) bool { return slices.Contains(remove, l.At) })
		for _, l := range add {
			if i := slices.IndexFunc(letters, func(old source.Letter) bool { return old.At == l.At }); i >= 0 {
				letters[i] = l
			} else {
				letters = append(letters, l)
			}
		}
		slices.SortFunc(letters, func(a, b source.Letter) int {
			return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
		})
		for _, l := range letters {
			if l.Again {
				again = append(again, l)
			}
		}
		p.Dead = len(letters)
		if quiet {
			return nil
		}
		if len(add)+len(remove) > 0 {
			if err := running.Put(ctx, tx, deadName(s.name), letters); err != nil {
				return err
			}
		}
		return running.Put(ctx, tx, progressName(s.name), *p)
	})
	if err == nil && !quiet {
		s.saved = *p
	}
	return again, err
}

// admitted returns the dead letters if the owner of the token may write.
func (s *store) admitted(ctx context.Context, tx storage.Tx, token int64) ([]source.Letter, error) {
	if err := running.CheckOwner(ctx, tx, source.LeaseName(s.name), s.h.catalog.Owner, token); err != nil {
		return nil, err
	}
	if err := rows.Check(ctx, tx, s.name, s.revision); err != nil {
		return nil, err
	}
	return running.Read[[]source.Letter](ctx, tx, deadName(s.name))
}

// same reports whether two progresses differ in the time of saving alone.
func same(a, b source.Progress) bool {
	a.Saved, b.Saved = time.Time{}, time.Time{}
	a.Dead, b.Dead = 0, 0
	return reflect.DeepEqual(a, b)
}
