// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/bulk"
)

// TestImporter_ProgressIsOfCommittedRows commits half of a file whose rows are all read.
func TestImporter_ProgressIsOfCommittedRows(t *testing.T) {
	t.Parallel()
	start := time.Now()
	im := &importer{app: &app{}, plan: &bulk.Plan{Source: "crm"}, flags: &ingesting{}, start: start,
		now: func() time.Time { return start.Add(2 * time.Second) }, reader: &bulk.Reader{Size: 400},
		state: bulk.State{Counts: map[string]int64{}, Causes: bulk.Causes{}}}
	if got, want := im.line(), "0   0/s"; got != want {
		t.Errorf("before the first commit: %q, want %q", got, want)
	}
	half := newBatch()
	half.checked, half.taken = 10, 200
	if err := im.commit(half); err != nil {
		t.Fatal(err)
	}
	if got := im.line(); !strings.HasPrefix(got, "10 / 20  50 %   5/s") || !strings.HasSuffix(got, "   2s left") {
		t.Errorf("%q", got)
	}
}
