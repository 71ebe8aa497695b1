// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage"
)

// pgx's query modes behind a PgBouncer in transaction mode: all except the default one avoid statements prepared on
// another connection. (Newer PgBouncers track those, and the default mode has no errors either.)
func TestPooler_Modes(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	url := s.Pooler(t, 4).URL(s.Database(t))
	const clients, calls = 16, 25
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		var failed atomic.Int64
		var wg sync.WaitGroup
		for range clients {
			wg.Go(func() {
				config, err := pgx.ParseConfig(url)
				if err != nil {
					t.Error(err)
					return
				}
				config.DefaultQueryExecMode = mode
				conn, err := pgx.ConnectConfig(t.Context(), config)
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close(context.Background())
				for n := range int64(calls) {
					var got int64
					if err := conn.QueryRow(t.Context(), "SELECT $1::bigint + 1", n).Scan(&got); err != nil || got != n+1 {
						failed.Add(1)
					}
				}
			})
		}
		wg.Wait()
		t.Logf("%v: %d errors in %d calls", mode, failed.Load(), clients*calls)
		// These two modes prepare in one round trip and execute in another, which may reach another connection.
		apart := mode == pgx.QueryExecModeCacheStatement || mode == pgx.QueryExecModeDescribeExec
		if failed.Load() > 0 && !apart {
			t.Errorf("%v fails behind a pooler", mode)
		}
	}
}

// Many writers behind a pooler with few connections: no error, and every key once.
func TestPooler_ManyClients(t *testing.T) {
	t.Parallel()
	d := pooled(t).open(t)
	const clients, calls = 16, 20
	var wg sync.WaitGroup
	errs := make([]error, clients)
	for i := range clients {
		wg.Go(func() {
			ctx := context.Background()
			for n := range uint64(calls) {
				errs[i] = errors.Join(errs[i], d.Update(ctx, func(tx storage.Tx) error {
					_, err := tx.Allocate(ctx, []cell.Key{key(n), key(100 + n)})
					return err
				}))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if err := d.View(t.Context(), func(tx storage.Tx) error {
		rows, err := tx.Scan(t.Context(), nil, 1000)
		if len(rows) != 2*calls {
			t.Errorf("%d keys, want %d", len(rows), 2*calls)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
