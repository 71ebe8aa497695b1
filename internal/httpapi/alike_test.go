// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/tokens"
)

// TestP10_Alike compares the refusals of all kinds of credentials that are not valid, for a record that exists and for
// one that does not: the bodies and headers are equal except for the request id, and the medians of the times are
// close.
func TestP10_Alike(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.item(joe)
	var bad []caller
	for _, who := range callers(f) {
		if who.may == nil {
			bad = append(bad, who)
		}
	}
	var first string
	took := map[string][]time.Duration{}
	for range 101 {
		for _, who := range bad {
			for _, target := range []string{"/v1/records/guide/1", "/v1/records/guide/none"} {
				f.server.Forget()
				began := time.Now()
				a := f.do(http.MethodGet, target, "", who.headers...)
				took[who.name+" "+target] = append(took[who.name+" "+target], time.Since(began))
				var p httpapi.Problem
				if err := json.Unmarshal(a.Body.Bytes(), &p); err != nil || a.Code != http.StatusUnauthorized {
					t.Fatalf("%s at %s: %d %s", who.name, target, a.Code, a.Body)
				}
				p.RequestID = ""
				a.Header().Del("X-Request-Id")
				var text bytes.Buffer
				_ = json.NewEncoder(&text).Encode(p)
				_ = a.Header().Write(&text)
				if first == "" {
					first = text.String()
				}
				if text.String() != first {
					t.Fatalf("%s at %s: %s, want %s", who.name, target, &text, first)
				}
			}
		}
	}
	least, most := time.Hour, time.Duration(0)
	for _, times := range took {
		slices.Sort(times)
		median := times[len(times)/2]
		least, most = min(least, median), max(most, median)
	}
	if most > 4*least {
		t.Errorf("the medians of the times are between %v and %v", least, most)
	}
}

// TestP10_GetsChangeNothing calls every GET route as an administrator, with existing addresses, and compares the
// installation before and after.
func TestP10_GetsChangeNothing(t *testing.T) {
	t.Parallel()
	f := setupFor(t, nil, time.Hour) // which the map covers, so the process does not extend it during the test
	f.put([4]string{"a", "1", "Joes Pizza", ""}, [4]string{"a", "2", "Annas Bakery", ""})
	of := f.item(joe).Entity.String()
	root := bearer(f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}}))
	state := func() string {
		t.Helper()
		f.server.Forget()
		var all strings.Builder
		for _, of := range []string{"changes", "records", "entities", "decisions", "schema", "rollups", "sinks", "sources", "tokens", "map"} {
			a := f.do(http.MethodGet, "/v1/"+of, "", root...)
			if a.Code != http.StatusOK {
				t.Fatalf("%s: %d %s", of, a.Code, a.Body)
			}
			all.WriteString(a.Body.String())
		}
		return regexp.MustCompile(`,?"(used|until)":"[^"]*"`).ReplaceAllString(all.String(), "")
	}
	before := state()
	if !strings.Contains(before, `"puid"`) || !strings.Contains(before, "guide") {
		t.Fatalf("the state shows nothing: %s", before)
	}
	real := map[string]string{"source": "guide", "key": "1", "key...": "1", "id": of, "name": "root", "kind": "place"}
	calls, worked := 0, 0
	for pattern := range f.server.Rules() {
		path, get := strings.CutPrefix(pattern, "GET ")
		if !get || path == "/events" {
			continue
		}
		target := regexp.MustCompile(`\{[^}]+\}`).ReplaceAllStringFunc(strings.TrimSuffix(path, "{$}"), func(part string) string {
			if v := real[strings.Trim(part, "{}")]; v != "" {
				return v
			}
			return "x"
		})
		for _, query := range []string{"", "?address=guide:1", "?a=a:1&b=a:2", "?erase=true"} {
			calls++
			if a := f.do(http.MethodGet, target+query, "", root...); a.Code == http.StatusOK {
				worked++
			} else if a.Code >= 500 {
				t.Errorf("%s: %d %s", target+query, a.Code, a.Body)
			}
			f.server.Forget()
		}
	}
	if calls < 150 || worked < 30 {
		t.Errorf("%d calls, %d of them worked", calls, worked)
	}
	if diff := cmp.Diff(strings.Split(before, "\n"), strings.Split(state(), "\n")); diff != "" {
		t.Errorf("a GET has changed the installation: %s", diff)
	}
}

// TestP10_TokensAreNotLogged makes requests with tokens fail in all ways, at the level debug.
func TestP10_TokensAreNotLogged(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	svc := openService(t, t.TempDir(), 0)
	server := httpapi.New(svc, &httpapi.Options{Logger: slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	f := &fixture{t, svc, server}
	root := f.token(tokens.Request{Name: "root", Roles: []string{"administrator"}})
	bad, _ := access.NewToken()
	basic := func(secret string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(":"+secret)) }
	try := func() {
		for _, secret := range []string{root, bad, bad[:60]} {
			for _, headers := range [][]string{bearer(secret), {"Authorization", basic(secret)}, {"Authorization", secret}, {"Cookie", "locus=" + secret}} {
				for _, target := range []string{"/v1/entities", "/v1/records/a/1", "/", "/nowhere", "/v1/entities?token=x", "/readyz"} {
					f.do(http.MethodGet, target, "", headers...)
				}
				f.do(http.MethodPost, "/v1/records", "{", headers...)
			}
			f.server.Forget()
		}
	}
	try()
	if err := svc.Close(); err != nil {
		t.Fatal(err)
	}
	try()
	if logs.Len() == 0 {
		t.Fatal("nothing is logged: the search shows nothing")
	}
	for _, secret := range []string{root, bad} {
		for _, part := range []string{secret[len(access.Prefix)+9:][:20], basic(secret)[len("Basic "):][30:60]} {
			if strings.Contains(logs.String(), part) {
				t.Errorf("a token is in the log: %s", &logs)
			}
		}
	}
}
