// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/tokens"
)

// TestP10_ProfilesAreForOperators reads profiles of a server that has them, and of one that has not.
func TestP10_ProfilesAreForOperators(t *testing.T) {
	t.Parallel()
	with, without := setup(t, &httpapi.Options{Profiles: true}), setup(t, nil)
	for _, f := range []*fixture{with, without} {
		f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	}
	operator, reader := bearer(with.token(tokens.Request{Name: "op", Roles: []string{"operator"}})), bearer(with.token(tokens.Request{Name: "eyes", Roles: []string{"reader", "writer", "reviewer"}}))
	for _, path := range []string{"heap", "goroutine?debug=2", "allocs", "profile?seconds=1", "trace?seconds=1", "cmdline", "symbol", "nonsense"} {
		target := "/debug/pprof/" + path
		with.do(http.MethodGet, target, "").refused(http.StatusUnauthorized, httpapi.CodeUnauthenticated)
		with.do(http.MethodGet, target, "", reader...).refused(http.StatusForbidden, httpapi.CodeForbidden)
		without.do(http.MethodGet, target, "", bearer(without.token(tokens.Request{Name: "a" + path[:3], Roles: []string{"administrator"}}))...).refused(http.StatusNotFound, httpapi.CodeNotFound)
		switch path {
		case "cmdline", "symbol", "nonsense":
			with.do(http.MethodGet, target, "", operator...).refused(http.StatusNotFound, httpapi.CodeNotFound)
		case "profile?seconds=1", "trace?seconds=1": // one of each process at a time
		default:
			if a := with.do(http.MethodGet, target, "", operator...); a.Code != http.StatusOK || a.Body.Len() < 100 {
				t.Errorf("%s: %d, %d bytes", path, a.Code, a.Body.Len())
			}
		}
	}
}
