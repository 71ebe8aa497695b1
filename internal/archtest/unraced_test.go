// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// startsGoroutines reports whether a file has a go statement or calls a method Go, as groups have.
func startsGoroutines(file *ast.File) (starts bool) {
	ast.Inspect(file, func(n ast.Node) bool {
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

// The gate omits the race detector only where no test starts a goroutine, and for the tests of processes and commands.
func TestUnraced_StartNoGoroutines(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("../../.ci/unraced")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		name := strings.TrimSpace(line)
		if strings.HasPrefix(name, "#") || name == "./e2e" || name == "./internal/cli" {
			continue
		}
		paths, _ := filepath.Glob(filepath.Join("../..", name, "*.go"))
		if len(paths) == 0 {
			t.Errorf(".ci/unraced: there is no package %q", name)
		}
		for _, path := range paths {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Error(err)
			} else if startsGoroutines(file) {
				t.Errorf("%s starts goroutines: remove %s from .ci/unraced", path, name)
			}
		}
	}
}
