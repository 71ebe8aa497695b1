// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"maps"
)

//go:embed templates
var templates embed.FS

// pages holds the templates of each page, parsed with the layout around it and the parts that several share.
var pages = parse("home", "ring", "rollups", "rollup", "counters", "metric", "search", "entity", "whatif", "review", "kinds", "notice", "name")

func parse(names ...string) map[string]*template.Template {
	layout := template.Must(template.ParseFS(templates, "templates/layout.html", "templates/parts.html"))
	parsed := make(map[string]*template.Template, len(names))
	for _, name := range names {
		page := template.Must(layout.Clone())
		parsed[name] = template.Must(page.ParseFS(templates, "templates/"+name+".html"))
	}
	return parsed
}

// Console renders pages. It is safe for many goroutines.
type Console struct {
	version string
	banner  *Banner
}

// Banner is what the top of every page says: that all of it is a demo, say.
type Banner struct {
	Text    string
	Command string // what to do about it; may be empty
}

// New makes a console that shows this version of Locus at the foot of its pages.
func New(version string) *Console { return &Console{version: version} }

// With returns the console with a banner, nil for none.
func (c *Console) With(b *Banner) *Console { return &Console{c.version, b} }

// frame is what the layout needs around a page.
type frame struct {
	Version string
	Banner  *Banner
	Query   string // what stands in the search field at the top
	Page    any
}

// render writes a whole page or nothing of it: an error leaves w untouched unless it is w's own.
func (c *Console) render(w io.Writer, page, query string, data any) error {
	var b bytes.Buffer
	if err := pages[page].ExecuteTemplate(&b, "layout", frame{c.version, c.banner, query, data}); err != nil {
		return fmt.Errorf("render page %s: %w", page, err)
	}
	if _, err := b.WriteTo(w); err != nil {
		return fmt.Errorf("write page %s: %w", page, err)
	}
	return nil
}

// Notice is a page that says one thing: that an address leads nowhere, say.
type Notice struct {
	Title   string
	Text    string
	Hint    string   // what to try; may be empty
	Command []string // the command that does it, as arguments; may be empty
	Asked   string   // the address that was asked for, shown as it came; may be empty
}

// Notice writes the page of n.
func (c *Console) Notice(w io.Writer, n Notice) error {
	return c.render(w, "notice", "", struct {
		Notice
		Command string
	}{n, command(n.Command...)})
}

// Name is a page that asks a person for the name under which a form is sent on.
type Name struct {
	Action string            // where the form goes
	Fields map[string]string // what it says already
}

// Name writes the page of n.
func (c *Console) Name(w io.Writer, n Name) error {
	fields := maps.Clone(n.Fields)
	delete(fields, "author")
	return c.render(w, "name", "", Name{n.Action, fields})
}
