// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/rollup"
)

// asked is how often an answer is requested; the median counts.
const asked = 5

// timed returns the median time in milliseconds.
func timed(n int, ask func() error) (float64, error) {
	took := make([]time.Duration, n)
	for i := range took {
		began := time.Now()
		if err := ask(); err != nil {
			return 0, err
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return float64(took[n/2]) / float64(time.Millisecond), nil
}

// all requests all tags and records the time.
func (b *bench) all(a Answer, ask func() error) (_ Answer, err error) {
	before := b.used()
	a.All, err = timed(asked, ask)
	a.Server, a.Program, _ = b.used().Since(before, asked*1000)
	return a, err
}

// ones requests single tags from Locus.
func (f *following) ones(ctx context.Context, w *world) (float64, error) {
	n := 0
	return timed(singles, func() error {
		n++
		_, err := f.answer(ctx, rollup.Query{Keys: [][]string{{w.tags[n*7919%len(w.tags)]}}}, nil)
		return err
	})
}

func found(n int, err error) error {
	if err == nil && n == 0 {
		err = fmt.Errorf("the answer is empty")
	}
	return err
}

const (
	// singles is the number of single tags requested.
	singles = 200
	// sampled is the number of tags scanned; the time of all is extrapolated.
	sampled = 2000

	sqlOne  = "SELECT tag, location, n FROM by_tag WHERE tag = $1"
	sqlAll  = "SELECT tag, location, n FROM by_tag WHERE n > 0"
	sqlScan = "SELECT $1::text, location, count(*) FROM document WHERE tags @> ARRAY[$1] GROUP BY location"
)

// answers queries a table that holds the counts.
func (b *bench) answers(ctx context.Context, p *peer, w *world) (a Answer, err error) {
	a, err = b.all(Answer{Method: p.key}, func() error { return found(rows(ctx, p.conns[0], sqlAll)) })
	if err == nil {
		a.One, err = p.ones(ctx, w, sqlOne)
	}
	return a, err
}

func (p *peer) ones(ctx context.Context, w *world, sql string) (float64, error) {
	n := 0
	return timed(singles, func() error {
		n++
		_, err := rows(ctx, p.conns[0], sql, w.tags[n*7919%len(w.tags)])
		return err
	})
}

// grouped counts all tags in one statement.
func (b *bench) grouped(ctx context.Context, p *peer) (Answer, error) {
	return b.all(Answer{Method: "group"}, func() error { return found(rows(ctx, p.conns[0], sqlCounts)) })
}

// scans counts tag by tag on several connections.
func (p *peer) scans(ctx context.Context, w *world, method string, connections int) (a Answer, err error) {
	n := min(sampled, len(w.tags))
	step := len(w.tags) / n
	took, err := timed(1, func() error {
		var next atomic.Int64
		errs := make([]error, connections)
		var wg sync.WaitGroup
		for i := range connections {
			wg.Go(func() { errs[i] = scan(ctx, p.conns[i], w, &next, int64(n), step) })
		}
		wg.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return a, err
	}
	a = Answer{Method: method, All: took * float64(len(w.tags)) / float64(n)}
	if n < len(w.tags) {
		a.Note = fmt.Sprintf("extrapolated from %d tags", n)
	}
	if connections == 1 {
		a.One, err = p.ones(ctx, w, sqlScan)
	}
	return a, err
}

// scan counts the next tag until there is none left.
func scan(ctx context.Context, conn *pgx.Conn, w *world, next *atomic.Int64, n int64, step int) error {
	for {
		i := next.Add(1) - 1
		if i >= n {
			return nil
		}
		if _, err := rows(ctx, conn, sqlScan, w.tags[int(i)*step]); err != nil {
			return err
		}
	}
}
