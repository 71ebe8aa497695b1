// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"

	"github.com/locus-db/locus/internal/access"
)

// Forget drops the records of failed credentials and of the principals' use.
func (s *Server) Forget() {
	s.spent, s.failures = newBuckets[spending](0), newBuckets[string](failuresInAll)
}

// Rules returns the permission of every registered pattern, followed by the one for principals that do not see
// everything: "narrowed", or "masked" if kinds are not left out.
func (s *Server) Rules() map[string]string {
	rules := map[string]string{}
	for pattern, needs := range s.rules {
		rules[pattern] = needs.String()
		switch {
		case needs.Open() || !needs.AdmitsNarrowed(&access.Restriction{}):
		case needs.AdmitsNarrowed(&access.Restriction{Kinds: []string{}}):
			rules[pattern] += ", narrowed"
		default:
			rules[pattern] += ", masked"
		}
	}
	return rules
}

// Bare replaces the router by one of the same patterns that looks at no permission, rate or restriction, and gets
// records only.
func (s *Server) Bare() {
	local, mux := access.Local(), http.NewServeMux()
	const records = "GET /v1/records/{source}/{key...}"
	for pattern := range s.rules {
		if pattern != records {
			mux.HandleFunc(pattern, http.NotFound)
		}
	}
	for _, rt := range s.routes() {
		if rt.method+" "+rt.path != records {
			continue
		}
		mux.HandleFunc(records, func(w http.ResponseWriter, r *http.Request) {
			r = r.WithContext(access.With(r.Context(), local))
			answer, err := s.serve(&call{Context: r.Context(), w: w, r: r, route: &rt, class: rt.class})
			if err != nil {
				s.refuse(w, r, err)
				return
			}
			writeJSON(w, http.StatusOK, "application/json", answer)
		})
	}
	s.mux = mux
}
