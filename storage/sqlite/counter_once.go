// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/storage/internal/document"
)

// DedupHorizon reads one row. In an Update no other transaction can write it.
func (t *tx) DedupHorizon(ctx context.Context) (floor int64, err error) {
	if err := t.use(ctx); err != nil {
		return 0, err
	}
	err = t.query(ctx, "SELECT horizon FROM counter_horizon", func(r row) error { floor = r.int(0); return nil })
	if err != nil {
		return 0, fmt.Errorf("read floor of counters: %w", err)
	}
	return floor, nil
}

// RaiseDedupHorizon updates one row.
func (t *tx) RaiseDedupHorizon(ctx context.Context, floor int64) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if err := t.exec("UPDATE counter_horizon SET horizon = ?1, sum = ?2 WHERE horizon < ?1", floor, cell.Sum(int64(1), floor)); err != nil {
		return fmt.Errorf("raise floor of counters: %w", err)
	}
	return nil
}

const (
	sqlBatches   = "SELECT j.key, 0, b.newest, b.print, b.results FROM json_each(?) AS j CROSS JOIN counter_key AS b ON b.key = j.value"
	sqlProducers = "SELECT j.key, b.seq, b.newest, b.print, b.results FROM json_each(?) AS j CROSS JOIN counter_producer AS b ON b.producer = unhex(j.value)"

	sqlPutBatch = `INSERT INTO counter_key (key, newest, print, results, sum) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET newest = excluded.newest, print = excluded.print, results = excluded.results, sum = excluded.sum`
	sqlPutProducer = `INSERT INTO counter_producer (producer, seq, newest, print, results, sum) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (producer) DO UPDATE SET seq = excluded.seq, newest = excluded.newest, print = excluded.print, results = excluded.results,
		sum = excluded.sum`

	sqlDropBatches   = "DELETE FROM counter_key WHERE key IN (SELECT key FROM counter_key WHERE newest < ? LIMIT +?)"
	sqlDropProducers = "DELETE FROM counter_producer WHERE producer IN (SELECT producer FROM counter_producer WHERE newest < ? LIMIT +?)"
)

func readDedupRecord(r row) (of counter.DedupRecord, err error) {
	of = counter.DedupRecord{Seq: uint64(r.int(1)), Newest: r.int(2), Results: r.blob(4)}
	if print := r.blob(3); copy(of.Print[:], print) != len(print) {
		err = cell.Damaged("counter_key", "", fmt.Errorf("a fingerprint of %d bytes", len(print)))
	}
	return of, err
}

// dedup returns the rows stored under each of n keys, given as a JSON array.
func (t *tx) dedup(ctx context.Context, sql string, n int, keys string) ([]counter.DedupRecord, error) {
	found := make([]counter.DedupRecord, n)
	if n == 0 {
		return found, nil
	}
	return found, t.query(ctx, sql, func(r row) (err error) { found[r.int(0)], err = readDedupRecord(r); return err },
		keys)
}

// Batches runs one statement. In an Update no other transaction can write the keys or read them in order to write.
func (t *tx) Batches(ctx context.Context, keys []counter.Key) ([]counter.DedupRecord, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	b, err := json.Marshal(keys)
	if err != nil {
		return nil, t.fail(err)
	}
	found, err := t.dedup(ctx, sqlBatches, len(keys), string(b))
	if err != nil {
		return nil, fmt.Errorf("read %d keys of batches: %w", len(keys), err)
	}
	return found, nil
}

// PutBatches runs a statement per row.
func (t *tx) PutBatches(ctx context.Context, batches []counter.KeyedBatch) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	batches = inOrder(batches, func(a, b counter.KeyedBatch) int { return cmp.Compare(a.Key, b.Key) })
	err := each(t, sqlPutBatch, batches, func(s *stmt, b counter.KeyedBatch) error {
		results := document.NotNull(b.Results)
		return s.exec(string(b.Key), b.Newest, b.Print[:], results, cell.Sum(string(b.Key), b.Newest, b.Print[:], results))
	})
	if err != nil {
		return fmt.Errorf("put %d keys of batches: %w", len(batches), err)
	}
	return nil
}

// DropBatches runs one statement.
func (t *tx) DropBatches(ctx context.Context, below int64, limit int) (int, error) {
	n, err := t.drop(ctx, sqlDropBatches, below, limit)
	if err != nil {
		return 0, fmt.Errorf("drop keys of batches: %w", err)
	}
	return n, nil
}

// Producers runs one statement. In an Update no other transaction can write the keys or read them in order to
// write.
func (t *tx) Producers(ctx context.Context, producers []counter.Producer) ([]counter.DedupRecord, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	found, err := t.dedup(ctx, sqlProducers, len(producers),
		hexes(t, producers, func(p *counter.Producer) []byte { return p[:] }))
	if err != nil {
		return nil, fmt.Errorf("read %d producers: %w", len(producers), err)
	}
	return found, nil
}

// PutProducers runs a statement per row.
func (t *tx) PutProducers(ctx context.Context, batches []counter.ProducedBatch) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	batches = inOrder(batches, func(a, b counter.ProducedBatch) int { return bytes.Compare(a.Producer[:], b.Producer[:]) })
	err := each(t, sqlPutProducer, batches, func(s *stmt, b counter.ProducedBatch) error {
		results := document.NotNull(b.Results)
		return s.exec(b.Producer[:], int64(b.Seq), b.Newest, b.Print[:], results,
			cell.Sum(b.Producer[:], int64(b.Seq), b.Newest, b.Print[:], results))
	})
	if err != nil {
		return fmt.Errorf("put %d producers: %w", len(batches), err)
	}
	return nil
}

// DropProducers runs one statement.
func (t *tx) DropProducers(ctx context.Context, below int64, limit int) (int, error) {
	n, err := t.drop(ctx, sqlDropProducers, below, limit)
	if err != nil {
		return 0, fmt.Errorf("drop producers: %w", err)
	}
	return n, nil
}
