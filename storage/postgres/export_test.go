// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
)

// ErrBucketsMissing exports errSpansMissing.
var ErrBucketsMissing = errBucketsMissing

// LeaveRoom makes the cell continue as if all but n of its puids had been given out.
func LeaveRoom(c *Cell, n int64) error {
	return c.Update(context.Background(), func(t storage.Tx) error {
		t.(*tx).exec("SELECT setval('locus_puid', (SELECT hi FROM locus_cell) - $1)", n)
		return nil
	})
}

// AllocateAlone runs the statements of an update that allocates a key, with or without the gate.
func AllocateAlone(ctx context.Context, on *pgx.Conn, k cell.Key, gate bool) error {
	b := new(pgx.Batch)
	b.Queue("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
	if gate {
		b.Queue(sqlGate)
	} else {
		b.Queue(sqlHead)
	}
	if err := on.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	keys := []cell.Key{k}
	b = new(pgx.Batch)
	b.Queue(sqlUsed)
	b.Queue(sqlLookup, rings(keys), digests(keys))
	if err := on.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	if _, err := on.Exec(ctx, sqlAllocate, rings(keys), digests(keys)); err != nil {
		return err
	}
	_, err := on.Exec(ctx, "COMMIT")
	return err
}
