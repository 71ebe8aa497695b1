// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/access"
)

// TestP10_KeysAreHashedInTheLog makes calls fail with errors that name a key from each place of a request.
func TestP10_KeysAreHashedInTheLog(t *testing.T) {
	t.Parallel()
	long, short := entity.Ref{Source: "crm", Key: "canary %/: 12"}, entity.Ref{Source: "crm", Key: "canary %/: 1"}
	for name, c := range map[string]struct{ target, body string }{
		"path":   {RecordPath(long.Source, long.Key) + "?b=" + url.QueryEscape(short.String()), ""},
		"query":  {"/q?a=" + url.QueryEscape(long.String()) + "&b=" + url.QueryEscape(short.String()), ""},
		"search": {"/q?q=" + url.QueryEscape(" "+long.String()) + "&b=" + url.QueryEscape(short.String()), ""},
		"body": {"/q", fmt.Sprintf(`{"records":[{"source":"crm","key":%q,"attributes":{}},{"source":"x","key":"","attributes":{}},{"source":"crm","key":%q}]}`,
			short.Key, long.Key)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var logs strings.Builder
			s := bare(t, &logs)
			fail := func(w http.ResponseWriter, r *http.Request) {
				query, err := parseQuery(r.URL.RawQuery)
				if err != nil {
					t.Error(err)
				}
				call := &call{Context: r.Context(), w: w, r: r, query: query, body: []byte(c.body)}
				s.refuse(w, r, call.keyed(fmt.Errorf("cell g0-1: record %v: record %v: %w", long, short, locus.ErrUnavailable)))
			}
			s.mux.HandleFunc("GET /v1/records/{source}/{key...}", fail)
			s.mux.HandleFunc("GET /q", fail)
			rec, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, c.target, nil)
			r.Host = "localhost"
			s.ServeHTTP(rec, r)
			want := fmt.Sprintf("cell g0-1: record %s: record %s: %v", hashed(long), hashed(short), locus.ErrUnavailable)
			if got := logs.String(); rec.Code != 503 || !strings.Contains(got, want) || strings.Contains(got, "canary") {
				t.Errorf("status %d, log %s, want %s", rec.Code, got, want)
			}
		})
	}
}

// TestP10_HashesOfKeysAreSecret checks that a hash in a log cannot be computed by others, and is the same on every
// line.
func TestP10_HashesOfKeysAreSecret(t *testing.T) {
	t.Parallel()
	ref := entity.Ref{Source: "crm", Key: "0151 1234567"}
	text := hashed(ref)
	if text != hashed(ref) || text == hashed(entity.Ref{Source: "crm", Key: "0151 1234568"}) ||
		text == hashed(entity.Ref{Source: "cr", Key: "m0151 1234567"}) {
		t.Error("equal keys do not have equal hashes, or others have")
	}
	plain := sha256.Sum256([]byte("3:crm" + ref.Key))
	unkeyed := hmac.New(sha256.New, nil)
	unkeyed.Write([]byte("3:crm" + ref.Key))
	for _, known := range []string{fmt.Sprintf("%016x", cell.Hash(ref.Source, ref.Key)), fmt.Sprintf("%x", plain[:8]), fmt.Sprintf("%x", unkeyed.Sum(nil)[:8])} {
		if text == "crm:#"+known {
			t.Errorf("%s can be found by trying keys", text)
		}
	}
}

func TestKeyed_ChangesNothingElse(t *testing.T) {
	t.Parallel()
	c := &call{r: httptest.NewRequest(http.MethodGet, "/", nil)}
	if c.keyed(nil) != nil {
		t.Error("no error became one")
	}
	for _, err := range []error{fmt.Errorf("record a:1: %w", entity.ErrNotFound), fault(CodeInvalid, "?q", "no"), &locus.InvalidError{Problems: []locus.Problem{{Pointer: "/key", Code: "invalid", Detail: "no"}}}} {
		if got, want := toFault(c.keyed(err), ""), toFault(err, ""); got.Code != want.Code || got.Detail != want.Detail || got.Pointer != want.Pointer {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// TestP10_RoutesHashKeys calls every route of the table.
func TestP10_RoutesHashKeys(t *testing.T) {
	t.Parallel()
	var logs strings.Builder
	s := bare(t, &logs)
	broken := func(*call) (any, error) {
		return nil, fmt.Errorf("record crm:canary: %w", locus.ErrUnavailable)
	}
	s.register(&route{method: "GET", path: "/v1/records/{source}/{key...}", needs: access.Public(), handle: broken})
	rec, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/records/crm/canary", nil)
	r.Host = "localhost"
	s.ServeHTTP(rec, r)
	if got := logs.String(); rec.Code != 503 || strings.Count(got, "\n") != 1 || strings.Contains(got, "canary") {
		t.Errorf("status %d, log %s", rec.Code, got)
	}
}
