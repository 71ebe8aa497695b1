// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"testing"

	"github.com/locus-db/locus/storage/storagetest"
)

// Vacuum covers every table and keeps live data.
func TestVacuum(t *testing.T) {
	t.Parallel()
	d := direct(t).open(t)
	if err := storagetest.NewLoad().Write(t.Context(), d, 100); err != nil {
		t.Fatal(err)
	}
	if err := d.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	stats, err := d.Stats(t.Context())
	if err != nil || stats.PUIDs != 100 {
		t.Errorf("%d puids are given away, want 100: %v", stats.PUIDs, err)
	}
	if p := stats.Pool; p.Server == "" || p.Budget < p.Open || p.Open-p.Idle < 1 || p.Waiting != 0 {
		t.Errorf("while the statistics are read, the connections are %+v", p)
	}
}
