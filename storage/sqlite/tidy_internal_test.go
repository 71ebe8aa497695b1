// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage"
)

// A cell that was written to in small transactions has many segments of words, and pages in its log. Tidy leaves one
// segment and no pages, and does not count as a lasting write.
func TestTidy_LeavesOneSegment(t *testing.T) {
	t.Parallel()
	c, ctx := openCell(t), t.Context()
	for anchor := range entity.PUID(30) {
		e := &entity.Entity{ID: locality.Max(), Members: []entity.Member{{PUID: 1 + anchor}}}
		if err := c.Update(ctx, func(tx storage.Tx) error {
			return tx.PutEntities(ctx, []entity.Indexed{{Entity: e, Words: []string{"blue", "door"}}})
		}); err != nil {
			t.Fatal(err)
		}
	}
	nothing := func(tx storage.Tx) error { return tx.DeleteEntities(ctx, nil) }
	if err := c.Update(ctx, nothing); err != nil { // counts the rows that the index wrote with the last commit
		t.Fatal(err)
	}
	segments := func() int64 {
		w := <-c.writer
		defer func() { c.writer <- w }()
		r, err := w.do("SELECT count(DISTINCT segid) FROM search_idx")
		if err != nil {
			t.Fatal(err)
		}
		return r.int(0)
	}
	was, err := c.Pulse(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n := segments(); n < 2 {
		t.Fatalf("%d segments before", n)
	}
	for more := true; more; {
		if more, err = c.Tidy(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if n := segments(); n != 1 || c.pending != 0 {
		t.Errorf("%d segments, %d pages in the log", n, c.pending)
	}
	if err := c.Update(ctx, nothing); err != nil {
		t.Fatal(err)
	}
	if p, err := c.Pulse(ctx); err != nil || p != was {
		t.Errorf("the pulse is %v, %v; it was %v", p, err, was)
	}
	if err := c.View(ctx, func(tx storage.Tx) error {
		found, err := tx.Search(ctx, entity.Query{Words: []string{"blue", "door"}, Limit: 100})
		if len(found) != 30 {
			t.Errorf("%d entities are found", len(found))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	w := <-c.writer
	more, err := c.Tidy(ctx)
	if c.writer <- w; !more || err != nil {
		t.Errorf("while it is written to: more %v, %v", more, err)
	}
}

// Once they are opened, files of older programs are merged like new ones. Their content is unchanged.
func TestTune_FilesThatExist(t *testing.T) {
	t.Parallel()
	path, ctx := filepath.Join(t.TempDir(), "cell.db"), t.Context()
	var was cell.Pulse
	for round := range 2 {
		c, err := Open(ctx, path, cell.Identity{Map: "m", Lo: 0, Hi: 1 << 32}, nil)
		if err != nil {
			t.Fatal(err)
		}
		nothing := func(tx storage.Tx) error { return tx.DeleteEntities(ctx, nil) }
		if err := c.Update(ctx, nothing); err != nil {
			t.Fatal(err)
		}
		is, err := c.Pulse(ctx)
		if err != nil || round > 0 && is != was {
			t.Errorf("the pulse is %v, %v; it was %v", is, err, was)
		}
		was = is
		w := <-c.writer
		for _, s := range mergeSettings {
			if r, err := w.do("SELECT v FROM search_config WHERE k = ?", s.name); err != nil || len(r) == 0 || r.int(0) != s.value {
				t.Errorf("%s is %v, %v, want %d", s.name, r, err, s.value)
			}
			if _, err := w.do("INSERT INTO search (search, rank) VALUES (?, 4)", s.name); err != nil {
				t.Fatal(err)
			}
		}
		c.writer <- w
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
