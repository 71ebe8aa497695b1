// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/archtest"
)

// startsGoroutines reports whether a file or a function has a go statement or calls a method Go, as groups have.
func startsGoroutines(in ast.Node) (starts bool) {
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			starts = true
		case *ast.CallExpr:
			if f, is := n.Fun.(*ast.SelectorExpr); is && f.Sel.Name == "Go" {
				starts = true
			}
		}
		return !starts
	})
	return starts
}

// notRaced are packages whose goroutines the gate does not search for races, with the reason.
var notRaced = map[string]string{
	"internal/cli":                       "its goroutines call packages that are searched",
	"internal/pgtest":                    "starts servers for tests",
	"internal/mongotest":                 "starts servers for tests",
	"internal/conformance":               "runs the cases of suites, which the backends run under the detector",
	"internal/conformance/celltest":      "cases that the backends run under the detector",
	"internal/conformance/copytest":      "cases that storage runs under the detector",
	"internal/conformance/documentstest": "cases that storage/mongodb runs under the detector",
	"sink/nats":                          "the detector would have its broker compiled again, which takes longer than all its tests",
	"sink/sinktest":                      "cases that the drivers of sinks run",
	"storage/storagetest":                "cases that the backends run under the detector",
}

// The gate runs the tests of every package that starts goroutines under the race detector.
func TestRaced_ListsWhatStartsGoroutines(t *testing.T) {
	t.Parallel()
	raced := map[string]bool{}
	for _, name := range lines(t, "raced") {
		raced[filepath.Clean(name)] = true
	}
	tested := map[string]bool{}
	for name := range archtest.Picture {
		if strings.HasPrefix(name, "bench/") {
			continue // a module of its own
		}
		tests, _ := filepath.Glob(filepath.Join(root, name, "*_test.go"))
		tested[filepath.Clean(name)] = len(tests) > 0
	}
	for name := range raced {
		if !tested[name] {
			t.Errorf(".ci/raced: there are no tests in %q", name)
		}
	}
	starting := map[string]bool{}
	products(t, func(s source) { starting[s.dir()] = starting[s.dir()] || startsGoroutines(s.file) })
	for name, has := range tested {
		starts := starting[name]
		if starts && has && !raced[name] && notRaced[name] == "" {
			t.Errorf("%s starts goroutines: add it to .ci/raced", name)
		}
		if notRaced[name] != "" && (!starts || raced[name]) {
			t.Errorf("%s starts no goroutines, or is in .ci/raced: remove it from notRaced", name)
		}
	}
}

// sequentialIn are the packages in which the gate runs the tests of .ci/sequential without the race detector.
var sequentialIn = []string{"cell", "e2e/library", "resolve", "storage/postgres"}

// Each test that the gate runs without the race detector exists where the gate runs it, and starts no goroutine.
func TestSequential_ListsTestsOfOneGoroutine(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, name := range lines(t, "sequential") {
		found[name] = false
	}
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if !strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		for _, d := range s.file.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || f.Recv != nil {
				continue
			}
			if _, is := found[f.Name.Name]; !is {
				continue
			}
			found[f.Name.Name] = true
			if !slices.Contains(sequentialIn, s.dir()) {
				t.Errorf("%s: %s is in .ci/sequential, and .ci/run runs it nowhere: rename one of the two", s.path, f.Name.Name)
			}
			if startsGoroutines(f) {
				t.Errorf("%s: %s starts goroutines: remove it from .ci/sequential", s.path, f.Name.Name)
			}
		}
	}
	for name, is := range found {
		if !is {
			t.Errorf(".ci/sequential: there is no test %s", name)
		}
	}
}

// lines returns the lines of a file of .ci that are no comments.
func lines(t *testing.T, name string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".ci", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}
