// SPDX-License-Identifier: Apache-2.0

package mutant_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	// nightly is the number of mutations to try.
	nightly = 100
	// leastFound is the share that tests of the package must find, in percent.
	leastFound = 70
)

// kits matches directories of code that no product contains.
var kits = regexp.MustCompile(`^(bench|conformance|docs|e2e|eval|internal/(archtest|mongotest|mutant|pgtest|porttest)|tools|.*test)(/|$)`)

// Random mutations of production lines are made one at a time, and the tests of their package must find most of
// them. The date is the seed: LOCUS_SEED repeats a night, LOCUS_MUTATIONS sets the number, and LOCUS_MUTATE is a
// regular expression of file names. Survivors are printed. A mutation without an observable effect is listed in
// equivalent.txt with the reason.
func TestRandomMutations(t *testing.T) {
	if os.Getenv("LOCUS_LONG") == "" {
		t.Skip("set LOCUS_LONG=1: it builds and runs the tests of a hundred packages")
	}
	now := time.Now().UTC()
	seed := number(t, "LOCUS_SEED", uint64(now.Year()*10000+int(now.Month())*100+now.Day())) //nolint:gosec // a day of our time
	left := number(t, "LOCUS_MUTATIONS", nightly)
	all := everyMutation(t, regexp.MustCompile(os.Getenv("LOCUS_MUTATE")))
	rand.New(rand.NewPCG(seed, 16)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] }) //nolint:gosec // to be repeated
	t.Logf("seed %d: %d of %d places", seed, min(left, uint64(len(all))), len(all))

	listed := equivalent(t)
	kept := map[string]*baseline{}
	counts, by := map[string]int{}, map[string]map[string]int{}
	for _, m := range all {
		if left == 0 {
			break
		}
		pkg := filepath.Dir(m.file)
		outcome := "equivalent"
		if _, is := listed[m.String()]; !is {
			if kept[pkg] == nil {
				kept[pkg] = newBaseline(t, pkg)
			}
			if outcome = kept[pkg].try(t, m); outcome == "" {
				continue // it does not compile
			}
		}
		left--
		counts[outcome]++
		if by[pkg] == nil {
			by[pkg] = map[string]int{}
		}
		by[pkg][outcome]++
		t.Logf("%-10s %s:%d %s", outcome, m.file, m.line, strings.TrimPrefix(m.String(), m.file+" "))
	}
	for pkg, of := range by {
		t.Logf("%-20s %v", pkg, of)
	}
	found, survived := counts["found"]+counts["endless"], counts["survived"]+counts["unreached"]
	tried := found + survived
	t.Logf("%d tried, %d found (%d of them by time), %d survived (%d on lines that no test reaches), %d equivalent by the list",
		tried, found, counts["endless"], survived, counts["unreached"], counts["equivalent"])
	if tried >= 20 && found*100 < tried*leastFound {
		t.Errorf("tests find %d of %d mutations, fewer than %d in a hundred", found, tried, leastFound)
	}
}

// number returns the value of an environment variable.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// everyMutation returns the mutations of all production files of packages that have tests, in order.
func everyMutation(t *testing.T, only *regexp.Regexp) (all []mutation) {
	t.Helper()
	tested := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(file))
		switch name := d.Name(); {
		case d.IsDir() && file != "." && (strings.HasPrefix(name, ".") || name == "testdata" || kits.MatchString(filepath.ToSlash(file)) || nested(path)):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || !only.MatchString(filepath.ToSlash(file)):
			return nil
		}
		if _, known := tested[dir]; !known {
			tests, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*_test.go"))
			tested[dir] = len(tests) > 0
		}
		source, err := os.ReadFile(path)
		if err != nil || !tested[dir] || strings.Contains(string(source), "\n//go:build ") {
			return err // files built on some systems only may be missing
		}
		of, err := mutations(filepath.ToSlash(file), source)
		all = append(all, of...)
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%d places to mutate: %v", len(all), err)
	}
	return all
}

// nested reports whether a directory is a module of its own.
func nested(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil && filepath.Clean(dir) != root
}

// equivalent reads the list of mutations that no test can find.
func equivalent(t *testing.T) map[string]string {
	t.Helper()
	content, err := os.ReadFile("equivalent.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		name, reason, is := strings.Cut(line, " # ")
		if !is {
			t.Fatalf("equivalent.txt: %s: want `FILE FUNCTION: \"WAS\" becomes \"IS\" # REASON`", line)
		}
		listed[name] = reason
	}
	return listed
}

// Each listed mutation can still be made.
func TestEquivalent_CanBeMade(t *testing.T) {
	t.Parallel()
	for name := range equivalent(t) {
		file, _, _ := strings.Cut(name, " ")
		source, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Error(err)
			continue
		}
		all, err := mutations(file, source)
		if err != nil {
			t.Error(err)
		}
		if !slices.ContainsFunc(all, func(m mutation) bool { return m.String() == name }) {
			t.Errorf("equivalent.txt: %s: the code has no such place any more: remove the line, or write it again", name)
		}
	}
}
