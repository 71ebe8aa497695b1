// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"net/http/pprof"

	"github.com/locus-db/locus/internal/access"
)

// registerProfiles registers the profiles of the process, which go tool pprof reads. They have stacks and sizes, no
// content of memory; the arguments of the process are left out.
func (s *Server) registerProfiles() {
	operate := access.All(access.Operate)
	s.handle("GET /debug/pprof/profile", operate, pprof.Profile)
	s.handle("GET /debug/pprof/trace", operate, pprof.Trace)
	s.handle("GET /debug/pprof/{name}", operate, func(w http.ResponseWriter, r *http.Request) {
		switch name := r.PathValue("name"); name {
		case "heap", "goroutine", "allocs", "block", "mutex", "threadcreate":
			pprof.Handler(name).ServeHTTP(w, r)
		default:
			s.refuse(w, r, errNoPath)
		}
	})
}
