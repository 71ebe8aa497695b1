// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/storage/internal/document"
)

const sqlHorizon = "SELECT horizon FROM counter_horizon"

// DedupHorizon reads one row. An update takes a shared lock on it.
func (t *tx) DedupHorizon(ctx context.Context) (floor int64, err error) {
	if err := t.use(ctx); err != nil {
		return 0, err
	}
	sql := sqlHorizon
	if t.mode != reading {
		sql += " FOR SHARE"
	}
	err = t.query(ctx, sql, func(r pgx.Rows) error { return r.Scan(&floor) })
	if err != nil {
		return 0, fmt.Errorf("read the dedup horizon: %w", err)
	}
	return floor, nil
}

// RaiseDedupHorizon first locks the table of that one row, like an Exclusive does for the cell row: it waits for the
// transactions that have read the row and cannot be starved by new ones.
func (t *tx) RaiseDedupHorizon(ctx context.Context, floor int64) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	t.exec("LOCK TABLE counter_horizon IN EXCLUSIVE MODE")
	t.noteNumbers("counter_horizon", []int64{1})
	t.exec("UPDATE counter_horizon SET horizon = $1, sum = $2 WHERE horizon < $1", floor, cell.Sum(int64(1), floor))
	return nil
}

// Keys are locked by advisory locks, whether their rows exist or not. Each class has few locks, so the server, which
// has some 6,000 for all connections, cannot run out of them however many keys a group has. Keys that share a lock by
// chance wait for each other.
const (
	buckets       = 256
	classBatch    = 0x6c6f0001 // "lo"
	classProducer = 0x6c6f0002

	sqlHoldBuckets = "SELECT count(pg_advisory_xact_lock($1::int, bucket)) FROM unnest($2::int[]) AS b (bucket)"
)

// holdNames locks names before the next statement, so that its snapshot is newer than the transactions it waited
// for.
func (t *tx) holdNames(class int32, names []string) {
	if t.mode == reading {
		return
	}
	held := column(names, func(name string) int32 {
		h := fnv.New32a()
		h.Write([]byte(name))
		return int32(h.Sum32() % buckets)
	})
	slices.Sort(held)
	t.exec(sqlHoldBuckets, class, slices.Compact(held))
}

// dedup returns the rows stored under names. An update locks the names in the same round trip. keys is the argument
// with the names; scan reads a row and returns its name.
func (t *tx) dedup(ctx context.Context, class int32, names []string, sql string, keys any,
	scan func(r pgx.Rows, m *counter.DedupRecord) (name []byte, err error),
) ([]counter.DedupRecord, error) {
	found := make([]counter.DedupRecord, len(names))
	if len(names) == 0 {
		return found, nil
	}
	at := places(names)
	t.holdNames(class, names)
	return found, t.query(ctx, sql, func(r pgx.Rows) error {
		var m counter.DedupRecord
		name, err := scan(r, &m)
		for _, i := range at[string(name)] {
			found[i] = m
		}
		return err
	}, keys)
}

// scanDedupRecord reads a row whose last columns are print and results.
func scanDedupRecord(r pgx.Rows, m *counter.DedupRecord, before ...any) error {
	var print []byte
	if err := r.Scan(append(before, &print, &m.Results)...); err != nil {
		return err
	}
	if copy(m.Print[:], print); len(print) != len(m.Print) {
		return cell.Damaged("counter_key", "", fmt.Errorf("a fingerprint of %d bytes", len(print)))
	}
	return nil
}

const (
	sqlBatches    = "SELECT key, newest, print, results FROM counter_key WHERE key = ANY ($1::text[])"
	sqlPutBatches = `INSERT INTO counter_key (key, newest, print, results, sum)
		SELECT key, newest, print, results, sum FROM unnest($1::text[], $2::bigint[], $3::bytea[], $4::bytea[], $5::bigint[]) AS v (key, newest, print, results, sum)
		ON CONFLICT (key) DO UPDATE SET newest = excluded.newest, print = excluded.print, results = excluded.results, sum = excluded.sum`
	sqlDropBatches = `WITH doomed AS MATERIALIZED (SELECT key FROM counter_key WHERE newest < $1 ORDER BY newest LIMIT $2 FOR UPDATE)
		DELETE FROM counter_key AS k USING doomed WHERE k.key = doomed.key RETURNING k.key`
)

// Batches locks the keys, see remembered.
func (t *tx) Batches(ctx context.Context, keys []counter.Key) ([]counter.DedupRecord, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	names := column(keys, func(k counter.Key) string { return string(k) })
	found, err := t.dedup(ctx, classBatch, names, sqlBatches, names, func(r pgx.Rows, m *counter.DedupRecord) (key []byte, err error) {
		err = scanDedupRecord(r, m, &key, &m.Newest)
		return key, err
	})
	if err != nil {
		return nil, fmt.Errorf("read %d batches: %w", len(keys), err)
	}
	return found, nil
}

// PutBatches runs one statement.
func (t *tx) PutBatches(ctx context.Context, batches []counter.KeyedBatch) error {
	if err := t.alter(ctx); err != nil || len(batches) == 0 {
		return err
	}
	type batch = counter.KeyedBatch
	batches = inOrder(batches, func(a, b batch) int { return cmp.Compare(a.Key, b.Key) })
	keys := column(batches, func(b batch) string { return string(b.Key) })
	noteBytes(t, "counter_key", keys)
	t.exec(sqlPutBatches, keys,
		column(batches, func(b batch) int64 { return b.Newest }),
		column(batches, func(b batch) []byte { return b.Print[:] }),
		column(batches, func(b batch) []byte { return document.NotNull(b.Results) }),
		column(batches, func(b batch) int64 {
			return cell.Sum(string(b.Key), b.Newest, b.Print[:], document.NotNull(b.Results))
		}))
	return nil
}

// DropBatches reads the index of times in order.
func (t *tx) DropBatches(ctx context.Context, below int64, limit int) (int, error) {
	if err := t.alter(ctx); err != nil {
		return 0, err
	}
	gone, err := rows(ctx, t, scalar[string], sqlDropBatches, below, int64(limit))
	if err != nil {
		return 0, fmt.Errorf("drop batches: %w", err)
	}
	noteBytes(t, "counter_key", gone)
	return len(gone), nil
}

const (
	sqlProducers    = "SELECT producer, seq, newest, print, results FROM counter_producer WHERE producer = ANY ($1::bytea[])"
	sqlPutProducers = `INSERT INTO counter_producer (producer, seq, newest, print, results, sum)
		SELECT producer, seq, newest, print, results, sum
		FROM unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bigint[]) AS v (producer, seq, newest, print, results, sum)
		ON CONFLICT (producer) DO UPDATE SET seq = excluded.seq, newest = excluded.newest, print = excluded.print, results = excluded.results,
		sum = excluded.sum`
	// There is no index of producers by time, so that updates of their rows can stay in the same page.
	sqlDropProducers = `WITH doomed AS MATERIALIZED (SELECT producer FROM counter_producer WHERE newest < $1 ORDER BY producer LIMIT $2 FOR UPDATE)
		DELETE FROM counter_producer AS p USING doomed WHERE p.producer = doomed.producer RETURNING p.producer`
)

// Producers locks the producers, see remembered.
func (t *tx) Producers(ctx context.Context, producers []counter.Producer) ([]counter.DedupRecord, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	names := column(producers, func(p counter.Producer) string { return string(p[:]) })
	keys := column(names, func(n string) []byte { return []byte(n) })
	found, err := t.dedup(ctx, classProducer, names, sqlProducers, keys, func(r pgx.Rows, m *counter.DedupRecord) (producer []byte, err error) {
		var seq int64
		err = scanDedupRecord(r, m, &producer, &seq, &m.Newest)
		m.Seq = uint64(seq)
		return producer, err
	})
	if err != nil {
		return nil, fmt.Errorf("read %d producers: %w", len(producers), err)
	}
	return found, nil
}

// PutProducers runs one statement.
func (t *tx) PutProducers(ctx context.Context, batches []counter.ProducedBatch) error {
	if err := t.alter(ctx); err != nil || len(batches) == 0 {
		return err
	}
	type batch = counter.ProducedBatch
	batches = inOrder(batches, func(a, b batch) int { return bytes.Compare(a.Producer[:], b.Producer[:]) })
	producers := column(batches, func(b batch) []byte { return b.Producer[:] })
	noteBytes(t, "counter_producer", producers)
	t.exec(sqlPutProducers, producers,
		column(batches, func(b batch) int64 { return int64(b.Seq) }),
		column(batches, func(b batch) int64 { return b.Newest }),
		column(batches, func(b batch) []byte { return b.Print[:] }),
		column(batches, func(b batch) []byte { return document.NotNull(b.Results) }),
		column(batches, func(b batch) int64 {
			return cell.Sum(b.Producer[:], int64(b.Seq), b.Newest, b.Print[:], document.NotNull(b.Results))
		}))
	return nil
}

// DropProducers reads the table in order.
func (t *tx) DropProducers(ctx context.Context, below int64, limit int) (int, error) {
	if err := t.alter(ctx); err != nil {
		return 0, err
	}
	gone, err := rows(ctx, t, scalar[[]byte], sqlDropProducers, below, int64(limit))
	if err != nil {
		return 0, fmt.Errorf("drop producers: %w", err)
	}
	noteBytes(t, "counter_producer", gone)
	return len(gone), nil
}
