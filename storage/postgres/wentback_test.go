// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/postgres"
)

// onTwo opens an installation of two cells, g0-0 on one server and g0-1 on another.
func onTwo(t *testing.T, a, b *pgtest.Server, restored bool) (*storage.Cells, error) {
	t.Helper()
	driver := postgres.NewDriver(&postgres.Options{Restored: restored})
	cells, err := postgres.OpenMap(t.Context(), a.URL("x")+","+b.URL("x"), &postgres.MapOptions{Cells: 2, Rules: "r", Driver: driver, Restored: restored})
	if err == nil {
		t.Cleanup(func() { must(t, cells.Close()) })
	}
	return cells, err
}

// witnessed writes to a cell until the other one has recorded its pulse.
func witnessed(t *testing.T, cells *storage.Cells, id cell.ID) {
	t.Helper()
	db, err := cells.Cell(id)
	must(t, err)
	other, err := cells.Cell(cell.ID{Index: 1 - id.Index})
	must(t, err)
	heard := func() (p cell.Pulse) {
		must(t, other.View(t.Context(), func(tx storage.Tx) error {
			knownEpoch, err := tx.Witnesses(t.Context())
			p = knownEpoch[id]
			return err
		}))
		return p
	}
	before := heard()
	for range 2 { // two beats: the recorded pulse counts the last write
		allocateOne(t, db, key(uint64(time.Now().UnixNano())))
		await(t, func() bool { now := heard(); ok := before.Before(now); before = now; return ok })
	}
}

// asked reads a row, because a transaction that does nothing does not reach the server.
func asked(t *testing.T, db cell.Database[storage.Tx]) error {
	return db.View(t.Context(), func(tx storage.Tx) error { _, err := tx.Head(t.Context()); return err })
}

func await(t *testing.T, is func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !is(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen in two minutes")
		}
	}
}

// The server cannot recognise a snapshot started in its place: same system identifier, timeline and oid. The
// snapshot is not served, whichever cell it is, until the loss is accepted.
func TestP01_ASnapshotPutBackIsNotServed(t *testing.T) {
	t.Parallel()
	for _, back := range []cell.ID{{}, {Index: 1}} {
		t.Run(back.String(), func(t *testing.T) {
			t.Parallel()
			servers := []*pgtest.Server{pgtest.Start(t, nil), pgtest.Start(t, nil)}
			open := func(restored bool) (*storage.Cells, error) {
				return onTwo(t, servers[0], servers[1], restored)
			}
			cells, err := open(false)
			must(t, err)
			witnessed(t, cells, back)
			must(t, cells.Close())
			s := servers[back.Index]
			s.Stop(t)
			putBack := s.Snapshot(t)
			s.Restart(t)
			cells, err = open(false)
			must(t, err)
			witnessed(t, cells, back)
			must(t, cells.Close())
			s.Stop(t)
			putBack()
			s.Restart(t)

			for range 2 {
				if _, err := open(false); !errors.Is(err, cell.ErrWentBack) || !strings.Contains(err.Error(), fmt.Sprint("cell ", back)) {
					t.Fatalf("the snapshot is served: %v, want ErrWentBack that names cell %v", err, back)
				}
			}
			cells, err = open(true)
			must(t, err)
			must(t, cell.Reincarnate(t.Context(), cells))
			must(t, cells.Close())
			cells, err = open(false)
			must(t, err)
			witnessed(t, cells, back)
		})
	}
}

// A running process notices it too, with a single server and no other witness.
func TestP01_ASnapshotPutBackUnderAProcess(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t, nil)
	cells, err := onTwo(t, s, s, false)
	must(t, err)
	one := cell.ID{Index: 1}
	witnessed(t, cells, one)
	s.Stop(t)
	putBack := s.Snapshot(t)
	s.Restart(t)
	db, err := cells.Cell(one)
	must(t, err)
	write := func() error {
		return db.Update(t.Context(), func(tx storage.Tx) error {
			_, err := tx.Allocate(t.Context(), []cell.Key{key(uint64(time.Now().UnixNano()))})
			return err
		})
	}
	await(t, func() bool { return write() == nil })
	witnessed(t, cells, one)
	s.Stop(t)
	putBack()
	s.Restart(t)
	await(t, func() bool {
		err := write()
		if err == nil {
			t.Fatal("the snapshot was written to")
		}
		return errors.Is(err, cell.ErrWentBack)
	})
}

// A killed server loses no acknowledged write, and its cell is served again without a false alarm.
func TestP01_AKilledDatabaseIsServedAgain(t *testing.T) {
	t.Parallel()
	a, b := pgtest.Start(t, nil), pgtest.Start(t, nil)
	cells, err := onTwo(t, a, b, false)
	must(t, err)
	for round := range max(2, longtest.Part(4)) {
		for i, s := range []*pgtest.Server{a, b} {
			witnessed(t, cells, cell.ID{Index: uint32(i)})
			s.Kill(t)
			s.Restart(t)
			if round%2 == 1 {
				must(t, cells.Close())
				cells, err = onTwo(t, a, b, false)
				must(t, err)
			}
			for _, id := range cells.Map().Cells() {
				db, err := cells.Cell(id)
				must(t, err)
				await(t, func() bool {
					err := asked(t, db)
					if errors.Is(err, cell.ErrWentBack) {
						t.Fatalf("round %d: a false alarm: %v", round, err)
					}
					return err == nil
				})
			}
		}
	}
}

// A password changed on the server and in the password file applies to new connections without a restart.
func TestDriver_ReadsThePasswordFileAgain(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t, nil)
	name := s.Database(t)
	s.Exec(t, "postgres", "CREATE ROLE keeper LOGIN SUPERUSER PASSWORD 'one'")
	s.RequirePassword(t, "keeper")
	file := filepath.Join(t.TempDir(), "pgpass")
	password := func(text string) { must(t, os.WriteFile(file, []byte("*:*:*:keeper:"+text+"\n"), 0o600)) }
	password("one")
	url := strings.Replace(s.URL(name), "user=postgres", "user=keeper&passfile="+file, 1)
	db, err := postgres.NewDriver(nil).Dial(t.Context(), url, true)
	must(t, err)
	defer db.Close()
	view := func() error { return asked(t, db) }
	must(t, view())
	s.Exec(t, "postgres", "ALTER ROLE keeper PASSWORD 'two'")
	s.Exec(t, "postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'keeper'")
	await(t, func() bool { err := view(); return errors.Is(err, storage.ErrRefused) })
	password("two")
	await(t, func() bool { return view() == nil })
}
