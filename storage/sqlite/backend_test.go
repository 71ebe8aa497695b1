// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/sqlite"
	"github.com/locus-db/locus/storage/storagetest"
)

func TestOpen_RefusesAnotherCell(t *testing.T) {
	t.Parallel()
	f := openFile(t)
	if err := errors.Join(f.Exclusive(t.Context(), func(tx storage.Tx) error {
		return tx.SetHead(t.Context(), cell.Head{Incarnation: 1, KnownEpoch: 1}) // a cell in use
	}), f.Close()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*cell.Identity)
		says   []string
	}{
		"of another installation": {func(id *cell.Identity) { id.Map = "ffff" }, []string{"7c0e31", "ffff"}},
		"swapped":                 {func(id *cell.Identity) { id.Cell.Index = 4 }, []string{"g1-19", "g1-4"}},
		"of another generation":   {func(id *cell.Identity) { id.Cell.Gen = 0 }, []string{"g1-19", "g0-19"}},
		"with another range":      {func(id *cell.Identity) { id.Lo++ }, []string{"restore the map"}},
		"with another end":        {func(id *cell.Identity) { id.Hi-- }, []string{"restore the map"}},
		"under other rules":       {func(id *cell.Identity) { id.Rules = "place/2" }, []string{`"place/1"`, `"place/2"`, "new installation"}},
	} {
		t.Run(name, func(t *testing.T) {
			id := identity()
			c.change(&id)
			_, err := sqlite.Open(t.Context(), f.path, id, nil)
			if !errors.Is(err, cell.ErrIdentity) {
				t.Fatalf("a cell %s: %v, want ErrIdentity", name, err)
			}
			for _, word := range append(c.says, filepath.Base(f.path)) {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("the error does not say %s: %v", word, err)
				}
			}
		})
	}
	if err := f.open(); err != nil {
		t.Errorf("the cell itself, after all refusals: %v", err)
	}
}

func TestOpen_RefusesWhatIsNoCell(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		want error
		says string
	}{
		"a text":            {func(t *testing.T, path string) { write(t, path, strings.Repeat("not a database\n", 100)) }, cell.ErrFormat, "no database"},
		"another program's": {func(t *testing.T, path string) { script(t, path, "CREATE TABLE invoices (id INTEGER)") }, cell.ErrFormat, "another program"},
		"a newer Locus's":   {func(t *testing.T, path string) { cellOf(t, path); script(t, path, "PRAGMA user_version = 99") }, cell.ErrFormat, "format 99, this one reads up to "},
		"a newer one's that only newer ones may work with": {func(t *testing.T, path string) {
			cellOf(t, path)
			script(t, path, fmt.Sprintf("PRAGMA user_version = %d", 99+99<<16))
		}, cell.ErrFormat, "format 99, this one reads up to "},
		"an unreleased one's": {func(t *testing.T, path string) {
			cellOf(t, path)
			script(t, path, "PRAGMA user_version = 2")
		}, cell.ErrFormat, "before the first release"},
		"an empty one":       {func(t *testing.T, path string) { write(t, path, "") }, cell.ErrMissing, "backup"},
		"one that must be":   {func(*testing.T, string) {}, cell.ErrMissing, "backup"},
		"a file cut short":   {func(t *testing.T, path string) { write(t, path, "SQLite format 3\x00 and no more") }, cell.ErrFormat, "no database"},
		"another's settings": {func(t *testing.T, path string) { script(t, path, "PRAGMA application_id = 7; CREATE TABLE a (b)") }, cell.ErrFormat, "another program"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "cell.db")
			c.make(t, path)
			_, err := sqlite.Open(t.Context(), path, identity(), &sqlite.Options{MustExist: true})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v, want %v and %q", name, err, c.want, c.says)
			}
		})
	}
}

// A file of a newer format is worked with if its oldest reader is this format, or a former one, and keeps its numbers.
func TestOpen_TakesWhatANewerOneHasOnlyAddedTo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cell.db")
	cellOf(t, path)
	for _, reader := range []int{sqlite.Format, sqlite.Format - 1} {
		script(t, path, fmt.Sprintf("PRAGMA user_version = %d; CREATE TABLE IF NOT EXISTS added (one INTEGER)", 99+reader<<16))
		cellOf(t, path)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if has := binary.BigEndian.Uint32(before[60:]); has != uint32(99+reader<<16) { // where SQLite has user_version
			t.Errorf("oldest reader %d: user_version is %d then", reader, has)
		}
	}
}

func TestOpen_TakesAnyPath(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b.db", "what?.db", "100%25.db", "#1.db", "ü'\".db", "file:x.db", "-x"} {
		path := filepath.Join(t.TempDir(), name)
		for range 2 {
			c, err := sqlite.Open(t.Context(), path, identity(), nil)
			if err != nil {
				t.Fatalf("%q: %v", name, err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 || entries[0].Name() != name {
			t.Errorf("%q left %v, %v", name, entries, err)
		}
	}
}

// A file whose creation was interrupted is completed by the next start.
func TestOpen_FinishesAnInterruptedCreation(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, path string){
		"before the first page":  func(t *testing.T, path string) { write(t, path, "") },
		"before the first table": func(t *testing.T, path string) { script(t, path, "PRAGMA journal_mode = WAL") },
		"before the identity": func(t *testing.T, path string) {
			c, err := sqlite.Open(t.Context(), path, identity(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			script(t, path, "DELETE FROM locus_cell")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "cell.db")
			prepare(t, path)
			cellOf(t, path)
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func script(t *testing.T, path, sql string) {
	t.Helper()
	if err := sqlite.Script(path, sql); err != nil {
		t.Fatal(err)
	}
}

// cellOf creates or opens a cell, uses it and closes it.
func cellOf(t *testing.T, path string) {
	t.Helper()
	c, err := sqlite.Open(t.Context(), path, identity(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(storagetest.NewLoad().Write(t.Context(), c, 3), c.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	f := openFile(t)
	if err := storagetest.NewLoad().Write(t.Context(), f, 100); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(f.path)); err != nil || len(entries) != 1 {
		t.Errorf("closing left %v, %v, want the file alone", entries, err)
	}
	nothing := func(storage.Tx) error { return nil }
	for name, err := range map[string]error{"update": f.Update(t.Context(), nothing), "view": f.View(t.Context(), nothing)} {
		if !errors.Is(err, sqlite.ErrClosed) || !errors.Is(err, cell.ErrUnavailable) {
			t.Errorf("%s after closing: %v, want ErrClosed", name, err)
		}
	}
	if _, err := f.Stats(t.Context()); !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("stats after closing: %v, want ErrClosed", err)
	}
}

// Close waits for the transactions in flight, which end normally, and wakes waiting callers.
func TestClose_Waits(t *testing.T) {
	t.Parallel()
	f := &file{path: filepath.Join(t.TempDir(), "cell.db"), id: identity()}
	synctest.Test(t, func(t *testing.T) {
		if err := f.open(); err != nil {
			t.Fatal(err)
		}
		begun, goOn := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := f.Update(context.Background(), func(tx storage.Tx) error {
				close(begun)
				<-goOn
				_, err := tx.PutRedo(context.Background(), []derived.Redo{{PUID: 5}})
				return err
			}); err != nil {
				t.Errorf("the update in flight: %v", err)
			}
		})
		<-begun
		wg.Go(func() {
			if err := f.Update(context.Background(), func(storage.Tx) error { return nil }); !errors.Is(err, sqlite.ErrClosed) {
				t.Errorf("the update that waited: %v, want ErrClosed", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if err := f.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
		synctest.Wait()
		close(goOn)
		wg.Wait()
	})
	if err := f.open(); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.View(t.Context(), func(tx storage.Tx) error {
		depth, err := tx.RedoDepth(t.Context())
		if depth != 1 {
			t.Errorf("the update in flight left %d entries", depth)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// A caller waiting for a connection gives up when its context ends.
func TestWaiting_EndsWithTheContext(t *testing.T) {
	t.Parallel()
	f := openFile(t)
	ctx, cancel := context.WithCancel(t.Context())
	if err := f.Update(t.Context(), func(storage.Tx) error {
		done := make(chan error)
		go func() { done <- f.Update(ctx, func(storage.Tx) error { return nil }) }()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("an update that waited: %v, want Canceled", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestStats(t *testing.T) {
	t.Parallel()
	f := openFile(t)
	if err := storagetest.NewLoad().Write(t.Context(), f, 40); err != nil {
		t.Fatal(err)
	}
	got, err := f.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Cell != (cell.ID{Gen: 1, Index: 19}) || got.PUIDs != 40 || got.PUIDRoom != 1<<32-1 || got.Bytes < 40*1000 || got.WAL <= 0 || got.WAL >= got.Bytes {
		t.Errorf("stats are %+v", got)
	}
}

// A long log is copied into the file, so that it does not grow without limit.
func TestLog_StaysShort(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cell.db")
	const logSize = 128 << 10
	c, err := sqlite.Open(t.Context(), path, identity(), &sqlite.Options{LogSize: logSize})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l := storagetest.NewLoad()
	for range 12 {
		if err := l.Write(t.Context(), c, 80); err != nil {
			t.Fatal(err)
		}
	}
	wal, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if wal.Size() > 6*logSize || file.Size() < 8*logSize {
		t.Errorf("the log has %d bytes and the file %d, after much more was written", wal.Size(), file.Size())
	}
}

// addOne counts one record and writes a posting of it in one transaction.
func addOne(t *testing.T, c storage.Cell) error {
	t.Helper()
	return c.Update(t.Context(), func(tx storage.Tx) error {
		counts, err := tx.Counts(t.Context())
		if err != nil {
			return err
		}
		return errors.Join(tx.AddCounts(t.Context(), entity.Counts{Records: 1}),
			tx.Post(t.Context(), []derived.Posting{{Key: 9, PUID: entity.PUID(counts.Records + 1)}}, nil))
	})
}

func countOf(t *testing.T, c storage.Cell) (n int64, err error) {
	t.Helper()
	err = c.View(t.Context(), func(tx storage.Tx) error {
		counts, err := tx.Counts(t.Context())
		n = counts.Records
		return err
	})
	return n, err
}
