// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	test     = regexp.MustCompile(`\bTest[A-Z]\w+`)
	declared = regexp.MustCompile(`(?m)^func (Test[A-Z]\w+)\(`)
	promised = regexp.MustCompile(`^TestP[0-9]{2}_`)
)

// docs/RELIABILITY.md names every test that carries a promise in its name, and none that is gone.
func TestReliability_NamesTheTests(t *testing.T) {
	t.Parallel()
	named := unique(test.FindAllString(pageAt(t, "docs/RELIABILITY.md").text(), -1))
	var written []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range declared.FindAllSubmatch(content, -1) {
			written = append(written, string(m[1]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	written = unique(written)
	for _, name := range named {
		if !slices.Contains(written, name) {
			t.Errorf("docs/RELIABILITY.md names %s, which is not there", name)
		}
	}
	for _, name := range written {
		if promised.MatchString(name) && !slices.Contains(named, name) {
			t.Errorf("docs/RELIABILITY.md does not name %s", name)
		}
	}
}

// Every planted bug that the page names is there.
func TestReliability_NamesBugs(t *testing.T) {
	t.Parallel()
	named := unique(regexp.MustCompile("`p[0-9]{2}-[a-z-]+`").FindAllString(pageAt(t, "docs/RELIABILITY.md").text(), -1))
	if len(named) < 40 {
		t.Errorf("%d bugs are named", len(named))
	}
	for _, name := range named {
		if _, err := os.Stat(filepath.Join(root, "internal", "mutant", "bugs", strings.Trim(name, "`")+".patch")); err != nil {
			t.Error(err)
		}
	}
}

func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
