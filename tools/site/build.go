// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// sources is where links to files that are no pages lead.
const sources = "https://github.com/locus-db/locus/blob/main/"

//go:embed page.html site.css search.js
var files embed.FS

var layout = template.Must(template.ParseFS(files, "page.html"))

// entry is a section in the index of the search.
type entry struct {
	URL   string `json:"u"`
	Page  string `json:"p"`
	Title string `json:"t"`
	Text  string `json:"x"`
}

// build renders every page below root into out, and returns how many there are.
func build(root, out string) (int, error) {
	paths, err := pages(root)
	if err != nil {
		return 0, err
	}
	var index []entry
	for _, p := range paths {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
		if err != nil {
			return 0, err
		}
		sections, err := render(paths, p, source, out)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", p, err)
		}
		index = append(index, sections...)
	}
	body, err := json.Marshal(index)
	if err != nil {
		return 0, err
	}
	if err := write(out, "search.json", body); err != nil {
		return 0, err
	}
	for _, name := range []string{"site.css", "search.js"} {
		body, err := files.ReadFile(name)
		if err == nil {
			err = write(out, name, body)
		}
		if err != nil {
			return 0, err
		}
	}
	return len(paths), copyAssets(filepath.Join(root, "docs"), filepath.Join(out, "docs"))
}

// pages returns the pages of a repository, by their paths from its root: those of the root, and all below docs.
func pages(root string) ([]string, error) {
	var paths []string
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && p != "docs" && !strings.HasPrefix(p, "docs/"):
			return fs.SkipDir
		case strings.HasSuffix(p, ".md"):
			paths = append(paths, p)
		}
		return nil
	})
	return paths, err
}

// copyAssets copies what pages show or offer: everything that is neither a page nor a test.
func copyAssets(from, to string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(p, ".md") || strings.HasSuffix(p, ".go") {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		body, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return write(to, rel, body)
	})
}

func write(dir, name string, body []byte) error {
	p := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return err
	}
	return os.WriteFile(p, body, 0o644)
}

// htmlOf returns the path of a page on the site. The README of the root is its front page.
func htmlOf(p string) string {
	dir, name := path.Split(p)
	if name == "README.md" {
		return dir + "index.html"
	}
	return dir + strings.TrimSuffix(name, ".md") + ".html"
}

// render writes a page and returns its sections.
func render(all []string, p string, source []byte, out string) ([]entry, error) {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	doc := md.Parser().Parse(text.NewReader(source),
		parser.WithContext(parser.NewContext(parser.WithIDs(&ids{seen: map[string]int{}}))))
	var sections []entry
	title := p
	here := htmlOf(p)
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			id, _ := n.AttributeString("id")
			name := plain(n, source)
			if n.Level == 1 && len(sections) == 0 {
				title = name
			}
			anchor, _ := id.([]byte)
			sections = append(sections, entry{URL: here + "#" + string(anchor), Title: name})
		case *ast.Link:
			n.Destination = []byte(target(all, p, string(n.Destination)))
		case *ast.Paragraph, *ast.TextBlock, *extast.TableCell:
			if len(sections) > 0 {
				last := &sections[len(sections)-1]
				last.Text = strings.TrimSpace(last.Text + " " + plain(n, source))
			}
		case *ast.FencedCodeBlock:
			if len(sections) > 0 {
				sections[len(sections)-1].Text += " " + strings.Join(strings.Fields(string(n.Lines().Value(source))), " ")
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	var body, page bytes.Buffer
	if err := md.Renderer().Render(&body, source, doc); err != nil {
		return nil, err
	}
	for i := range sections {
		sections[i].Page = title
	}
	top := strings.Repeat("../", strings.Count(here, "/"))
	err = layout.Execute(&page, map[string]any{"Title": title, "Top": top, "Body": template.HTML(body.String())}) //nolint:gosec // our own pages
	if err != nil {
		return nil, err
	}
	return sections, write(out, here, page.Bytes())
}

// plain returns the text of a node.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it returns no error
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// target returns where a link leads on the site: to a page, to a file beside it, or to the sources.
func target(all []string, from, to string) string {
	name, anchor, _ := strings.Cut(to, "#")
	if name == "" || strings.Contains(name, ":") {
		return to
	}
	if anchor != "" {
		anchor = "#" + anchor
	}
	at := path.Join(path.Dir(from), name)
	switch {
	case slices.Contains(all, at):
		return strings.TrimSuffix(name, path.Base(name)) + path.Base(htmlOf(at)) + anchor
	case slices.Contains(all, path.Join(at, "README.md")):
		return strings.TrimSuffix(name, "/") + "/index.html" + anchor
	case strings.HasPrefix(at, "docs/") && path.Ext(at) != "" && path.Ext(at) != ".go":
		return to
	}
	return sources + at + anchor
}
