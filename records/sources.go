// SPDX-License-Identifier: Apache-2.0

package records

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/storage"
)

// Source is a source that has live records.
type Source struct {
	Name    string
	Records int64
	// Created of the records created their entities; the others matched one.
	Created int64
	// Newest is the latest time at which the source observed one of its records.
	Newest time.Time
	// Kinds are the same by kind, in the order of their names.
	Kinds []entity.SourceCount
}

// sourcesPage is how many records of a cell are counted in one transaction.
const sourcesPage = 100_000

// Sources returns all sources, by name. It reads every record, without its content: about a second for a million.
// Records that are written at the same time may be counted as they were before or after. An unreachable cell is an
// error.
func (h *Handle) Sources(ctx context.Context) ([]Source, error) {
	if err := h.engine.Refresh(ctx); err != nil {
		return nil, err
	}
	cells := h.engine.ByPUID()
	pages := make([][]entity.SourceCount, len(cells))
	if err := h.engine.Parallel(cells, func(i int, id cell.ID) error {
		for after := engine.FirstPUID; after != 0; {
			var counts []entity.SourceCount
			if err := h.engine.View(ctx, id, func(tx storage.Tx) (err error) {
				counts, after, err = tx.CountRecords(ctx, after, sourcesPage)
				return err
			}); err != nil {
				return fmt.Errorf("count the records of cell %v: %w", id, err)
			}
			pages[i] = append(pages[i], counts...)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	type name struct{ source, kind string }
	totals := map[name]*entity.SourceCount{}
	for _, c := range slices.Concat(pages...) {
		of := name{c.Source, c.Kind}
		if totals[of] == nil {
			totals[of] = &entity.SourceCount{Source: c.Source, Kind: c.Kind}
		}
		total := totals[of]
		total.Created += c.Created
		if total.Records += c.Records; c.Newest.After(total.Newest) {
			total.Newest = c.Newest
		}
	}
	sorted := make([]*entity.SourceCount, 0, len(totals))
	for _, c := range totals {
		sorted = append(sorted, c)
	}
	slices.SortFunc(sorted, func(a, b *entity.SourceCount) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Kind, b.Kind))
	})
	var sources []Source
	for _, c := range sorted {
		if n := len(sources); n == 0 || sources[n-1].Name != c.Source {
			sources = append(sources, Source{Name: c.Source})
		}
		s := &sources[len(sources)-1]
		s.Kinds, s.Records, s.Created = append(s.Kinds, *c), s.Records+c.Records, s.Created+c.Created
		if c.Newest.After(s.Newest) {
			s.Newest = c.Newest
		}
	}
	return sources, nil
}

// Source returns one source, as Sources does. The error is entity.ErrNotFound if it has no live records.
func (h *Handle) Source(ctx context.Context, name string) (*Source, error) {
	if !isSource(name) {
		return nil, problem.Invalid("/source", "invalid", "no source has such a name")
	}
	all, err := h.Sources(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(s Source) bool { return s.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("source %s: %w", name, entity.ErrNotFound)
	}
	return &all[i], nil
}
