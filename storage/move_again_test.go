// SPDX-License-Identifier: Apache-2.0

package storage_test

import (
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// written opens an installation of two cells with that many records.
func written(t *testing.T, url string, records int) (*storage.Cells, *resolve.Resolver) {
	t.Helper()
	cells, err := storage.Open(t.Context(), url, &storage.Options{Cells: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cells.Close(); err != nil {
			t.Error(err)
		}
	})
	r := resolver(t, cells)
	putPlaces(t, r, 0, records)
	return cells, r
}

// putPlaces puts the records of these numbers.
func putPlaces(t *testing.T, r *resolve.Resolver, from, to int) {
	t.Helper()
	var ops []resolve.Op
	for n := from; n < to; n++ {
		ops = append(ops, place(n))
	}
	for i, res := range r.Apply(t.Context(), ops) {
		if res.Err != nil {
			t.Fatalf("put %v: %v", ops[i].Ref, res.Err)
		}
	}
}

// A cell that is moved to the database where it already is, under any name, stays there with all its data and
// continues to take records.
func TestP06_MoveToItself(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	link := func(t *testing.T, old, name string) string {
		t.Helper()
		if err := os.Symlink(old, name); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for name, spelled := range map[string]func(t *testing.T, dir string) (url string, id cell.ID){
		"two slashes":   func(*testing.T, string) (string, cell.ID) { return "sqlite:cells//g0-1.db", cell.ID{Index: 1} },
		"a dot":         func(*testing.T, string) (string, cell.ID) { return "sqlite:./cells/g0-1.db", cell.ID{Index: 1} },
		"the authority": func(*testing.T, string) (string, cell.ID) { return "sqlite:cells/./g0-0.db", cell.ID{} },
		"the same":      func(*testing.T, string) (string, cell.ID) { return "sqlite:cells/g0-1.db", cell.ID{Index: 1} },
		"absolute": func(_ *testing.T, dir string) (string, cell.ID) {
			return "sqlite:" + filepath.Join(dir, "cells", "g0-1.db"), cell.ID{Index: 1}
		},
		"a link to the file": func(t *testing.T, dir string) (string, cell.ID) {
			return "sqlite:" + link(t, filepath.Join(dir, "cells", "g0-1.db"), filepath.Join(t.TempDir(), "elsewhere.db")), cell.ID{Index: 1}
		},
		"a link to the directory": func(t *testing.T, dir string) (string, cell.ID) {
			return "sqlite:" + filepath.Join(link(t, dir, filepath.Join(t.TempDir(), "elsewhere")), "cells", "g0-1.db"), cell.ID{Index: 1}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cells, r := written(t, dir, 100)
			url, id := spelled(t, dir)
			movedToItself(t, cells, r, id, url)
		})
	}
	server := pgtest.Start(t, nil)
	host := relay(t, server)
	for name, spell := range map[string]func(url string) string{
		"localhost":        func(url string) string { return strings.Replace(url, "127.0.0.1", "localhost", 1) },
		"a socket":         func(url string) string { return server.URL(strings.TrimPrefix(strings.Split(url, "?")[0], host)) },
		"a parameter more": func(url string) string { return with(url, "application_name=x") },
		"postgresql":       func(url string) string { return "postgresql" + strings.TrimPrefix(url, "postgres") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := host + "locus_" + strings.ReplaceAll(name, " ", "_") + "?sslmode=disable"
			cells, r := written(t, base, 100)
			movedToItself(t, cells, r, cell.ID{Index: 1}, spell(cells.Map().URL(cell.ID{Index: 1})))
		})
	}
}

// relay forwards connections to a port of 127.0.0.1 to the server, which listens on a socket only. It returns the
// prefix of database URLs.
func relay(t *testing.T, server *pgtest.Server) string {
	t.Helper()
	where, err := url.Parse(server.URL("x"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("unix", filepath.Join(where.Query().Get("host"), ".s.PGSQL.5432"))
			if err != nil {
				in.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
				go func() {
					_, _ = io.Copy(way[0], way[1])
					way[0].Close()
				}()
			}
		}
	}()
	return "postgres://postgres@" + l.Addr().String() + "/"
}

// with adds a parameter to a URL.
func with(url, parameter string) string {
	if strings.Contains(url, "?") {
		return url + "&" + parameter
	}
	return url + "?" + parameter
}

func movedToItself(t *testing.T, cells *storage.Cells, r *resolve.Resolver, id cell.ID, url string) {
	t.Helper()
	want, at := inspect(t, cells), cells.Map().URL(id)
	if _, err := r.Move(t.Context(), cells, id, cell.Destination{URL: url}, nil); err != nil {
		t.Errorf("move cell %v from %s to %s: %v", id, at, url, err)
	}
	if diff := cmp.Diff(want, inspect(t, cells)); diff != "" {
		t.Fatalf("cell %v moved from %s to %s, where it is (-want +got):\n%s", id, at, url, diff)
	}
	if got := cells.Map().URL(id); got != at {
		t.Errorf("the map says that cell %v is at %s, want %s", id, got, at)
	}
	putPlaces(t, r, 100, 150)
}

// A cell returns to a database that it left only if the caller allows deleting the old data there. Its content is then
// unchanged, in both directions.
func TestP06_MoveBack(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for name, id := range map[string]cell.ID{"a cell": {Index: 1}, "the authority": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cells, r := written(t, t.TempDir(), 60)
			home, away := cells.Map().URL(id), "sqlite:away.db"
			records := 60
			move := func(url string, replace bool) error {
				_, err := r.Move(t.Context(), cells, id, cell.Destination{URL: url, Replace: replace}, nil)
				return err
			}
			if err := move(away, false); err != nil {
				t.Fatal(err)
			}
			for i, url := range []string{home, away, home} {
				putPlaces(t, r, records, records+20)
				records += 20
				want := inspect(t, cells)
				if err := move(url, false); !errors.Is(err, cell.ErrOccupied) || !strings.Contains(err.Error(), url) {
					t.Fatalf("move %d, to rows of its own: %v, want ErrOccupied with the name of the database", i, err)
				}
				if err := move(url, true); err != nil {
					t.Fatalf("move %d, with its rows replaced: %v", i, err)
				}
				if diff := cmp.Diff(want, inspect(t, cells)); diff != "" {
					t.Fatalf("move %d (-want +got):\n%s", i, diff)
				}
				if got := cells.Map().URL(id); got != url {
					t.Fatalf("the map says that the cell is at %s, want %s", got, url)
				}
			}
			putPlaces(t, r, records, records+20)
			if got := inspect(t, cells).Records; got != records+20 {
				t.Errorf("%d records, want %d", got, records+20)
			}
			db, err := cells.Cell(id)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.View(t.Context(), func(tx storage.Tx) error {
				noted, err := tx.Journaled(t.Context(), 0, 1)
				if err == nil && len(noted) > 0 {
					t.Errorf("the cell notes what changes, though it does not move: %v", noted)
				}
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

// A database in use is not emptied, nor is one that another move or program has written to.
func TestP06_MoveOntoOtherRows(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir, other := t.TempDir(), t.TempDir()
	first, err := storage.Open(t.Context(), dir, &storage.Options{Cells: 2})
	if err != nil {
		t.Fatal(err)
	}
	putPlaces(t, resolver(t, first), 0, 60)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil { // the same installation, elsewhere
		t.Fatal(err)
	}
	strange := t.TempDir()
	second, err := storage.Open(t.Context(), strange, &storage.Options{Cells: 2})
	if err == nil {
		err = second.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	cells, r := written(t, dir, 60)
	for name, to := range map[string]struct {
		file string
		want error
	}{
		"of a copy of the installation": {filepath.Join(other, "cells", "g0-1.db"), cell.ErrOccupied},
		"of another installation":       {filepath.Join(strange, "cells", "g0-1.db"), cell.ErrIdentity},
		"another cell":                  {filepath.Join(dir, "cells", "g0-0.db"), cell.ErrIdentity},
	} {
		for _, replace := range []bool{false, true} {
			_, err := r.Move(t.Context(), cells, cell.ID{Index: 1}, cell.Destination{URL: "sqlite:" + to.file, Replace: replace}, nil)
			if !errors.Is(err, to.want) {
				t.Errorf("move to a database %s: %v, want %v", name, err, to.want)
			}
		}
	}
	putPlaces(t, r, 60, 80)
	if got := inspect(t, cells).Records; got != 80 {
		t.Errorf("%d records, want 80", got)
	}
	copied, _ := written(t, other, 0)
	if got := inspect(t, copied).Records; got != 60 {
		t.Errorf("%d records in the copy, want 60", got)
	}
}
