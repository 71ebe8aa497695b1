// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/tokens"
)

// roots is a Tracer that keeps the root spans.
type roots struct{ begun []span.Root }

func (r *roots) Root(ctx context.Context, root span.Root) (context.Context, span.Span) {
	r.begun = append(r.begun, root)
	return ctx, span.Span{}
}

// The trace of a caller is continued only if the server knows the caller, and probes and scrapes create none.
func TestTracer_TrustsKnownCallers(t *testing.T) {
	t.Parallel()
	traces := &roots{}
	f := setup(t, &httpapi.Options{Tracer: traces})
	f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	known := bearer(f.token(tokens.Request{Name: "eyes", Roles: []string{"reader"}}))
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	with := []string{"Traceparent", parent, "Tracestate", "a=b"}
	f.do(http.MethodGet, "/v1/entities", "", with...).refused(http.StatusUnauthorized, httpapi.CodeUnauthenticated)
	f.do(http.MethodGet, "/v1/entities", "", append(with, known...)...)
	f.do(http.MethodGet, "/livez", "", with...)
	f.do(http.MethodGet, "/readyz", "", with...)
	f.do(http.MethodGet, "/metrics", "", append(with, known...)...)
	want := []span.Root{
		{Name: "GET /v1/entities", Server: true},
		{Name: "GET /v1/entities", Server: true, Parent: parent, State: "a=b"},
	}
	if !slices.Equal(traces.begun, want) {
		t.Errorf("begun %+v, want %+v", traces.begun, want)
	}
}
