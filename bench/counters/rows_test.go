// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Hour rows as in Locus, with a total, but no day row: less than what Locus writes.
const (
	sqlHours = `CREATE TABLE hour (hour bigint, metric int, n bigint NOT NULL, minutes bigint[] NOT NULL, PRIMARY KEY (hour, metric)) WITH (fillfactor = 50)`

	sqlMake = `INSERT INTO hour SELECT $1, m, 0, array_fill(0::bigint, ARRAY[60]) FROM generate_series(0, $2 - 1) AS m ON CONFLICT DO NOTHING`

	sqlAdd = `UPDATE hour SET n = n + 1, minutes[$3] = minutes[$3] + 1 WHERE hour = $1 AND metric = $2`
)

// rows are written by every caller separately.
type rows struct {
	metrics int
	conns   []*pgx.Conn
}

// openRows creates the rows of this hour and the next ones in advance.
func openRows(ctx context.Context, b *bench, s setting) (target, error) {
	r := &rows{metrics: s.metrics}
	url := b.server.URL(b.server.Database(b.tb))
	var err error
	for len(r.conns) < min(64, s.callers) && err == nil {
		var c *pgx.Conn
		if c, err = pgx.Connect(ctx, url); err == nil {
			r.conns = append(r.conns, c)
		}
	}
	if err == nil {
		_, err = r.conns[0].Exec(ctx, sqlHours)
	}
	for h := int64(0); h < 3 && err == nil; h++ {
		_, err = r.conns[0].Exec(ctx, sqlMake, time.Now().Unix()/3600+h, s.metrics)
	}
	return r, err
}

// add is a transaction of one statement.
func (r *rows) add(ctx context.Context, caller int, c call) error {
	for _, m := range slices.Sorted(slices.Values(c.metrics)) {
		tag, err := r.conns[caller].Exec(ctx, sqlAdd, c.at.Unix()/3600, m, c.at.Minute()+1)
		if err != nil {
			return err
		}
		if tag.RowsAffected() != 1 {
			return fmt.Errorf("no row of metric %d", m)
		}
	}
	return nil
}

func (r *rows) sums(ctx context.Context) ([]int64, error) {
	found, err := r.conns[0].Query(ctx, `SELECT metric, n, (SELECT sum(m)::bigint FROM unnest(minutes) AS m) FROM hour`)
	if err != nil {
		return nil, err
	}
	all := make([]int64, r.metrics)
	var m int
	var n, minutes int64
	_, err = pgx.ForEachRow(found, []any{&m, &n, &minutes}, func() error {
		all[m] += n
		if n != minutes {
			return fmt.Errorf("metric %d has %d hits, its minutes %d", m, n, minutes)
		}
		return nil
	})
	return all, err
}

func (r *rows) close() (err error) {
	for _, c := range r.conns {
		err = errors.Join(err, c.Close(context.Background()))
	}
	return err
}
