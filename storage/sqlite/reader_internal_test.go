// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"testing"

	"github.com/locus-db/locus/storage"
)

// Opening a cell and reading its pulse take the write connection. Reads one after the other share a connection; only
// reads at the same time open more.
func TestView_OpensAConnectionForEachReadAtOnce(t *testing.T) {
	t.Parallel()
	c := openCell(t)
	isOpen := func(want int) {
		t.Helper()
		if got := cap(c.spare) - len(c.spare); got != want {
			t.Errorf("%d read connections are open, want %d", got, want)
		}
	}
	if _, err := c.Pulse(t.Context()); err != nil {
		t.Fatal(err)
	}
	isOpen(0)
	nothing := func(storage.Tx) error { return nil }
	for range 3 {
		if err := c.View(t.Context(), nothing); err != nil {
			t.Fatal(err)
		}
	}
	isOpen(1)
	if err := c.View(t.Context(), func(storage.Tx) error {
		return c.View(t.Context(), func(storage.Tx) error { return c.View(t.Context(), nothing) })
	}); err != nil {
		t.Fatal(err)
	}
	isOpen(3)
	if err := c.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	isOpen(3)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}
