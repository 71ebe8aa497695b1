// SPDX-License-Identifier: Apache-2.0

package library_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/changes"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/rollups"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// openAt opens or creates an installation that does not wait for the disk.
func openAt(t testing.TB, where string, opts *storage.Options) *locus.DB {
	t.Helper()
	scratch := *opts
	scratch.Scratch = true
	cells, err := storage.Open(t.Context(), where, &scratch)
	if err != nil {
		t.Fatal(err)
	}
	s, err := locus.OpenCells(t.Context(), cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// until polls until is returns true.
func until(t testing.TB, what string, is func() (bool, string)) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience(t)); ; <-tick.C {
		done, why := is()
		if done {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not in time: %s", what, why)
		}
	}
}

// owners counts the cells of a rollup by following process.
func owners(t testing.TB, s *locus.DB, name string) map[string]int {
	t.Helper()
	r, err := s.Rollups().Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]int{}
	for _, c := range r.Cells {
		cells[c.Owner]++
	}
	return cells
}

// Two processes share the cells of an installation, so that each follows some of them. When one ends, the other follows
// all.
func TestP04_ProcessesShareCells(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	where := pgtest.Shared(t).URL(pgtest.Shared(t).Database(t))
	a := openAt(t, where, &storage.Options{Cells: 4})
	defer a.Close()
	define(t, a, byCategory, bySource)
	latest(t, a, "by_source")
	b := openAt(t, where, &storage.Options{MustExist: true})
	closed := sync.OnceValue(b.Close)
	defer func() { _ = closed() }()
	r := rand.New(rand.NewPCG(1, 1))
	until(t, "two processes share the cells", func() (bool, string) {
		for _, s := range []*locus.DB{a, b} {
			randomWrite(t, s, r)
		}
		cells := owners(t, a, "by_source")
		return len(cells) == 2 && cells[""] == 0, fmt.Sprint(cells)
	})
	before := b.Rollups().Applied()
	until(t, "both apply changes", func() (bool, string) {
		randomWrite(t, a, r)
		return b.Rollups().Applied() > before, "one does not"
	})
	for _, s := range []*locus.DB{a, b} {
		latest(t, s, "by_category")
		wantTrue(t, s, "by_category")
		wantTrue(t, s, "by_source")
	}
	gone := owners(t, a, "by_source")
	if err := closed(); err != nil {
		t.Fatal(err)
	}
	until(t, "one process follows all cells", func() (bool, string) {
		randomWrite(t, a, r)
		cells := owners(t, a, "by_source")
		return len(cells) == 1 && cells[""] == 0, fmt.Sprintf("%v, before %v", cells, gone)
	})
	latest(t, a, "by_category")
	wantTrue(t, a, "by_category")
	wantTrue(t, a, "by_source")
}

// A reader that switches from one process to another does not go back in time, even if the second has not yet seen that
// a rebuilt generation is active.
func TestP04_P05_ReadersGoFromProcessToProcess(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	where := pgtest.Shared(t).URL(pgtest.Shared(t).Database(t))
	a := openAt(t, where, &storage.Options{Cells: 2})
	defer a.Close()
	define(t, a, bySource)
	latest(t, a, "by_source")
	b := openAt(t, where, &storage.Options{MustExist: true})
	defer b.Close()
	r := rand.New(rand.NewPCG(2, 2))
	for range 4 {
		latest(t, b, "by_source")
		before, err := a.Rollups().Rebuild(t.Context(), "by_source")
		if err != nil {
			t.Fatal(err)
		}
		until(t, "the rebuilt rollup serves", func() (bool, string) {
			randomWrite(t, a, r)
			seen := latest(t, a, "by_source")
			for range 2 {
				for _, s := range []*locus.DB{b, a} {
					now, err := s.Rollups().Query(t.Context(), "by_source", rollups.Query{Read: rollups.Read{Patience: patience(t)}})
					if err != nil {
						t.Fatal(err)
					}
					if !now.Watermark.Contains(seen.Watermark) {
						t.Fatalf("generation %d was at %v, and another process returns generation %d at %v", seen.Generation,
							seen.Watermark, now.Generation, now.Watermark)
					}
					seen = now
				}
			}
			return seen.Generation >= before.Building, fmt.Sprintf("generation %d", seen.Generation)
		})
	}
}

// Cells move to another file or a server and back, and cells are added, under load. Rollups stay correct.
func TestP04_P05_MovedCell(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for name, places := range map[string]func(*testing.T) (where string, to []string){
		"file": func(t *testing.T) (string, []string) {
			return t.TempDir(), []string{"sqlite:" + filepath.Join(t.TempDir(), "moved.db")}
		},
		"server": func(t *testing.T) (string, []string) {
			server := pgtest.Start(t, nil)
			return server.URL("locus"), []string{server.URL("moved"), server.URL("again")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "server" {
				longtest.Gate(t, "the same with SQLite")
			}
			where, to := places(t)
			s := openAt(t, where, &storage.Options{Cells: 3, Notice: time.Second})
			defer s.Close()
			define(t, s, byCategory, bySource, byNumber)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var work sync.WaitGroup
			work.Go(func() {
				r := rand.New(rand.NewPCG(3, 3))
				for ctx.Err() == nil {
					randomWrite(t, s, r)
					engine.Sleep(ctx, pace, nil)
				}
			})
			work.Go(func() { readForward(ctx, t, s, "by_number") })
			for i, url := range to {
				if _, err := s.Cells().Move(t.Context(), cell.ID{Index: uint32(i)}, cell.Destination{URL: url}, func(cell.MoveProgress) {}); err != nil {
					t.Error(err)
				}
				wantTrue(t, s, "by_category")
			}
			if err := s.Cells().Grow(t.Context(), cell.Growth{Cells: 9}, func(cell.Progress) {}); err != nil {
				t.Error(err)
			}
			if _, err := s.Rollups().Rebuild(t.Context(), "by_source"); err != nil {
				t.Error(err)
			}
			served(t.Context(), s, "by_source")
			cancel()
			work.Wait()
			for _, name := range []string{"by_category", "by_source", "by_number"} {
				if a := latest(t, s, name); len(a.Watermark) != 12 {
					t.Errorf("rollup %s is true at %v, want all of 12 cells", name, a.Watermark)
				}
				wantTrue(t, s, name)
			}
		})
	}
}

// An installation is restored from a backup without the latest changes. Its rollups immediately match its contents, and
// readers with later watermarks learn that this history was lost.
func TestP04_P05_RestoredBackup(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir, backup := t.TempDir(), filepath.Join(t.TempDir(), "backup")
	r := rand.New(rand.NewPCG(4, 4))
	work := func(s *locus.DB) {
		for range 12 {
			randomWrite(t, s, r)
		}
	}
	s := openAt(t, dir, &storage.Options{Cells: 2})
	define(t, s, byCategory, bySource)
	work(s)
	latest(t, s, "by_category")
	must(t, s.Close())
	must(t, os.CopyFS(backup, os.DirFS(dir)))
	s = openAt(t, dir, &storage.Options{MustExist: true})
	work(s)
	lost := latest(t, s, "by_category").Watermark
	must(t, s.Close())

	cells, err := storage.Open(t.Context(), backup, &storage.Options{MustExist: true, Restored: true, Scratch: true})
	must(t, err)
	must(t, cell.Reincarnate(t.Context(), cells))
	must(t, cells.Close())
	s = openAt(t, backup, &storage.Options{MustExist: true})
	defer s.Close()
	for _, when := range []string{"restored", "gone on with"} {
		tail, err := s.Changes().Tail(t.Context(), nil)
		must(t, err)
		for _, name := range []string{"by_category", "by_source"} {
			a := latest(t, s, name)
			if !a.Watermark.Contains(tail) {
				t.Errorf("%s: rollup %s is at %v, the logs end at %v", when, name, a.Watermark, tail)
			}
			wantTrue(t, s, name)
			if _, err := s.Rollups().Query(t.Context(), name, rollups.Query{Read: rollups.Read{Min: lost}}); !errors.Is(err, changelog.ErrTrimmed) {
				t.Errorf("%s: rollup %s at %v, which was lost: %v", when, name, lost, err)
			}
		}
		if _, _, err := s.Changes().Read(t.Context(), changes.Query{After: lost}); !errors.Is(err, changelog.ErrTrimmed) {
			t.Errorf("%s: changes after %v, which was lost: %v", when, lost, err)
		}
		work(s)
		if _, _, err := s.Changes().Read(t.Context(), changes.Query{After: tail}); err != nil {
			t.Errorf("%s: changes after %v, where the log ended: %v", when, tail, err)
		}
		if _, err := s.Rollups().Query(t.Context(), "by_source", rollups.Query{Read: rollups.Read{Min: tail}}); err != nil && !errors.Is(err, rollup.ErrBehind) {
			t.Errorf("%s: rollup by_source at %v, where the log ended: %v", when, tail, err)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// An idle installation uses almost no resources, and a write in one process is soon seen by the other.
func TestP04_AnIdleInstallationRests(t *testing.T) {
	t.Parallel()
	const cells = 8
	server := pgtest.Start(t, nil)
	where := server.URL("locus")
	a := openAt(t, where, &storage.Options{Cells: cells})
	defer a.Close()
	define(t, a, byCategory, bySource)
	b := openAt(t, where, &storage.Options{MustExist: true})
	defer b.Close()
	r := rand.New(rand.NewPCG(3, 3))
	until(t, "two processes share the cells", func() (bool, string) {
		for _, s := range []*locus.DB{a, b} {
			randomWrite(t, s, r)
		}
		shared := owners(t, a, "by_source")
		return len(shared) == 2 && shared[""] == 0, fmt.Sprint(shared)
	})
	// Polling every cell four times a second would be more than a hundred transactions a second.
	const most = 40
	done := func() (n float64) {
		rows := server.Exec(t, "postgres",
			"SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database WHERE datname LIKE 'locus%'")
		if _, err := fmt.Sscan(rows[0][0], &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	last, at := done(), time.Now()
	until(t, "the installation rests", func() (bool, string) {
		took := time.Since(at)
		if took < 5*time.Second { // PostgreSQL reports statistics of idle sessions with a delay
			return false, "too early"
		}
		now := done()
		each := (now - last) / took.Seconds()
		last, at = now, time.Now()
		return each > 0 && each < most, fmt.Sprintf("%.0f transactions a second", each)
	})
	for _, s := range []*locus.DB{a, b} {
		randomWrite(t, s, r)
		begun := time.Now()
		latest(t, a, "by_source")
		latest(t, b, "by_category")
		t.Logf("counted after %v", time.Since(begun))
		wantTrue(t, a, "by_source")
		wantTrue(t, b, "by_category")
	}
}
