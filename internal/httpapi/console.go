// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"net/http"
	"time"

	"github.com/locus-db/locus/internal/console"
)

// pageLimit is how many entities a page of the console's list has.
const pageLimit = 50

// site serves the pages of the console. They are for humans: unknown parameters are ignored, and a missing item has a
// page that explains it.
type site struct {
	*Server
	history console.History
	// streaming limits the number of open event streams.
	streaming chan struct{}
	looks     *looks
}

// page returns a handler that renders a page. The page is sent only when it is complete. render may also answer itself
// and leave the buffer empty.
func (p *site) page(rt *route, render func(*call, *bytes.Buffer) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{Context: r.Context(), w: w, r: r, route: rt, class: rt.class}
		var body bytes.Buffer
		query, err := parseQuery(r.URL.RawQuery)
		if err == nil {
			c.query = query
			err = unseen(c, p.run(c, func() error { return render(c, &body) }))
		}
		switch {
		case err != nil:
			p.sorry(c, err)
		case body.Len() > 0:
			writePage(w, http.StatusOK, &body)
		}
	}
}

func writePage(w http.ResponseWriter, status int, body *bytes.Buffer) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = body.WriteTo(w) // an error means that the client has left
}

// sorry renders a page for an error. Server errors are answered and logged as usual.
func (p *site) sorry(c *call, err error) {
	f := toFault(err, "")
	status := codes[f.Code].status
	if status >= http.StatusInternalServerError {
		p.refuse(c.w, c.r, err)
		return
	}
	asked := c.r.PathValue("id")
	if asked == "" {
		asked = c.query["q"]
	}
	n := console.Notice{Title: http.StatusText(status), Text: f.Detail, Asked: cut(asked, 200)}
	switch f.Code {
	case CodeNotFound:
		n.Title, n.Text = "Not found", "No record or entity has this address."
		n.Hint, n.Command = "Search by name above, or look up the cell of the address.", []string{"locus", "route", n.Asked}
	case CodeInvalid:
		n.Title = "Not understood"
		if c.r.PathValue("id") != "" {
			n.Hint = "Search by name, id or SOURCE:KEY above."
		}
	case CodeErased:
		n.Title, n.Text = "Deleted", "The record or entity with this address was deleted."
	}
	if err := p.notice(c.w, c.r, status, n); err != nil {
		p.refuse(c.w, c.r, err)
	}
}

// file serves static files. A browser caches files that it requested by version, and revalidates the others.
func (p *site) file(w http.ResponseWriter, r *http.Request) {
	f, ok := console.Static(r.PathValue("file"))
	if !ok {
		p.refuse(w, r, fault(CodeNotFound, "", "there is no such file"))
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.Type)
	h.Set("ETag", `"`+f.Version+`"`)
	h.Set("Cache-Control", "no-cache")
	if r.URL.RawQuery == "v="+f.Version {
		h.Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.Body))
}
