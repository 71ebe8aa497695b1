// SPDX-License-Identifier: Apache-2.0

package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// Package is the part of a package's go list -json output that the check needs.
type Package struct {
	ImportPath   string
	Imports      []string // of the production code
	TestImports  []string
	XTestImports []string
}

// Check compares packages with a picture and its laws. It returns a sentence for each violation, sorted, or nil if
// there is none.
func Check(packages []Package, picture map[string]Rule, laws []Law) []string {
	var wrong []string
	seen := make(map[string]bool, len(packages))
	for _, p := range packages {
		name := short(p.ImportPath)
		seen[name] = true
		rule, drawn := picture[name]
		if !drawn {
			wrong = append(wrong, fmt.Sprintf("%s: package is not in the picture; draw it in internal/archtest/picture.go first",
				title(name)))
			continue
		}
		for _, path := range p.Imports {
			wrong = append(wrong, checkImport(name, path, rule)...)
			wrong = append(wrong, checkLaws(name, path, laws)...)
		}
		tests := slices.Concat(p.TestImports, p.XTestImports)
		wrong = append(wrong, checkUnused(name, p.Imports, tests, rule)...)
		for _, path := range tests {
			if thirdParty(path) && !allows(slices.Concat(rule.Modules, rule.Tests, TestModules, Pure), path) {
				wrong = append(wrong, fmt.Sprintf("%s: a test imports %s, which is no test module", title(name), path))
			}
		}
	}
	for name := range picture {
		if !seen[name] {
			wrong = append(wrong, fmt.Sprintf("%s: drawn in the picture, but there is no such package", title(name)))
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

func checkImport(name, path string, rule Rule) []string {
	var wrong []string
	switch {
	case ours(path):
		if target := short(path); !slices.Contains(rule.Imports, target) {
			wrong = append(wrong, fmt.Sprintf("%s: imports %s, an arrow that is not drawn", title(name), title(target)))
		}
	case thirdParty(path):
		if !allows(rule.Modules, path) {
			wrong = append(wrong, fmt.Sprintf("%s: imports %s, a module that it may not take", title(name), path))
		}
		if slices.Contains(Libraries, name) && !allows(Pure, path) {
			wrong = append(wrong, fmt.Sprintf("%s: imports %s, but a library takes pure modules only", title(name), path))
		}
	}
	return wrong
}

// checkUnused reports entries of the picture that the code does not use, or that are repeated.
func checkUnused(name string, imports, tests []string, rule Rule) []string {
	var wrong []string
	for i, target := range rule.Imports {
		if slices.Contains(rule.Imports[:i], target) {
			wrong = append(wrong, fmt.Sprintf("%s: %s is drawn twice; erase one in internal/archtest/picture.go",
				title(name), title(target)))
		}
		if !slices.ContainsFunc(imports, func(path string) bool { return ours(path) && short(path) == target }) {
			wrong = append(wrong, fmt.Sprintf("%s: does not import %s any more; erase the arrow in internal/archtest/picture.go",
				title(name), title(target)))
		}
	}
	unused := func(modules, imports []string) {
		for _, module := range modules {
			if !slices.ContainsFunc(imports, func(path string) bool { return within(path, module) }) {
				wrong = append(wrong, fmt.Sprintf("%s: does not take %s any more; erase it in internal/archtest/picture.go",
					title(name), module))
			}
		}
	}
	unused(rule.Modules, imports)
	unused(rule.Tests, tests)
	return wrong
}

func checkLaws(name, path string, laws []Law) []string {
	var wrong []string
	for _, law := range laws {
		if !within(path, law.Path) || law.Except != "" && within(path, law.Except) {
			continue
		}
		if !slices.ContainsFunc(law.Only, func(only string) bool { return within(name, only) }) {
			wrong = append(wrong, fmt.Sprintf("%s: imports %s: %s", title(name), path, law.Why))
		}
	}
	return wrong
}

// short returns an import path relative to the module: "" for the module itself.
func short(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, Module), "/")
}

// title returns the name of a package for messages.
func title(short string) string {
	if short == "" {
		return "locus"
	}
	return short
}

func ours(path string) bool { return within(path, Module) }

// thirdParty reports whether path is in another module: the first element is then a domain.
func thirdParty(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".") && !ours(path)
}

func allows(modules []string, path string) bool {
	return slices.ContainsFunc(modules, func(module string) bool { return within(path, module) })
}

// within reports whether path is root or below it.
func within(path, root string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && (rest == "" || rest[0] == '/')
}
