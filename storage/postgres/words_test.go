// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"slices"
	"testing"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/storage"
)

func putWords(t *testing.T, d *database, anchor entity.PUID, words ...string) {
	t.Helper()
	e := &entity.Entity{ID: locality.Max(), Members: []entity.Member{{PUID: anchor}}}
	if err := d.Update(t.Context(), func(tx storage.Tx) error {
		return tx.PutEntities(t.Context(), []entity.Indexed{{Entity: e, Words: words, Terms: []uint64{1<<64 - 1, 0x5ad6b5ad6b5ad6b5}}})
	}); err != nil {
		t.Fatal(err)
	}
}

func wordsOf(t *testing.T, d *database) (words []string) {
	t.Helper()
	if err := d.View(t.Context(), func(tx storage.Tx) (err error) {
		words, err = tx.Words(context.Background(), "", 100)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return words
}

// A database of format 3 gets the list of the words that its entities have, and no marked ones.
func TestMigrate_ListsTheWords(t *testing.T) {
	t.Parallel()
	p := direct(t)
	d := p.open(t)
	putWords(t, d, 1, "blue", "door", "94110", "пицца", "x")
	want := []string{"blue", "door", "пицца"}
	if got := wordsOf(t, d); !slices.Equal(got, want) {
		t.Fatalf("the words are %q, want %q", got, want)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	p.server.Exec(t, d.name, "DROP TABLE posting_state, posting_chunk; CREATE TABLE posting (blocking_key bigint, puid bigint, PRIMARY KEY (blocking_key, puid)); ALTER TABLE locus_lease DROP COLUMN address; DROP TABLE audit; DROP FUNCTION audit_keep; DROP TABLE word; DELETE FROM goose_db_version WHERE version_id >= 4")
	if err := d.open(); err != nil {
		t.Fatal(err)
	}
	if got := wordsOf(t, d); !slices.Equal(got, want) {
		t.Errorf("the words after the migration are %q, want %q", got, want)
	}
}

// A vacuum removes words that no entity has any more.
func TestVacuum_PrunesWords(t *testing.T) {
	t.Parallel()
	d := direct(t).open(t)
	putWords(t, d, 1, "zephyr", "o\u2019brien")
	putWords(t, d, 1, "trampolines")
	if err := d.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := wordsOf(t, d); !slices.Equal(got, []string{"trampolines"}) {
		t.Errorf("the words after a vacuum are %q, want trampolines", got)
	}
}
