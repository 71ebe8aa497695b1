// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestPages_WaitWithTheReads fills the lane of reads: a page is refused like a read, and served once a place is free.
// It releases its own place when it is done.
func TestPages_WaitWithTheReads(t *testing.T) {
	t.Parallel()
	s := bare(t, &strings.Builder{})
	reading, refused, _ := newLane(1, 0, time.Hour)
	s.lanes[reads] = reading
	s.registerConsole()
	get := func() *httptest.ResponseRecorder {
		rec, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/entities/none", nil)
		r.Host = "localhost"
		s.ServeHTTP(rec, r)
		return rec
	}
	leave, err := reading.enter(context.Background(), "other", 1)
	if err != nil {
		t.Fatal(err)
	}
	rec := get()
	if ct := rec.Header().Get("Content-Type"); rec.Code != 503 || ct != "application/problem+json" || !strings.Contains(rec.Body.String(), `"overloaded"`) || refused.Load() != 1 {
		t.Errorf("with the lane full: %d, %s, %s; %d refused", rec.Code, ct, rec.Body, refused.Load())
	}
	leave()
	for range 2 {
		if rec := get(); rec.Code != 422 || !strings.Contains(rec.Body.String(), "is not an entity id") {
			t.Errorf("with the lane free: %d, %.200s", rec.Code, rec.Body)
		}
	}
	reading.empty(t)
}
