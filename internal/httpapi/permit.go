// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"

	"github.com/locus-db/locus/internal/access"
)

// handle registers a handler with the permissions that a caller needs. It is the only way into the router, and panics
// if no permission is stated.
func (s *Server) handle(pattern string, needs access.Rule, handler http.HandlerFunc) {
	if !needs.Valid() {
		panic("httpapi: the route " + pattern + " states no permission")
	}
	s.rules[pattern] = needs
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		who, err := s.permit(r, needs)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		handler(w, r.WithContext(access.With(r.Context(), who)))
	})
}

// permit returns the principal of a request if it may use a route. Nothing of the request but its header has been read.
func (s *Server) permit(r *http.Request, needs access.Rule) (*access.Principal, error) {
	who := s.caller(r)
	if !needs.Admits(who.Permissions) {
		return nil, lacking(needs)
	}
	return who, nil
}

func lacking(needs access.Rule) error {
	return fault(CodeForbidden, "", "this needs the permission %s: see the roles of locus token create", needs)
}

// caller returns the principal of a request.
func (s *Server) caller(*http.Request) *access.Principal { return access.Local() }
