// SPDX-License-Identifier: Apache-2.0

package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// source is a Go file of the repository, parsed with its comments. Its path is relative to the root.
type source struct {
	path string
	file *ast.File
}

// sourceSet has the positions of all sources.
var sourceSet = token.NewFileSet()

// sources returns all Go files of the repository, tests included. They are parsed once for all tests, because parsing
// takes longer than most tests.
var sources = sync.OnceValues(func() (all []source, err error) {
	err = eachText([]string{".go"}, func(path string, content []byte) error {
		file, err := parser.ParseFile(sourceSet, filepath.Join(root, path), content,
			parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, source{path, file})
		return err
	})
	return all, err
})

// products calls fn for every Go file that is no test.
func products(t *testing.T, fn func(source)) {
	t.Helper()
	all, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if !strings.HasSuffix(s.path, "_test.go") {
			fn(s)
		}
	}
}

// dir returns the directory of a source, "." for the root.
func (s source) dir() string { return path.Dir(s.path) }
