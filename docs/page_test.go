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

// root is the repository, seen from the directory of this test.
var root = ".."

// page is one Markdown file.
type page struct {
	path  string // from the root
	lines []string
}

// block is one fenced block of a page.
type block struct {
	line   int    // of the opening fence, from 1
	info   string // the word after the fence: sh, json, ...
	marker string // the text of the comment on the line above: run, serve, prints, not run: ...
	text   string
}

// pages reads all documentation: the root's and everything under docs.
func pages(t *testing.T) []page {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".md") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := make([]page, 0, len(paths))
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page{filepath.ToSlash(rel), strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")})
	}
	return all
}

// pageAt is the page with this path from the root; a test without its page fails.
func pageAt(t *testing.T, path string) page {
	t.Helper()
	all := pages(t)
	i := slices.IndexFunc(all, func(p page) bool { return p.path == path })
	if i < 0 {
		t.Fatalf("there is no page %s", path)
	}
	return all[i]
}

// text is the page as one string.
func (p page) text() string { return strings.Join(p.lines, "\n") }

var marker = regexp.MustCompile(`^<!-- ([^>]+) -->$`)

// blocks are the fenced blocks of a page, in order.
func (p page) blocks(t *testing.T) []block {
	t.Helper()
	var all []block
	for i := 0; i < len(p.lines); i++ {
		info, ok := strings.CutPrefix(p.lines[i], "```")
		if !ok {
			continue
		}
		b := block{line: i + 1, info: info}
		if i > 0 {
			if m := marker.FindStringSubmatch(p.lines[i-1]); m != nil {
				b.marker = m[1]
			}
		}
		begin := i + 1
		for i++; i < len(p.lines) && p.lines[i] != "```"; i++ {
		}
		if i == len(p.lines) {
			t.Fatalf("%s:%d: the block has no end", p.path, b.line)
		}
		b.text = strings.Join(p.lines[begin:i], "\n") + "\n"
		all = append(all, b)
	}
	return all
}
