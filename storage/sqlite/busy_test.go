// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// patience is the longest wait of a test on a busy machine.
const patience = 3 * time.Minute

// A file whose write lock another program holds costs one write the lock timeout. A caller with a deadline gets its
// error in time; later writes are refused at once; reads continue; and the cell recovers on its own.
func TestP12_LockedFile(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	f := openFile(t)
	put := func(ctx context.Context, puid entity.PUID) error {
		return f.Update(ctx, func(tx storage.Tx) error {
			_, err := tx.PutRedo(ctx, []derived.Redo{{PUID: puid, Version: 1}})
			return err
		})
	}
	if err := errors.Join(put(t.Context(), 1), f.Writable(t.Context())); err != nil {
		t.Fatal(err)
	}
	unlock := lockFile(t, f.path)

	if err := f.Writable(t.Context()); !errors.Is(err, cell.ErrUnavailable) {
		t.Errorf("Writable before any write: %v, want ErrUnavailable", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := put(ctx, 2); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, cell.ErrCommitUnknown) {
		t.Errorf("a caller with a deadline: %v, want its context's error", err)
	}
	began := time.Now()
	if err := put(t.Context(), 2); !errors.Is(err, cell.ErrUnavailable) || errors.Is(err, cell.ErrCommitUnknown) {
		t.Errorf("a file that is locked: %v, want ErrUnavailable", err)
	}
	if took := time.Since(began); took > 4*time.Second { // SQLite's own timeout would be 5 s
		t.Errorf("refused after %v", took)
	}
	if err := put(t.Context(), 2); !errors.Is(err, cell.ErrUnavailable) || !strings.Contains(err.Error(), "not asked again") {
		t.Errorf("the next one: %v, want ErrUnavailable at once", err)
	}
	if err := f.Read(t.Context(), func(tx storage.Tx) error { _, err := tx.RedoDepth(t.Context()); return err }); err != nil {
		t.Errorf("what reads: %v", err)
	}

	unlock()
	for end := time.Now().Add(patience); f.Writable(t.Context()) != nil; {
		if time.Now().After(end) {
			t.Fatal("it is refused though the lock is gone")
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
	if err := put(t.Context(), 3); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// lockFile holds the write lock like another program.
func lockFile(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
	}
}
