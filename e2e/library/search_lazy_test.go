// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entities"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// counted wraps cells in files and counts the entities that searches read.
type counted struct {
	storage.Driver
	read, searches atomic.Int64
}

type countedCell struct {
	cell.Opened[storage.Tx]
	*counted
}

type countedTx struct {
	storage.Tx
	*counted
}

func (d *counted) Dial(ctx context.Context, url string, create bool) (cell.Opened[storage.Tx], error) {
	c, err := d.Driver.Dial(ctx, url, create)
	return countedCell{c, d}, err
}

func (c countedCell) View(ctx context.Context, fn func(storage.Tx) error) error {
	return c.Opened.View(ctx, func(tx storage.Tx) error { return fn(countedTx{tx, c.counted}) })
}

func (tx countedTx) Search(ctx context.Context, q entity.Query) ([]*entity.Entity, error) {
	found, err := tx.Tx.Search(ctx, q)
	tx.searches.Add(1)
	tx.read.Add(int64(len(found)))
	return found, err
}

// TestP12_ASearchReadsWhatItShows reads the first page of a search with many results in each cell. It costs about as
// much as the page, for any number of cells, and all results are in order.
func TestP12_ASearchReadsWhatItShows(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	const cells = 8
	files := "sqlite:" + filepath.Join(t.TempDir(), "g{g}-{i}.db")
	driver, err := storage.DriverOf(files)
	if err != nil {
		t.Fatal(err)
	}
	d := &counted{Driver: driver}
	opened, err := cell.OpenCells(t.Context(), cell.CellsOptions[storage.Tx]{
		Authority: strings.NewReplacer("{g}", "0", "{i}", "0").Replace(files), Alone: true,
		New:    &cell.Spec{Generations: []cell.Generation{{Cells: cells, URLs: []string{files}}}},
		Driver: func(string) (storage.Driver, error) { return d, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := locus.OpenCells(t.Context(), opened, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var puts []records.Input
	for i := range 800 {
		p := business("a", fmt.Sprint(i), fmt.Sprintf("Shop %c%c%c", 'a'+i%26, 'a'+i/26%26, 'b'+i%7), "Oakland", "cafe")
		for n := range i % 4 {
			p.Attributes[[]string{"phones", "websites", "hours"}[n]] = []string{[]string{fmt.Sprintf("510-555-%04d", i),
				fmt.Sprintf("https://shop%d.example", i), "Mo-Su 10:00-20:00"}[n]}
		}
		puts = append(puts, p)
	}
	put(t, s, puts...)
	for _, q := range []entities.Query{{Text: "shop", Limit: 100}, {Order: entities.OrderBest, Limit: 100}, {Text: "shop", Order: entities.OrderID, Limit: 100}} {
		d.read.Store(0)
		d.searches.Store(0)
		page, next, err := s.Entities().Search(t.Context(), q)
		if err != nil || len(page) != 100 || next == (entity.Place{}) {
			t.Fatalf("%+v: %d entities, next %v, %v", q, len(page), next, err)
		}
		if read, searches := d.read.Load(), d.searches.Load(); read > 280 || searches > 5*cells {
			t.Errorf("%+v: %d entities were read in %d searches for a page of 100", q, read, searches)
		}
		var inOne []*entity.Entity
		for e, err := range s.Entities().Each(t.Context(), q) {
			if err != nil {
				t.Fatal(err)
			}
			inOne = append(inOne, e.Entity)
		}
		sorted := slices.IsSortedFunc(inOne, func(a, b *entity.Entity) int {
			if d := b.Rank.Points() - a.Rank.Points(); d != 0 && q.Order != entities.OrderID {
				return d
			}
			return int(min(max(a.Anchor()-b.Anchor(), -1), 1))
		})
		status, err := s.Cells().Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(inOne)) != status.Counts.Entities || !sorted {
			t.Errorf("%+v: %d of %d entities, sorted %v", q, len(inOne), status.Counts.Entities, sorted)
		}
	}
}
