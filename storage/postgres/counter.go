// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/storage/internal/document"
)

var _ counter.Store = (*tx)(nil)

const (
	sqlMetrics = `SELECT j.n, m.id, m.name, m.kind, m.first FROM unnest($1::bigint[]) WITH ORDINALITY AS j (id, n)
		JOIN metric AS m ON m.id = j.id`

	sqlPutMetrics = `INSERT INTO metric AS m (id, name, kind, first, sum)
		SELECT id, name, kind, first, sum FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) AS v (id, name, kind, first, sum)
		ON CONFLICT (id) DO UPDATE SET first = excluded.first, sum = excluded.sum WHERE m.first > excluded.first`

	sqlListMetrics = "SELECT id, name, kind, first FROM metric WHERE name >= $1 AND name < $2 ORDER BY name LIMIT $3"
)

func scanMeta(r pgx.Rows, before ...any) (m counter.Meta, err error) {
	var kind int16
	err = r.Scan(append(before, (*int64)(&m.ID), (*string)(&m.Name), &kind, &m.First)...)
	m.Kind = counter.Kind(kind)
	return m, err
}

// Metrics runs one statement.
func (t *tx) Metrics(ctx context.Context, ids []counter.ID) ([]counter.Meta, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	metas := make([]counter.Meta, len(ids))
	if len(ids) == 0 {
		return metas, nil
	}
	err := t.query(ctx, sqlMetrics, func(r pgx.Rows) error {
		var n int64
		m, err := scanMeta(r, &n)
		if err == nil {
			metas[n-1] = m
		}
		return err
	}, numbers(ids))
	if err != nil {
		return nil, fmt.Errorf("read %d metrics: %w", len(ids), err)
	}
	return metas, nil
}

// PutMetrics runs one statement.
func (t *tx) PutMetrics(ctx context.Context, metrics []counter.Meta) error {
	if err := t.alter(ctx); err != nil || len(metrics) == 0 {
		return err
	}
	// Of metas with the same ID the first is kept, with the lowest First of all.
	sorted := slices.Clone(metrics)
	slices.SortStableFunc(sorted, func(a, b counter.Meta) int { return cmp.Compare(a.ID, b.ID) })
	kept := sorted[:0]
	for _, m := range sorted {
		if n := len(kept); n > 0 && kept[n-1].ID == m.ID {
			kept[n-1].First = min(kept[n-1].First, m.First)
			continue
		}
		kept = append(kept, m)
	}
	ids := column(kept, func(m counter.Meta) int64 { return int64(m.ID) })
	t.noteNumbers("metric", ids)
	t.exec(sqlPutMetrics, ids,
		column(kept, func(m counter.Meta) string { return string(m.Name) }),
		column(kept, func(m counter.Meta) int64 { return int64(m.Kind) }),
		column(kept, func(m counter.Meta) int64 { return m.First }),
		column(kept, func(m counter.Meta) int64 { return cell.Sum(int64(m.ID), string(m.Name), int64(m.Kind), m.First) }))
	return nil
}

// ListMetrics reads the index of names in order.
func (t *tx) ListMetrics(ctx context.Context, prefix, after counter.Metric, limit int) ([]counter.Meta, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	low, high := namesFrom(string(prefix), string(after))
	metas, err := rows(ctx, t, func(r pgx.Rows) (counter.Meta, error) { return scanMeta(r) }, sqlListMetrics, low, high,
		int64(limit))
	if err != nil {
		return nil, fmt.Errorf("list metrics: %w", err)
	}
	return metas, nil
}

// afterNames sorts after all metric names.
var afterNames = strings.Repeat(string(utf8.MaxRune), counter.MaxMetric/utf8.UTFMax+1)

// namesFrom returns the range [low, high) of names that begin with prefix and follow after. Both may be arbitrary
// bytes, but the database accepts only valid text.
func namesFrom(prefix, after string) (low, high string) {
	low, high = leastText(prefix), afterNames
	if after != "" {
		low = max(low, leastText(after+"\x00"))
	}
	if next, ok := document.Beyond(prefix); ok {
		high = leastText(next)
	}
	return low, high
}

// leastText returns the smallest text that is not below b: UTF-8 without U+0000.
func leastText(b string) string {
	valid := 0 // length of the prefix that is valid text
	for valid < len(b) {
		r, size := utf8.DecodeRuneInString(b[valid:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			break
		}
		valid += size
	}
	text, rest := b[:valid], b[valid:]
	if rest == "" {
		return text
	}
	for {
		if c, ok := leastRune(rest); ok {
			return text + c
		}
		if text == "" {
			return afterNames
		}
		// No rune sorts after rest, so the rune before it has to be the next higher one.
		_, size := utf8.DecodeLastRuneInString(text)
		text, rest = text[:len(text)-size], text[len(text)-size:]+"\x00"
	}
}

// leastRune returns the smallest rune whose bytes sort after b.
func leastRune(b string) (string, bool) {
	const surrogates, first = 0xe000 - 0xd800, 0xd800
	nth := func(i int) string {
		r := rune(i + 1)
		if r >= first {
			r += surrogates
		}
		return string(r)
	}
	n := int(utf8.MaxRune) - surrogates
	i := sort.Search(n, func(i int) bool { return nth(i) > b })
	if i == n {
		return "", false
	}
	return nth(i), true
}

// CountMetrics counts the rows of an index.
func (t *tx) CountMetrics(ctx context.Context) (n int, err error) {
	if err := t.use(ctx); err != nil {
		return 0, err
	}
	err = t.query(ctx, "SELECT count(*) FROM metric", func(r pgx.Rows) error { return r.Scan(&n) })
	if err != nil {
		return 0, fmt.Errorf("count metrics: %w", err)
	}
	return n, nil
}

const (
	// Totals of a day, open and closed buckets added up and capped at 2^63 - 1.
	sqlTotalsOfDay = `SELECT bucket, least(sum(n), 9223372036854775807)::bigint AS n FROM (
			SELECT bucket, counts[61] AS n FROM counter_day WHERE bucket >= $1 AND bucket < $2
			UNION ALL SELECT bucket, total FROM counter_compacted WHERE bucket >= $1 AND bucket < $2
		) AS parts GROUP BY bucket HAVING sum(n) > 0`

	// Names are looked up only for metrics that may be among the highest.
	sqlTopAll = `SELECT m.name, s.n FROM (` + sqlTotalsOfDay + ` ORDER BY n DESC FETCH FIRST $3 ROWS WITH TIES) AS s
		JOIN metric AS m ON m.id = s.bucket - $1 ORDER BY s.n DESC, m.name LIMIT $3`

	sqlTopPrefix = `SELECT m.name, s.n FROM metric AS m CROSS JOIN LATERAL (
			SELECT least(sum(n), 9223372036854775807)::bigint AS n FROM (
				SELECT counts[61] AS n FROM counter_day WHERE bucket = $1 + m.id
				UNION ALL SELECT total FROM counter_compacted WHERE bucket = $1 + m.id
			) AS parts HAVING sum(n) > 0
		) AS s WHERE m.name >= $2 AND m.name < $3 ORDER BY s.n DESC, m.name LIMIT $4`
)

// TopMetrics runs one statement, over the rows of the day or over the rows of the matching names.
func (t *tx) TopMetrics(ctx context.Context, day int64, prefix counter.Metric, k int) ([]counter.Ranked, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	begin, end := int64(counter.NewBucketKey(day, 0)), int64(counter.NewBucketKey(day+1, 0))
	sql, args := sqlTopAll, []any{begin, end, int64(k)}
	if prefix != "" {
		low, high := namesFrom(string(prefix), "")
		sql, args = sqlTopPrefix, []any{begin, low, high, int64(k)}
	}
	top, err := rows(ctx, t, func(r pgx.Rows) (one counter.Ranked, err error) {
		err = r.Scan((*string)(&one.Metric), &one.N)
		return one, err
	}, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("highest metrics of day %d: %w", day, err)
	}
	return top, nil
}
