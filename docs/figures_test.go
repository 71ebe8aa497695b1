// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"regexp"
	"strings"
	"testing"
)

// The figures of matching in README.md are those of quality.md, which make eval prints.
func TestReadme_FiguresAreTheMeasuredOnes(t *testing.T) {
	t.Parallel()
	quality := pageAt(t, "docs/quality.md").text()
	builtIn, rest, _ := strings.Cut(quality, "## Learned without labels")
	learned, _, _ := strings.Cut(rest, "\n## ")
	readme := pageAt(t, "README.md").text()

	rows := regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \| ([01]\.\d{3}) (\([^|]+\)) \|`).FindAllStringSubmatch(readme, -1)
	if len(rows) == 0 {
		t.Error("README.md has no figures of matching")
	}
	for _, m := range rows {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(m[1]) + ` \|.*$`).FindString(builtIn)
		if want := "**" + m[2] + "** " + m[3]; !strings.Contains(row, want) {
			t.Errorf("README.md says %s %s of %q, docs/quality.md: %s", m[2], m[3], m[1], row)
		}
	}

	sentence := regexp.MustCompile(`(fake 1000) is at ([01]\.\d{3}) and (abt-buy) at ([01]\.\d{3})`).FindStringSubmatch(readme)
	if sentence == nil {
		t.Fatal("README.md has no figures of weights learned without labels")
	}
	for i := 1; i < len(sentence); i += 2 {
		row := regexp.MustCompile(`(?m)^\| ` + sentence[i] + ` \|.*$`).FindString(learned)
		if !strings.Contains(row, "**"+sentence[i+1]+"**") {
			t.Errorf("README.md says %s of %q learned without labels, docs/quality.md: %s", sentence[i+1], sentence[i], row)
		}
	}
}
