// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/eval"
)

// The figures of matching in README.md equal the ones that make eval checks.
func TestReadme_FiguresAreTheBaseline(t *testing.T) {
	t.Parallel()
	baseline, err := eval.ReadBaseline(filepath.Join(root, "eval", "baseline.json"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \| ([01]\.[0-9]{3}) \(`)
	rows := row.FindAllStringSubmatch(pageAt(t, "README.md").text(), -1)
	if len(rows) == 0 {
		t.Error("README.md has no figures of matching")
	}
	for _, m := range rows {
		want, ok := baseline[strings.TrimSpace(m[1])]
		if got := fmt.Sprintf("%.3f", want); !ok || m[2] != got {
			t.Errorf("README.md says %s of %q, eval/baseline.json %s", m[2], m[1], got)
		}
	}
}
