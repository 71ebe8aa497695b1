// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/sqlite"
)

// A file of format 5 has its postings in a table, which becomes a run.
func TestMigrate_PacksPostings(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cell.db")
	c, err := sqlite.Open(t.Context(), path, identity(), nil)
	if err == nil {
		err = c.Close()
	}
	if err == nil {
		err = sqlite.Script(path, `DROP TABLE posting_state; DROP TABLE posting_chunk;
			CREATE TABLE posting (blocking_key INTEGER NOT NULL, puid INTEGER NOT NULL, PRIMARY KEY (blocking_key, puid)) STRICT, WITHOUT ROWID;
			WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 25000) INSERT INTO posting SELECT 1 << (i % 64), i FROM n;
			DELETE FROM goose_db_version WHERE version_id >= 6; PRAGMA user_version = 5`)
	}
	if err == nil {
		c, err = sqlite.Open(t.Context(), path, identity(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.View(t.Context(), func(tx storage.Tx) error {
		rows, err := tx.ReadRows(t.Context(), "posting", nil, 1<<20)
		if len(rows) != 25000 {
			err = fmt.Errorf("%d postings: %w", len(rows), err)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// A vacuum leaves nothing of postings that were removed.
func TestP14_AVacuumForgetsPostings(t *testing.T) {
	t.Parallel()
	f := openFile(t)
	ctx := t.Context()
	add := make([]derived.Posting, 1000)
	for i := range add {
		add[i] = derived.Posting{Key: uint64(i) * 0x9e3779b97f4a7c15, PUID: 1}
	}
	for _, post := range []func(tx storage.Tx) error{
		func(tx storage.Tx) error { return tx.Post(ctx, add, nil) },
		func(tx storage.Tx) error { return tx.Post(ctx, nil, add) },
	} {
		if err := f.Update(ctx, post); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Vacuum(ctx); err != nil {
		t.Fatal(err)
	}
	if err := f.View(ctx, func(tx storage.Tx) error {
		rows, err := tx.ReadRows(ctx, "posting_chunk", nil, 1)
		if len(rows) > 0 {
			t.Errorf("a run of removed postings is left: %d bytes", len(rows[0][1].([]byte)))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestRecordsByKey_InSeveralStatements reads more blocking keys than a statement does, in any order, many of which
// reach their limits.
func TestRecordsByKey_InSeveralStatements(t *testing.T) {
	t.Parallel()
	f := openFile(t)
	const all = 300
	var add []derived.Posting
	var keys []uint64
	var limits []int
	var want [][]entity.PUID
	for i := range uint64(all) {
		key := i*0x9e3779b97f4a7c15 + 1
		var carriers []entity.PUID
		for n := range i % 5 {
			carriers = append(carriers, entity.PUID(1+n))
			add = append(add, derived.Posting{Key: key, PUID: entity.PUID(1 + n)})
		}
		limit := 1 + int(i*7%4)
		keys, limits, want = append(keys, key), append(limits, limit), append(want, carriers[:min(limit, len(carriers))])
	}
	slices.SortFunc(add, func(a, b derived.Posting) int { return cmp.Compare(a.Key, b.Key) })
	if err := f.Update(t.Context(), func(tx storage.Tx) error { return tx.Post(t.Context(), add, nil) }); err != nil {
		t.Fatal(err)
	}
	err := f.View(t.Context(), func(tx storage.Tx) error {
		got, err := tx.RecordsByKey(t.Context(), keys, limits)
		for i := range got {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("blocking key %d: %v, want %v", i, got[i], want[i])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
