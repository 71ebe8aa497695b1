// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/audit"
	"github.com/locus-db/locus/internal/access"
)

// route is one entry of the table: everything that the router, the check of the query and the OpenAPI document need.
type route struct {
	method, path string
	summary      string
	class        class
	needs        access.Rule // permissions; the zero value cannot be registered
	audit        audit.Class // in the audit log; "" for the one that follows from method and permissions
	price        int         // extra places, see call.price
	query        []param
	headers      []param // in addition to those of every route
	body         any     // a value of the body's type, nil for none
	yaml         bool    // the body may also be YAML
	csv          bool    // the answer is also available as CSV
	answer       any     // a value of the answer's type, nil for plain text
	statuses     []int   // statuses of the answer, nil for 200
	failures     []Code
	handle       func(*call) (any, error)
	// stream replaces handle for long work: the answer is JSON lines of progress, then the result.
	stream func(c *call, progress func(any)) (any, error)
	// download replaces handle for a table that is written row by row, as JSON lines or CSV, or for a file of the type
	// media.
	download func(*call) error
	media    string
	// events replaces handle for clients that accept server-sent events.
	events func(*call) error
}

// param is a query parameter. All are strings; their format is described in words and checked by the handler.
type param struct {
	name, doc string
	required  bool
}

// call is a request in a handler.
type call struct {
	context.Context
	w     http.ResponseWriter
	r     *http.Request
	route *route
	query values
	body  []byte
	class class
	// about and failed are for the audit log: the targets of the call, and the error of an answer that had begun.
	about  []string
	failed error
	// status is the status of the answer; 0 means 200, and 204 means no body.
	status int
}

// path returns a decoded path segment, or an error if it is not UTF-8.
func (c *call) path(name string) (string, error) {
	v := c.r.PathValue(name)
	if !utf8.ValidString(v) {
		return "", fault(CodeInvalidUTF8, "", "the %s in the path is not UTF-8", name)
	}
	return v, nil
}

func (s *Server) register(rt *route) {
	s.handle(rt.method+" "+rt.path, rt.needs, func(w http.ResponseWriter, r *http.Request) {
		c := &call{Context: r.Context(), w: w, r: r, route: rt, class: rt.class}
		if rt.events != nil && wantsEvents(r) {
			c.class = feeds
		}
		answer, err := s.serve(c)
		if err == nil && answer != nil {
			answer, err = s.narrow(c, answer)
		}
		err = unseen(c, err)
		switch {
		case err != nil:
			s.refuse(w, r, err)
		case answer != nil && rt.csv && wantsCSV(r):
			writeWhole(w, http.StatusOK, mediaCSV+"; charset=utf-8; header=present", answer.(tabular).csv()) //nolint:forcetypeassert // the routes of tables answer with one
		case answer != nil:
			writeJSON(w, cmp.Or(c.status, http.StatusOK), "application/json", answer)
		case c.status != 0:
			w.WriteHeader(c.status)
		}
	})
}

// serve checks the query, reads the body, waits for admission, and runs the handler. The body is read before admission,
// so that slow clients do not occupy places.
func (s *Server) serve(c *call) (any, error) {
	query, err := parseQuery(c.r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	if err := query.known(c.route.query); err != nil {
		return nil, err
	}
	c.query = query
	if c.route.body != nil {
		types := []string{mediaJSON, mediaYAML}
		if !c.route.yaml {
			types = types[:1]
		}
		free, err := s.readBody(c, types...)
		if err != nil {
			return nil, err
		}
		defer free()
	}
	var answer any
	err = s.run(c, func() (err error) {
		if c.route.stream != nil {
			return s.stream(c)
		}
		if c.class == feeds {
			return c.route.events(c)
		}
		if c.route.download != nil {
			err = c.route.download(c)
		} else {
			answer, err = c.route.handle(c)
		}
		if errors.As(err, new(*locus.InvalidError)) {
			return c.inQuery(toFault(err, ""))
		}
		return err
	})
	if err != nil && c.route.class == admin {
		err = outspoken(err)
	}
	return answer, err
}

// inQuery converts pointers to fields of a query into pointers to the query parameters of the same names.
func (c *call) inQuery(f *Fault) *Fault {
	point := func(pointer string) string {
		if name, ok := strings.CutPrefix(pointer, "/"); ok && contains(c.route.query, name) {
			return pointerTo(name)
		}
		return pointer
	}
	f.Pointer = point(f.Pointer)
	for i := range f.Errors {
		f.Errors[i].Pointer = point(f.Errors[i].Pointer)
	}
	return f
}

// unrouted answers requests that match no pattern: 405 with the allowed methods if the path exists, otherwise 404. The
// router decides which; its own answer would be plain text, or a redirect to a cleaned path, which might repeat the
// request.
func (s *Server) unrouted(w http.ResponseWriter, r *http.Request) {
	probe := &probe{header: http.Header{}}
	s.mux.ServeHTTP(probe, r)
	if allow := probe.header.Get("Allow"); probe.status == http.StatusMethodNotAllowed && allow != "" {
		w.Header().Set("Allow", allow)
		s.refuse(w, r, fault(CodeMethod, "", "this path takes %s", strings.ReplaceAll(allow, ", ", " and ")))
		return
	}
	s.refuse(w, r, errNoPath)
}

var errNoPath = fault(CodeNotFound, "", "no such path: /openapi.json lists all")

// probe records the status and headers of an answer without sending it.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }
func (p *probe) WriteHeader(status int) {
	if p.status == 0 {
		p.status = status
	}
}

// observe measures a request under its pattern, never under its path.
func (s *Server) observe(pattern string, status int, start time.Time) {
	if pattern == "" {
		pattern = "none"
	}
	s.opts.Metrics.Request(pattern, status, time.Since(start))
}
