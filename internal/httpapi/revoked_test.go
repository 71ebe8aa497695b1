// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/tokens"
)

// TestP10_RevokedStreams revokes a token while a feed of changes, the numbers of a page and an import are running: all
// end.
func TestP10_RevokedStreams(t *testing.T) {
	t.Parallel()
	r := serve(t, httpapi.Options{Linger: -1})
	r.diner("a", "before", "Springfield", "")
	r.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	ci := r.token(tokens.Request{Name: "ci", Roles: []string{"reader", "writer"}})
	f := r.follow("", bearer(ci)...)
	f.expect(httpapi.EventStart)
	page, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.addr+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	page.Header.Set("Cookie", r.signIn(ci))
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	numbers, err := client.Do(page)
	if err != nil || numbers.StatusCode != http.StatusOK {
		t.Fatal(numbers, err)
	}
	defer numbers.Body.Close()
	const batch = `{"records":[{"source":"crm","key":"1","attributes":{"name":"Joes Pizza"}}]}`
	decode[httpapi.PutResponse](r.do(http.MethodPost, "/v1/records", batch, bearer(ci)...))

	if _, err := r.svc.Tokens().Revoke(t.Context(), tokens.Operator(), "ci"); err != nil {
		t.Fatal(err)
	}
	r.do(http.MethodPost, "/v1/records", batch, bearer(ci)...).refused(http.StatusUnauthorized,
		httpapi.CodeUnauthenticated)
	late := time.AfterFunc(patience, func() {
		t.Error("a stream goes on")
		f.leave()
		numbers.Body.Close()
	})
	defer late.Stop()
	for err = nil; err == nil; { // events in flight, then the end
		_, err = f.next()
	}
	_, _ = io.Copy(io.Discard, numbers.Body)
}
