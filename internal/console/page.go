// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed templates
var templates embed.FS

// pages returns the parsed templates of each page, with the layout and the shared parts. They are parsed for the first
// page that is asked for: commands start in half of the time without them.
var pages = sync.OnceValue(func() map[string]*template.Template {
	funcs := template.FuncMap{"timed": timed, "static": staticPath}
	shared := []string{"templates/layout.html", "templates/parts.html"}
	layout := template.Must(template.New("").Funcs(funcs).ParseFS(templates, shared...))
	files, err := fs.Glob(templates, "templates/*.html")
	if err != nil {
		panic(err) // the pattern is wrong
	}
	parsed := map[string]*template.Template{}
	for _, file := range files {
		if !slices.Contains(shared, file) {
			name := strings.TrimSuffix(path.Base(file), ".html")
			parsed[name] = template.Must(template.Must(layout.Clone()).ParseFS(templates, file))
		}
	}
	return parsed
})

// Console renders pages. It is safe for concurrent use.
type Console struct {
	version string
	banner  *Banner
	viewer  Viewer
}

// Viewer is the principal who views a page, the zero value if unknown.
type Viewer struct {
	Name    string
	Session bool // signed in with this browser, and so able to sign out
	// Narrow means that the viewer does not see everything, and so no page about the whole installation; SomeKinds that
	// some kinds do not exist for the viewer either.
	Narrow, SomeKinds bool
}

// For returns the console as a viewer sees it.
func (c *Console) For(v Viewer) *Console { return &Console{c.version, c.banner, v} }

// Banner is a message at the top of every page, such as that all data is a demo.
type Banner struct {
	Text    string
	Command string // a suggested command; may be empty
}

// New returns a console that shows the given version at the foot of its pages.
func New(version string) *Console { return &Console{version: version} }

// With returns the console with a banner, nil for none.
func (c *Console) With(b *Banner) *Console { return &Console{c.version, b, c.viewer} }

// frame is the data of the layout.
type frame struct {
	Version string
	Banner  *Banner
	Viewer  Viewer
	Bare    bool   // without navigation, for a viewer that may not use it yet
	Query   string // text of the search field
	Nav     []navLink
	Foot    []navLink
	Page    any
}

// render writes a whole page or nothing. It touches w only for the complete page.
func (c *Console) render(w io.Writer, page, query string, data any) error {
	var b bytes.Buffer
	if err := pages()[page].ExecuteTemplate(&b, "layout", frame{c.version, c.banner, c.viewer, page == "login", query, c.navigation(mainPages, page), c.navigation(footPages, page), data}); err != nil {
		return fmt.Errorf("render page %s: %w", page, err)
	}
	if _, err := b.WriteTo(w); err != nil {
		return fmt.Errorf("write page %s: %w", page, err)
	}
	return nil
}

// Notice is a page with a single message, such as that an address does not exist.
type Notice struct {
	Title   string
	Text    string
	Hint    string   // a suggestion; may be empty
	Command []string // the command for it, as arguments; may be empty
	Asked   string   // the requested address, as received; may be empty
}

// Notice writes a notice page.
func (c *Console) Notice(w io.Writer, n Notice) error {
	return c.render(w, "notice", "", struct {
		Notice
		Command string
	}{n, command(n.Command...)})
}

// Name is a page that asks for the author's name before a form is submitted.
type Name struct {
	Action string            // URL of the form
	Fields map[string]string // fields that are already filled
}

// Name writes the page.
func (c *Console) Name(w io.Writer, n Name) error {
	fields := maps.Clone(n.Fields)
	delete(fields, "author")
	return c.render(w, "name", "", Name{n.Action, fields})
}

// Login is the page that asks for a token.
type Login struct {
	To       string // path that the login leads to
	Problem  string // why the last attempt failed; may be empty
	Provider bool   // whether there is an identity provider
}

// Login writes the page.
func (c *Console) Login(w io.Writer, l Login) error { return c.render(w, "login", "", l) }

// Grant is the page that asks whether a command line may have a token, or that shows its code.
type Grant struct {
	Name   string            // of the person
	Fields map[string]string // of the form
	Code   string            // to paste; "" before the person has agreed
}

// Grant writes the page.
func (c *Console) Grant(w io.Writer, g Grant) error { return c.render(w, "grant", "", g) }
