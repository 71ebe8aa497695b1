// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"net/http"

	"github.com/locus-db/locus/internal/span"
)

// errFailed marks the span of a request that failed.
var errFailed = errors.New("request failed")

// traced starts the span of a request, below that of the caller if the caller is known: others could make every request
// traced. The span has the pattern of the route, never the path, whose keys are data.
func (s *Server) traced(w http.ResponseWriter, r *http.Request, pattern string, known bool) (of *http.Request, end func()) {
	root := span.Root{Name: pattern, Server: true}
	if known {
		root.Parent, root.State = r.Header.Get("traceparent"), r.Header.Get("tracestate")
	}
	ctx, begun := s.opts.Tracer.Root(r.Context(), root)
	return r.WithContext(ctx), func() {
		begun.Text("http.request.method", r.Method)
		begun.Text("http.route", pattern)
		begun.Text("locus.request_id", w.Header().Get(requestIDHeader))
		status := 0
		if out, ok := w.(*reply); ok {
			status = out.status
		}
		if status != 0 { // otherwise it panicked, or nothing was written
			begun.Number("http.response.status_code", int64(status))
		}
		var err error
		if status == 0 || status >= http.StatusInternalServerError {
			err = errFailed
		}
		begun.End(err)
	}
}
