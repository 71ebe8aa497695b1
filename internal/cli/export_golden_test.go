// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/match"
)

// severalPhones are two records of one shop with so many phones each, of which they share the first.
func severalPhones(each int) string {
	var b strings.Builder
	for i, source := range []string{"crm", "web"} {
		phones := []string{"212-555-0100"}
		for n := 1; n < each; n++ {
			phones = append(phones, fmt.Sprintf("+49 228 %06d", 100_000+i*each+n))
		}
		line, _ := json.Marshal(map[string]any{"source": source, "key": "1", "name": "Brass Heron Antiques", "phones": phones,
			"observed_at": "2026-01-02T03:04:05Z"})
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// An entity has the values of all of its records, and is read in again as one record.
func TestExport_EntitiesWithManyValuesComeBack(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		each, kept int
		says       string
	}{
		{40, 79, ""},
		{match.MaxValues, match.MaxValues, "1 entity has more values than a record may have; the last 1,023 are left out"},
	} {
		a := path(fmt.Sprint("a", c.each))
		if err := os.WriteFile(path("in.jsonl"), []byte(severalPhones(c.each)), 0o600); err != nil {
			t.Fatal(err)
		}
		done(t, "ingest", "--data", a, path("in.jsonl"))
		for _, format := range []string{"csv", "jsonl", "parquet"} {
			name, b := path("golden."+format), path(fmt.Sprint(format, c.each))
			done(t, "export", "entities", "--data", a, "-o", name)
			r := done(t, "ingest", "--data", b, "--source", "golden", name)
			if strings.Contains(r.err, "left out") != (c.says != "") || !strings.Contains(r.err, c.says) {
				t.Errorf("%d values, %s: says %q, want %q", c.each, format, r.err, c.says)
			}
			got := done(t, "export", "entities", "--data", b, "--columns", "phones").stdout
			if n := strings.Count(got, "|") + 1; n != c.kept {
				t.Errorf("%d values, %s: %d phones, want %d", c.each, format, n, c.kept)
			}
		}
	}
}
