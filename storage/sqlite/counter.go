// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/storage/internal/document"
)

var _ counter.Store = (*tx)(nil)

const (
	sqlMetrics     = "SELECT j.key, m.id, m.name, m.kind, m.first FROM json_each(?) AS j CROSS JOIN metric AS m ON m.id = j.value"
	sqlListMetrics = "SELECT 0, id, name, kind, first FROM metric WHERE name >= ? AND name < ? ORDER BY name LIMIT +?"
	sqlPutMetric   = `INSERT INTO metric (id, name, kind, first, sum) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET first = excluded.first, sum = excluded.sum WHERE excluded.first < metric.first`
)

func readMeta(r row) (counter.Meta, error) {
	return counter.Meta{ID: counter.ID(r.int(1)), Name: counter.Metric(r.text(2)), Kind: counter.Kind(r.int(3)), First: r.int(4)}, nil
}

// Metrics runs one statement.
func (t *tx) Metrics(ctx context.Context, ids []counter.ID) ([]counter.Meta, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	metrics := make([]counter.Meta, len(ids))
	if len(ids) == 0 {
		return metrics, nil
	}
	err := t.query(ctx, sqlMetrics, func(r row) (err error) { metrics[r.int(0)], err = readMeta(r); return err },
		numbers(t, ids))
	if err != nil {
		return nil, fmt.Errorf("read %d metrics: %w", len(ids), err)
	}
	return metrics, nil
}

// PutMetrics runs a statement per row.
func (t *tx) PutMetrics(ctx context.Context, metrics []counter.Meta) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	metrics = inOrder(metrics, func(a, b counter.Meta) int { return cmp.Compare(a.ID, b.ID) })
	err := each(t, sqlPutMetric, metrics, func(s *stmt, m counter.Meta) error {
		return s.exec(int64(m.ID), string(m.Name), int64(m.Kind), m.First,
			cell.Sum(int64(m.ID), string(m.Name), int64(m.Kind), m.First))
	})
	if err != nil {
		return fmt.Errorf("put %d metrics: %w", len(metrics), err)
	}
	return nil
}

// ListMetrics reads the index of names.
func (t *tx) ListMetrics(ctx context.Context, prefix, after counter.Metric, limit int) ([]counter.Meta, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	from, to := names(prefix)
	if after >= prefix {
		from = string(after) + "\x00" // the smallest name after it
	}
	metrics, err := rows(ctx, t, readMeta, sqlListMetrics, from, to, int64(limit))
	if err != nil {
		return nil, fmt.Errorf("list metrics: %w", err)
	}
	return metrics, nil
}

// names returns the range [from, to) of names that begin with the prefix. Without an upper bound, to is an empty
// blob, which sorts after every text.
func names(prefix counter.Metric) (from string, to any) {
	if next, ok := document.Beyond(string(prefix)); ok {
		return string(prefix), next
	}
	return string(prefix), []byte{}
}

// CountMetrics counts the rows.
func (t *tx) CountMetrics(ctx context.Context) (n int, err error) {
	if err := t.use(ctx); err != nil {
		return 0, err
	}
	err = t.query(ctx, "SELECT count(*) FROM metric", func(r row) error { n = int(r.int(0)); return nil })
	if err != nil {
		return 0, fmt.Errorf("count metrics: %w", err)
	}
	return n, nil
}

// AddTallies reads and writes each bucket once. It adds in Go because SQLite turns an overflowing integer into a
// float.
func (t *tx) AddTallies(ctx context.Context, tallies []counter.Tally) (made []counter.BucketKey, err error) {
	if err := t.alter(ctx); err != nil {
		return nil, err
	}
	_, err = t.addTallies(ctx, counter.Hours, tallies, func(a counter.Tally) counter.BucketKey {
		return counter.NewBucketKey(a.Minute.Hour(), a.ID)
	},
		func(counts []byte, a counter.Tally) error { return add(counts, a.Minute.InHour(), a.N) })
	if err == nil {
		made, err = t.addTallies(ctx, counter.Days, tallies, func(a counter.Tally) counter.BucketKey {
			return counter.NewBucketKey(a.Minute.Day(), a.ID)
		},
			func(counts []byte, a counter.Tally) error {
				return cmp.Or(add(counts, counter.DayTotal, a.N), add(counts, counter.DayHour(a.Minute.HourOfDay()), a.N),
					add(counts, counter.DayQuarter(a.Minute.Quarter()), a.N))
			})
	}
	if err != nil {
		return nil, fmt.Errorf("add %d tallies: %w", len(tallies), err)
	}
	return made, nil
}

// add adds n to one of the numbers of a bucket. It returns counter.ErrOverflow if the sum overflows.
func add(counts []byte, i int, n int64) error {
	at := counts[8*i : 8*i+8]
	now := int64(binary.BigEndian.Uint64(at))
	if n > math.MaxInt64-now {
		return counter.ErrOverflow
	}
	binary.BigEndian.PutUint64(at, uint64(now+n))
	return nil
}

// bucketsAtOnce is the number of buckets held in memory while tallies are added; more gain little.
const bucketsAtOnce = 256

// addTallies adds to the buckets of one table, in key order, and returns the keys of the buckets it created.
func (t *tx) addTallies(ctx context.Context, table counter.Table, tallies []counter.Tally, keyOf func(counter.Tally) counter.BucketKey,
	add func(counts []byte, a counter.Tally) error,
) (made []counter.BucketKey, err error) {
	tallies = inOrder(tallies, func(a, b counter.Tally) int { return cmp.Compare(keyOf(a), keyOf(b)) })
	if of := t.statement(bucketTables[table].put); of.On() {
		defer func() { of.End(err) }()
	}
	put, err := t.conn.prepare(bucketTables[table].put)
	if err != nil {
		return nil, t.fail(err)
	}
	keys, buckets := make([]counter.BucketKey, 0, bucketsAtOnce), make([][]byte, bucketsAtOnce)
	for len(tallies) > 0 {
		keys = keys[:0]
		for _, a := range tallies {
			if key := keyOf(a); len(keys) == 0 || key != keys[len(keys)-1] {
				if len(keys) == bucketsAtOnce {
					break
				}
				keys = append(keys, key)
			}
		}
		clear(buckets)
		if err := t.query(ctx, bucketTables[table].read, func(r row) error { buckets[r.int(0)] = r.blob(1); return nil }, numbers(t, keys)); err != nil {
			return nil, err
		}
		for i, key := range keys {
			if buckets[i] == nil {
				buckets[i] = make([]byte, 8*table.Width())
				made = append(made, key)
			}
			for len(tallies) > 0 && keyOf(tallies[0]) == key {
				if err := add(buckets[i], tallies[0]); err != nil {
					return nil, t.fail(fmt.Errorf("metric %d: %w", key.ID(), err))
				}
				tallies = tallies[1:]
			}
			if err := put.exec(int64(key), buckets[i]); err != nil {
				return nil, t.fail(err)
			}
		}
	}
	return made, nil
}

const (
	sqlOpenTotals      = "SELECT bucket, substr(counts, 8*60+1, 8) FROM counter_day WHERE bucket >= ? AND bucket < ?"
	sqlCompactedTotals = "SELECT bucket, total FROM counter_compacted WHERE bucket >= ? AND bucket < ?"
	sqlNamed           = "SELECT id FROM metric WHERE name >= ? AND name < ?"
	sqlFirstNames      = "SELECT m.id, m.name FROM json_each(?) AS j CROSS JOIN metric AS m ON m.id = j.value ORDER BY m.name LIMIT +?"
)

// TopMetrics reads all buckets of the day, but only the names that may be among the highest.
func (t *tx) TopMetrics(ctx context.Context, day int64, prefix counter.Metric, k int) ([]counter.Ranked, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	top, err := t.topMetrics(ctx, day, prefix, k)
	if err != nil {
		return nil, fmt.Errorf("read the highest metrics of day %d: %w", day, err)
	}
	return top, nil
}

func (t *tx) topMetrics(ctx context.Context, day int64, prefix counter.Metric, k int) ([]counter.Ranked, error) {
	totals, err := t.totals(ctx, day, prefix)
	if err != nil || len(totals) == 0 || k <= 0 {
		return nil, err
	}
	// Metrics above the k-th highest total are included; metrics with exactly that total are ordered by name.
	all := make([]int64, 0, len(totals))
	for _, n := range totals {
		all = append(all, n)
	}
	slices.Sort(all)
	least := all[max(len(all)-k, 0)]
	var above, equal []counter.ID
	for id, n := range totals {
		switch {
		case n > least:
			above = append(above, id)
		case n == least:
			equal = append(equal, id)
		}
	}
	var top []counter.Ranked
	for _, ids := range [][]counter.ID{above, equal} {
		err := t.query(ctx, sqlFirstNames, func(r row) error {
			top = append(top, counter.Ranked{Metric: counter.Metric(r.text(1)), N: totals[counter.ID(r.int(0))]})
			return nil
		}, numbers(t, ids), int64(k-len(top)))
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(top, func(a, b counter.Ranked) int { return cmp.Compare(b.N, a.N) })
	return top, nil
}

// totals returns the non-zero totals of a day, open and closed buckets added up.
func (t *tx) totals(ctx context.Context, day int64, prefix counter.Metric) (map[counter.ID]int64, error) {
	totals := map[counter.ID]int64{}
	sum := func(key, n int64) {
		if id := counter.BucketKey(key).ID(); n > 0 {
			totals[id] += min(n, math.MaxInt64-totals[id])
		}
	}
	from, to := int64(counter.NewBucketKey(day, 0)), int64(counter.NewBucketKey(day+1, 0))
	err := t.query(ctx, sqlOpenTotals, func(r row) error { sum(r.int(0), int64(binary.BigEndian.Uint64(r.blob(1)))); return nil }, from, to)
	if err == nil {
		err = t.query(ctx, sqlCompactedTotals, func(r row) error { sum(r.int(0), r.int(1)); return nil }, from, to)
	}
	if err != nil || prefix == "" {
		return totals, err
	}
	named := map[counter.ID]int64{}
	least, below := names(prefix)
	return named, t.query(ctx, sqlNamed, func(r row) error {
		if id := counter.ID(r.int(0)); totals[id] > 0 {
			named[id] = totals[id]
		}
		return nil
	}, least, below)
}
