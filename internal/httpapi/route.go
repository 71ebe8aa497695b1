// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
)

// route is one line of the table: everything that the router, the check of the query and the
// OpenAPI document need to know.
type route struct {
	method, path string
	summary      string
	class        class
	query        []param
	body         any // a value of the type of the body, nil for none
	answer       any // a value of the type of the answer with 200, nil for plain text
	failures     []Code
	handle       func(*call) (any, error)
	// stream stands in the place of handle where work takes long: lines of JSON answer it, one of progress
	// whenever there is some, then the result.
	stream func(c *call, progress func(any)) (any, error)
}

// param is a parameter of the query. All are texts; what they must look like is said in words and
// checked by the handler.
type param struct {
	name, doc string
	required  bool
}

// call is one request on its way through a handler.
type call struct {
	context.Context
	w     http.ResponseWriter
	r     *http.Request
	route *route
	query values
	body  []byte
}

// path answers with a decoded segment of the path, which may contain anything, or says that it is not
// UTF-8.
func (c *call) path(name string) (string, error) {
	v := c.r.PathValue(name)
	if !utf8.ValidString(v) {
		return "", fault(CodeInvalidUTF8, "", "the %s in the path is not UTF-8", name)
	}
	return v, nil
}

// routes is the table, in the order of the documentation.
func (s *Server) routes() []route {
	lists := []param{
		{"limit", "How many to answer with at most, 1 to 1000; 100 if left out. A page of about 4 MiB ends earlier, with a cursor", false},
		{"cursor", "Where the page before ended, as it said; belongs to the same route and filters", false},
	}
	reading := []Code{CodeMalformed, CodeInvalid, CodeOverloaded, CodeUnavailable}
	finding := append([]Code{CodeNotFound, CodeErased}, reading...)
	changing := []Code{
		CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField, CodeTooLarge, CodeMediaType,
		CodeInvalid, CodeConflict, CodeLeaseLost, CodeOverloaded, CodeUnavailable, CodeStaleMap, CodeUnconfirmed, CodeNoRoom,
	}
	return []route{
		{
			method: "POST", path: "/v1/records", class: writes, handle: s.putRecords, body: PutRequest{}, answer: PutResponse{},
			summary: "Put 1 to 1000 records; durable and resolved when answered, with a result for each in order",
			failures: []Code{
				CodeMalformed, CodeInvalidUTF8, CodeDuplicateKey, CodeTrailingData, CodeTooDeep, CodeUnknownField,
				CodeTooLarge, CodeMediaType, CodeInvalid, CodeOverloaded, CodeUnavailable, CodeUnconfirmed, CodeNoRoom,
			},
		},
		{
			method: "GET", path: "/v1/records", class: reads, handle: s.listRecords, answer: RecordList{}, failures: reading,
			summary: "List live records in the order of their puids",
			query:   append([]param{{"source", "Only the records of this source", false}}, lists...),
		},
		{
			method: "GET", path: "/v1/records/{source}/{key...}", class: reads, handle: s.getRecord, answer: Record{}, failures: finding,
			summary: "Get a record by its external key, whose bytes are percent-encoded",
		},
		{
			method: "DELETE", path: "/v1/records/{source}/{key...}", class: writes, handle: s.deleteRecord, answer: Deleted{},
			failures: append([]Code{CodeUnconfirmed}, finding...),
			summary:  "Delete a record; what it alone held together is separated",
		},
		{
			method: "GET", path: "/v1/entities", class: reads, handle: s.listEntities, answer: EntityList{}, failures: reading,
			summary: "Search entities by name and by an exact attribute; all of them without a filter",
			query: append([]param{
				{"q", "Words that must all be in a name, the last one as a beginning too; at most 256 bytes", false},
				{"attribute", "With value: an attribute that must have this value", false},
				{"value", "With attribute: the value, compared as the matcher normalises it", false},
			}, lists...),
		},
		{
			method: "GET", path: "/v1/entities/{id}", class: reads, handle: s.getEntity, answer: Entity{}, failures: finding,
			summary: "Get an entity; a former id leads to the entity that it was merged into, and the answer says so",
		},
		{
			method: "GET", path: "/v1/entities/{id}/why", class: reads, handle: s.why, answer: Why{}, failures: finding,
			summary: "Why the records of an entity belong together",
		},
		{
			method: "GET", path: "/v1/why-not", class: reads, handle: s.whyNot, answer: locus.WhyNot{}, failures: finding,
			summary: "Why two records are in one entity or in two",
			query: []param{
				{"a", "Entity id, puid or SOURCE:KEY", true},
				{"b", "Entity id, puid or SOURCE:KEY", true},
			},
		},
		{
			method: "GET", path: "/v1/find", class: reads, handle: s.find, answer: Entity{}, failures: finding,
			summary: "Find the entity behind an address",
			query:   []param{{"address", "Entity id, puid or SOURCE:KEY", true}},
		},
		{
			method: "GET", path: "/v1/route", class: reads, handle: s.route, answer: locus.Route{}, failures: reading,
			summary: "Where an address lives, and why",
			query:   []param{{"address", "Entity id, puid or SOURCE:KEY", true}},
		},
		{
			method: "GET", path: "/v1/status", class: reads, handle: s.status, answer: locus.Status{}, failures: reading,
			summary: "The state of the installation and of each cell",
		},
		{
			method: "GET", path: "/v1/cells", class: reads, handle: s.cells, answer: CellList{}, failures: reading,
			summary: "All cells with their states, and the generations that they belong to",
		},
		{
			method: "GET", path: "/v1/cells/{id}", class: reads, handle: s.cell, answer: CellDetail{}, failures: append([]Code{CodeNotFound}, reading...),
			summary: "One cell, such as g1-19, with its piece of the ring and its range of puids",
		},
		{
			method: "GET", path: "/v1/map", class: reads, handle: s.cellMap, answer: map[string]any{}, failures: reading,
			summary: "The newest cell map, as it is stored: arithmetic leads from any address to its cell",
		},
		{
			method: "GET", path: "/v1/map/history", class: reads, handle: s.mapHistory, answer: MapHistory{}, failures: reading,
			summary: "The versions of the cell map that are kept, the oldest first",
		},
		{
			method: "POST", path: "/v1/cells/plan", class: admin, handle: s.planGrowth, body: GrowRequest{}, answer: cell.Plan{}, failures: changing,
			summary: "What a new generation of cells would mean, or why there cannot be such a one; changes nothing",
		},
		{
			method: "POST", path: "/v1/cells/grow", class: admin, stream: s.grow, body: GrowRequest{}, answer: Changed{}, failures: changing,
			summary: "Add a generation of cells, while everybody goes on; may be stopped and asked for again anywhere",
		},
		{
			method: "POST", path: "/v1/cells/compact", class: admin, stream: s.compact, body: CompactRequest{}, answer: Changed{}, failures: changing,
			summary: "Copy the keys of old generations into the current one; may be stopped and asked for again anywhere",
		},
		{
			method: "POST", path: "/v1/cells/{id}/move", class: admin, stream: s.move, body: MoveRequest{}, answer: cell.MoveProgress{},
			failures: append([]Code{CodeNotFound}, changing...),
			summary:  "Move a cell to another database, while everybody goes on; may be stopped and asked for again anywhere",
		},
		{
			method: "GET", path: "/v1/schema", class: reads, handle: s.schema, answer: Schema{}, failures: reading,
			summary: "The kind of things: its attributes and their types",
		},
		{
			method: "GET", path: "/livez", class: health, handle: s.livez, answer: Liveness{},
			summary: "200 while the process runs; asks no store",
		},
		{
			method: "GET", path: "/readyz", class: health, handle: s.readyz, answer: Health{},
			summary: "200 when it can serve, 503 with the reason when not",
		},
		{
			method: "GET", path: "/version", class: health, handle: s.version, answer: Version{},
			summary: "Version and commit",
		},
		{
			method: "GET", path: "/metrics", class: health, handle: s.metrics,
			summary: "Metrics in the text format of Prometheus",
		},
		{
			method: "GET", path: "/openapi.json", class: health, handle: s.openapi,
			summary: "This document",
		},
	}
}

// register puts a route on the router.
func (s *Server) register(rt *route) {
	s.mux.HandleFunc(rt.method+" "+rt.path, func(w http.ResponseWriter, r *http.Request) {
		answer, err := s.serve(&call{Context: r.Context(), w: w, r: r, route: rt})
		switch {
		case err != nil:
			s.refuse(w, r, err)
		case answer != nil:
			writeJSON(w, http.StatusOK, "application/json", answer)
		}
	})
}

// serve checks the query, reads the body, waits to be admitted, and runs the handler. A body is read
// before the request takes the place of one that could work: clients may be slow. The lane of bodies,
// held to the end, bounds how many of them are in memory.
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
		leave, err := s.enter(c, bodies)
		if err != nil {
			return nil, err
		}
		leave = sync.OnceFunc(leave)
		defer leave()
		if c.body, err = readBody(c.w, c.r); err != nil {
			return nil, err
		}
		if c.route.class == admin {
			leave() // a small body, and long work
		}
	}
	var answer any
	err = s.run(c, func() (err error) {
		if c.route.stream != nil {
			return s.stream(c)
		}
		if answer, err = c.route.handle(c); errors.As(err, new(*locus.InvalidError)) {
			return c.inQuery(toFault(err, ""))
		}
		return err
	})
	if err != nil && c.route.class == admin {
		err = outspoken(err)
	}
	return answer, err
}

// inQuery makes pointers that the library gives to fields of a query into those of parameters, which
// have the same names.
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

// unrouted answers what no pattern matches: 405 with the methods of the path if it has some, else
// 404. The router decides which; its own answer would be plain text, or a redirect to a cleaned
// path, which a client might take for the same request twice.
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

var errNoPath = fault(CodeNotFound, "", "no such path: /openapi.json lists them")

// probe keeps the status and headers of an answer that is not sent.
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

// observe reports a finished request under the pattern that it matched, never under its path.
func (s *Server) observe(pattern string, status int, start time.Time) {
	if pattern == "" {
		pattern = "none"
	}
	s.opts.Metrics.Request(pattern, status, time.Since(start))
}
