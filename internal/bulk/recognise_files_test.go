// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// The files in testdata/exports have the headers of programs, registers and collections as they write them, with rows
// of made-up values. testdata/exports.txt says what each column becomes; UPDATE=1 writes it.
func TestRecognise_ExportedFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/exports/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var got strings.Builder
	for _, file := range files {
		p, err := bulk.Recognise(file, nil, match.Kinds(), &bulk.Options{Source: "x", IgnoreUnknown: true})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s: %s, key %s\n", filepath.Base(file), orDash(p.Kind), orDash(strings.Join(p.Key, "+")))
		for _, c := range p.Columns {
			if len(c.To) > 0 && len(c.Values) > 0 && c.To[0] != bulk.ColumnKey {
				fmt.Fprintf(&got, "  %s = %s (%s)\n", strings.Join(c.To, ", "), c.Name, c.Reason)
			}
		}
		for _, a := range p.Sample[0].Attributes["address"] {
			fmt.Fprintf(&got, "  first address: %s\n", a)
		}
	}
	const golden = "testdata/exports.txt"
	if os.Getenv("UPDATE") == "1" {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
