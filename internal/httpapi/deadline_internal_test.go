// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/internal/access"
)

// TestP12_TheClientsPatienceEndsTheWork lets a handler run until the client's deadline or the server's, whichever comes
// first.
func TestP12_TheClientsPatienceEndsTheWork(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{"": 10 * time.Second, "1": time.Second, "9": 9 * time.Second, "3600": 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var logs strings.Builder
			s := bare(t, &logs)
			s.register(&route{method: "GET", path: "/slow", needs: access.Public(), handle: func(c *call) (any, error) {
				<-c.Done()
				return nil, c.Err()
			}})
			rec, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/slow", nil)
			r.Host = "localhost"
			if header != "" {
				r.Header.Set("Request-Timeout", header)
			}
			begin := time.Now()
			s.ServeHTTP(rec, r)
			if took := time.Since(begin); took != want || rec.Code != http.StatusServiceUnavailable {
				t.Errorf("Request-Timeout %q: status %d after %v, want %v", header, rec.Code, took, want)
			}
			// A timeout set by the client is not logged for operators.
			if lines := strings.Count(logs.String(), "\n"); (lines == 1) != (want == 10*time.Second) {
				t.Errorf("Request-Timeout %q: the log is %q", header, logs.String())
			}
		})
	}
}

func TestEnter_BeginsNothingForWhoLeft(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l, _, _ := newLane(1, 0, time.Hour)
	if leave, err := l.enter(ctx, "one", 1); !errors.Is(err, context.Canceled) || leave != nil {
		t.Error(err)
	}
	l.empty(t)
}
