// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// House are the packages whose files have a direction as well: like references between packages, references between
// their files point down. Files that refer to each other have to be read as one.
var House = []string{
	"", "internal/engine", "internal/survey", "records", "entities", "decisions", "review", "quality", "explain",
	"kinds", "rollups", "counters", "changes", "cells",
}

// Ground are the libraries that the House stands on.
var Ground = []string{
	"locality", "cell", "entity", "changelog", "match", "resolve", "rollup", "counter", "storage",
}

// MaxReferences is how many references the packages of the House and the Ground have to each other. It only goes down.
const MaxReferences = 128

// Arrows returns which files of a package refer to which, from a directory of production code.
func Arrows(dir string) (map[string][]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return strings.HasSuffix(path, "_test.go") })
	set := token.NewFileSet()
	files := make([]*ast.File, len(paths))
	for i, path := range paths {
		if files[i], err = parser.ParseFile(set, path, nil, parser.SkipObjectResolution); err != nil {
			return nil, err
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	// Declarations of other packages are not needed, so their absence is not an error.
	lenient := types.Config{Importer: nothing{}, Error: func(error) {}}
	pkg, _ := lenient.Check(dir, set, files, info)
	to := map[string]map[string]bool{}
	room := func(pos token.Pos) string { return filepath.Base(set.Position(pos).Filename) }
	for ident, object := range info.Uses {
		from, declared := room(ident.Pos()), room(object.Pos())
		if object.Pkg() != pkg || from == declared {
			continue
		}
		if to[from] == nil {
			to[from] = map[string]bool{}
		}
		to[from][declared] = true
	}
	arrows := map[string][]string{}
	for from, rooms := range to {
		arrows[from] = slices.Sorted(maps.Keys(rooms))
	}
	return arrows, nil
}

// Circles returns the sets of rooms of which each can be reached from each of the others, sorted.
func Circles(arrows map[string][]string) (circles [][]string) {
	reach := map[string]map[string]bool{}
	for from := range arrows {
		reach[from] = map[string]bool{}
		for todo := slices.Clone(arrows[from]); len(todo) > 0; {
			next := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if !reach[from][next] {
				reach[from][next] = true
				todo = append(todo, arrows[next]...)
			}
		}
	}
	done := map[string]bool{}
	for _, from := range slices.Sorted(maps.Keys(arrows)) {
		if !reach[from][from] || done[from] {
			continue
		}
		circle := slices.DeleteFunc(slices.Sorted(maps.Keys(reach[from])), func(room string) bool {
			return !reach[room][from]
		})
		for _, room := range circle {
			done[room] = true
		}
		circles = append(circles, circle)
	}
	return circles
}

// nothing is an importer that finds no package.
type nothing struct{}

var errNothing = errors.New("other packages are not read")

func (nothing) Import(string) (*types.Package, error) { return nil, errNothing }
