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
	gated    = regexp.MustCompile(`longtest\.Gate\(`)
	promised = regexp.MustCompile(`^TestP[0-9]{2}_`)
)

// docs/RELIABILITY.md names every test that carries a promise in its name, and none that is gone.
func TestReliability_NamesTheTests(t *testing.T) {
	t.Parallel()
	named := unique(test.FindAllString(pageAt(t, "docs/RELIABILITY.md").text(), -1))
	var written []string
	for _, content := range sources(t) {
		for _, m := range declared.FindAllStringSubmatch(content, -1) {
			written = append(written, m[1])
		}
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

// docs/RELIABILITY.md lists the tests of promises that go test leaves to the gate.
func TestReliability_ListsWhatIsLeftToTheGate(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(pageAt(t, "docs/RELIABILITY.md").text(), "## Where each is shown")
	listed, _, _ := strings.Cut(section, "Tests that draw samples")
	left := 0
	for path, content := range sources(t) {
		for _, at := range gated.FindAllStringIndex(content, -1) {
			names := declared.FindAllStringSubmatch(content[:at[0]], -1)
			if len(names) == 0 {
				continue // a helper that tests call
			}
			name := names[len(names)-1][1]
			if left++; promised.MatchString(name) && !strings.Contains(listed, "`"+name+"`") {
				t.Errorf("%s: %s is left to the gate, and docs/RELIABILITY.md does not list it", path, name)
			}
		}
	}
	if left < 10 {
		t.Errorf("%d tests are left to the gate", left)
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

// sources returns the files of tests by their paths.
func sources(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		files[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
