// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage/postgres"
)

// A server accepts connections but does not respond. A process that opens its databases in sequence waits for it once
// and not for each database, and tries again later.
func TestP12_AServerThatHangsIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	go func() {
		var all []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				for _, c := range all {
					_ = c.Close()
				}
				return
			}
			all = append(all, c)
			asked.Add(1)
		}
	}()
	defer l.Close()
	d := postgres.NewDriver(&postgres.Options{ConnectTimeout: 2 * time.Second})
	dial := func(n int) {
		t.Helper()
		url := fmt.Sprintf("postgres://u@%s/places_g0_%d?sslmode=disable", l.Addr(), n)
		if c, err := d.Dial(t.Context(), url, false); !errors.Is(err, cell.ErrUnavailable) {
			t.Fatalf("database %d: %v, %v, want ErrUnavailable", n, c, err)
		}
	}
	dial(0)
	once := asked.Load()
	for n := range 8 {
		dial(n)
	}
	if again := asked.Load(); once == 0 || again != once {
		t.Errorf("the server was asked %d times for the first database, and %d times for eight more", once, again-once)
	}
	for asked.Load() == once { // until the pause is over
		dial(0)
	}
}

// A server that ends while a database is created, or while its tables are, is unavailable.
func TestDial_ServerEndsWhileItCreates(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t, nil)
	for statement, held := range map[string]struct{ db, lock string }{
		"CREATE DATABASE%":           {"postgres", "LOCK TABLE pg_database IN EXCLUSIVE MODE"},
		"%pg_advisory_xact_lock(%)%": {s.Database(t), "SELECT pg_advisory_xact_lock(1280263027)"},
	} {
		holder, err := pgx.Connect(t.Context(), s.URL(held.db))
		must(t, err)
		defer holder.Close(context.Background()) //nolint:errcheck // it only held a lock
		_, err = holder.Exec(t.Context(), "BEGIN; "+held.lock)
		must(t, err)
		db := held.db
		if db == "postgres" {
			db = "created"
		}
		dialled := make(chan error)
		go func() {
			opened, err := postgres.NewDriver(nil).Dial(t.Context(), s.URL(db), true)
			if err == nil {
				err = opened.Close()
			}
			dialled <- err
		}()
		ended := "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '" + statement + "'"
		for len(s.Exec(t, "postgres", ended)) == 0 {
			runtime.Gosched() // it does not wait yet
		}
		if err := <-dialled; !errors.Is(err, cell.ErrUnavailable) {
			t.Errorf("the server ends during %s: %v, want ErrUnavailable", statement, err)
		}
		must(t, holder.Close(t.Context()))
	}
}
