// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"testing"

	"github.com/locus-db/locus/internal/console"
)

func TestData_ShowsSources(t *testing.T) {
	t.Parallel()
	root := render(t, reviewRenderings(t, console.New("1"), "crm")["data"])
	rows := table(t, root, "numbers groups data-sources")
	if got, want := find(t, rows, "crm stream running"), "crm 0.9 | 2026-11-20 12:00:00 UTC | 7 | 2 | 1 | 8 | 3 | 2026-11-20 12:00:00 UTC crm: 12,036, 36 refused, stopped"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := find(t, rows, "crm"), "default | – | | | | – | – | –"; got != want && got != "default | – |  |  |  | – | – | –" {
		t.Errorf("%q, want %q", got, want)
	}
}
