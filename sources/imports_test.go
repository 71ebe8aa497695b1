// SPDX-License-Identifier: Apache-2.0

package sources_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/sources"
)

// The last import of a source takes the place of the one before, and is there after the installation was closed.
func TestImports_TheLastOneStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, dir, false)
	for n := range int64(2) {
		if err := db.Sources().Imported(t.Context(), "crm", sources.Import{File: fmt.Sprint("crm-", n, ".csv"), Rows: 9,
			Outcomes: map[string]int64{"created": 7, "refused": 2}, Refusals: []sources.Refusal{{Cause: "name missing", Rows: 2, First: 3}}}); err != nil {
			t.Fatal(err)
		}
	}
	before, err := db.Sources().Imports(t.Context())
	if err != nil || len(before) != 1 || before["crm"].File != "crm-1.csv" || before["crm"].At.IsZero() || before["crm"].Refusals[0].First != 3 {
		t.Fatalf("%+v, %v", before, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	after, err := open(t, dir, false).Sources().Imports(t.Context())
	if diff := cmp.Diff(before, after); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestImports_RefusesWhatIsTooLong(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir(), false)
	long := strings.Repeat("x", sources.MaxFile+1)
	for source, i := range map[string]sources.Import{
		"CRM": {}, "file": {File: long}, "stopped": {Stopped: long}, "outcome": {Outcomes: map[string]int64{long: 1}},
		"cause": {Refusals: []sources.Refusal{{Cause: long}}}, "causes": {Refusals: make([]sources.Refusal, sources.MaxRefusals+1)},
	} {
		if err := db.Sources().Imported(t.Context(), source, i); !errors.Is(err, locus.ErrInvalid) {
			t.Errorf("%s: %v", source, err)
		}
	}
	if all, err := db.Sources().Imports(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}
