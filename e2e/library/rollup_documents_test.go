// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
	"github.com/locus-db/locus/storage/mongodb"
)

// apart stores the groups of a rollup in MongoDB.
func apart(d rollup.Definition) rollup.Definition {
	d.Store = rollup.InMongoDB
	return d
}

// withDocuments opens an installation with a document database.
func withDocuments(t *testing.T, dir, uri string, opts storage.Options) *locus.DB {
	t.Helper()
	cells, err := storage.Open(t.Context(), dir, &opts)
	must(t, err)
	d, err := mongodb.Open(t.Context(), uri, &mongodb.Options{UnsafeDurability: true, Timeout: patience(t)})
	must(t, err)
	docs, err := d.Documents(t.Context())
	must(t, err)
	s, err := locus.OpenCells(t.Context(), cells, &locus.Options{Documents: docs})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// Some rollups have their groups in MongoDB and others do not; they are switched to the cells and back under load.
func TestP04_P05_LiveServiceOfDocuments(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := withDocuments(t, t.TempDir(), mongotest.URI(t), storage.Options{Cells: 3, Notice: time.Second})
	live(t, s, func(n int) rollup.Definition {
		if n%2 == 0 {
			return byCategory
		}
		return apart(byCategory)
	}, apart(byCategory), apart(bySource), byNumber)
}

// A moved cell lives in another database, and its documents are rebuilt: they must not contain more than the log.
func TestP04_P05_MovedCellOfDocuments(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	s := withDocuments(t, t.TempDir(), mongotest.URI(t), storage.Options{Cells: 2, Notice: time.Second})
	define(t, s, apart(byCategory))
	put(t, s, place("1", "Velvet Books", "shop", "Oakland"), place("2", "Basalt Forge", "shop", "Oakland"))
	before := latest(t, s, "by_category")
	if _, err := s.Cells().Move(t.Context(), cell.ID{}, cell.Destination{URL: "sqlite:" + filepath.Join(t.TempDir(), "moved.db")}, func(cell.MoveProgress) {}); err != nil {
		t.Fatal(err)
	}
	put(t, s, place("3", "Quill Dental", "dentist", "Oakland"))
	after := latest(t, s, "by_category")
	if !after.Watermark.Contains(before.Watermark) || len(after.Groups) != 2 {
		t.Errorf("at %v there are %v, before at %v", after.Watermark, after.Groups, before.Watermark)
	}
	wantTrue(t, s, "by_category")
}

func TestRollup_DocumentsHaveToBeThere(t *testing.T) {
	t.Parallel()
	_, _, err := fresh(t).Rollups().Define(t.Context(), apart(byCategory))
	if invalid, ok := errors.AsType[*rollup.InvalidError](err); !ok || !strings.Contains(invalid.Error(), "--mongodb") {
		t.Errorf("a rollup in MongoDB, where there is none: %v", err)
	}
}
