// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/postgres"
)

// A database of format 6 has its postings in a table, which becomes a run, and a list of words, which is removed.
func TestMigrate_PacksPostings(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	p := direct(t)
	d := p.open(t)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	p.server.Exec(t, d.name, "CREATE TABLE word (word text PRIMARY KEY); DROP TABLE posting_state, posting_chunk; CREATE TABLE posting (blocking_key bigint, puid bigint, PRIMARY KEY (blocking_key, puid)); "+
		"INSERT INTO posting SELECT 1::bigint << (n % 64), n FROM generate_series(1, 25000) AS n; DELETE FROM goose_db_version WHERE version_id >= 7")
	if err := d.open(); err != nil {
		t.Fatal(err)
	}
	if err := d.View(t.Context(), func(tx storage.Tx) error {
		rows, err := tx.ReadRows(t.Context(), "posting", nil, 1<<20)
		if len(rows) != 25000 {
			err = fmt.Errorf("%d postings: %w", len(rows), err)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// Two processes post in one cell at the same time and read what the other one has posted and merged.
func TestPost_TwoProcesses(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	one := direct(t).open(t)
	two, err := dialled(t, postgres.NewDriver(nil), one.url, one.id, false)
	if err != nil {
		t.Fatal(err)
	}
	const batches, size, keys = 40, 150, 70
	var wg sync.WaitGroup
	for n, c := range []storage.Cell{one, two} {
		wg.Go(func() {
			for b := range batches {
				add := make([]derived.Posting, size)
				for i := range add {
					add[i] = derived.Posting{Key: uint64(i % keys), PUID: entity.PUID((b*size+i)*2 + n)}
				}
				err := c.Update(t.Context(), func(tx storage.Tx) error { return tx.Post(t.Context(), add, nil) })
				if err == nil {
					err = c.Update(t.Context(), func(tx storage.Tx) error { return has(t.Context(), tx, add) })
				}
				if err == nil {
					err = c.View(t.Context(), func(tx storage.Tx) error { return has(t.Context(), tx, add) })
				}
				if err != nil {
					t.Errorf("process %d, batch %d: %v", n, b, err)
				}
			}
		})
	}
	wg.Wait()
	for _, c := range []storage.Cell{one, two} {
		if err := c.View(t.Context(), func(tx storage.Tx) error {
			rows, err := tx.ReadRows(t.Context(), "posting", nil, 1<<20)
			if len(rows) != 2*batches*size {
				err = fmt.Errorf("%d postings: %w", len(rows), err)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
}

// A vacuum leaves nothing of postings that were removed.
func TestP14_AVacuumForgetsPostings(t *testing.T) {
	t.Parallel()
	d := direct(t).open(t)
	ctx := t.Context()
	add := make([]derived.Posting, 1000)
	for i := range add {
		add[i] = derived.Posting{Key: uint64(i) * 0x9e3779b97f4a7c15, PUID: 1}
	}
	must(t, d.Update(ctx, func(tx storage.Tx) error { return tx.Post(ctx, add, nil) }))
	must(t, d.Update(ctx, func(tx storage.Tx) error { return tx.Post(ctx, nil, add) }))
	must(t, d.Vacuum(ctx))
	must(t, d.View(ctx, func(tx storage.Tx) error {
		rows, err := tx.ReadRows(ctx, "posting_chunk", nil, 1)
		if len(rows) > 0 {
			t.Errorf("a run of removed postings is left: %d bytes", len(rows[0][1].([]byte)))
		}
		return err
	}))
}

// has returns an error unless the records are found by their keys.
func has(ctx context.Context, tx storage.Tx, all []derived.Posting) error {
	found, err := tx.RecordsByKey(ctx, []uint64{all[0].Key, all[1].Key}, []int{1 << 20, 1 << 20})
	for i := range found {
		if !slices.Contains(found[i], all[i].PUID) {
			return fmt.Errorf("record %d is not among the %d of its key", all[i].PUID, len(found[i]))
		}
	}
	return err
}
