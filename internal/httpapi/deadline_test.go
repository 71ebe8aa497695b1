// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/httpapi"
)

func TestRequestTimeout_IsStrict(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.item(joe)
	for _, good := range []string{"1", "10", "3600", "2147483647"} {
		for _, target := range []string{"/v1/records/guide/1", "/v1/entities", "/", "/livez"} {
			if a := f.do(http.MethodGet, target, "", "Request-Timeout", good); a.Code != http.StatusOK {
				t.Errorf("%s within %s s: %d %s", target, good, a.Code, a.Body)
			}
		}
	}
	for _, bad := range []string{"0", "-1", "+1", "01", "1.5", "1s", "1e1", " 1", "x", "2147483648", "99999999999999999999", "\x1b[31m", strings.Repeat("9", 5000)} {
		p := f.do(http.MethodGet, "/v1/entities", "", "Request-Timeout", bad).refused(400, httpapi.CodeMalformed)
		if !strings.Contains(p.Detail, "Request-Timeout") || len(p.Detail) > 200 {
			t.Errorf("%.20q: %s", bad, p.Detail)
		}
	}
	f.do(http.MethodGet, "/v1/entities", "", "Request-Timeout", "1", "Request-Timeout", "1").refused(400,
		httpapi.CodeMalformed)
	f.do(http.MethodPost, "/v1/records", one(joe), "Request-Timeout", "soon").refused(400, httpapi.CodeMalformed)
}

// TestRequestTimeout_IsTheServersAtMost gives the server no time at all.
func TestRequestTimeout_IsTheServersAtMost(t *testing.T) {
	t.Parallel()
	f := setup(t, &httpapi.Options{RequestTimeout: time.Nanosecond})
	for _, target := range []string{"/v1/records", "/v1/entities", "/v1/entities?q=pizza", "/v1/records/guide/1"} {
		f.do(http.MethodGet, target, "", "Request-Timeout", "60").refused(503, httpapi.CodeUnavailable)
	}
}
