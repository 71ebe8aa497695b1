// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// libraries are the packages whose sentinels can reach a client.
var libraries = []string{
	"", "locality", "cell", "changelog", "entity", "match", "resolve", "counter", "lease", "rollup", "records", "entities",
	"decisions", "changes", "explain",
	"kinds", "rollups", "counters", "cells", "internal/engine", "internal/dump", "internal/strictjson",
}

// unclassed are the sentinels that no input of a client causes: the code is internal.
var unclassed = []string{"locality.ErrMalformed", "locality.ErrSegment", "locality.ErrOptions", "locality.ErrDate",
	"cell.ErrMap", "cell.ErrFiles", "match.ErrTermFrequencies"}

var sentinelName = regexp.MustCompile(`^Err[A-Z]`)

// TestErrors_EverySentinelHasACode checks that every exported Err* variable of the libraries has a class of package
// locus or stands in the table of errors.go.
func TestErrors_EverySentinelHasACode(t *testing.T) {
	t.Parallel()
	mapped := map[string]bool{}
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok {
				mapped[pkg.Name+"."+s.Sel.Name] = true
			}
		}
		return true
	})
	found := 0
	for _, dir := range libraries {
		for _, name := range sentinels(t, filepath.Join("..", "..", dir)) {
			found++
			if !mapped[name] && !slices.Contains(unclassed, name) {
				t.Errorf("%s has no class (problem.Class) and no line in the table of errors.go", name)
			}
		}
	}
	if found < 12 {
		t.Errorf("only %d sentinels were found: the walk is broken", found)
	}
}

// sentinels returns the exported error variables of a package that are made by errors.New. Aliases are left to the
// package of the original, and an error that is made by another function wraps one.
func sentinels(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.VAR {
				continue
			}
			for _, s := range decl.Specs {
				spec := s.(*ast.ValueSpec)
				for i, name := range spec.Names {
					if !sentinelName.MatchString(name.Name) {
						continue
					}
					made, ok := spec.Values[i].(*ast.CallExpr)
					if !ok {
						continue
					}
					if f, ok := made.Fun.(*ast.SelectorExpr); ok && f.Sel.Name != "New" {
						continue
					}
					names = append(names, file.Name.Name+"."+name.Name)
				}
			}
		}
	}
	return names
}
