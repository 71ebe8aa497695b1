// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/blank"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

func TestMain(m *testing.M) {
	longtest.Together(8) // the first token of an installation takes a second
	goleak.VerifyTestMain(m)
}

// fixture is a server with an installation of its own.
type fixture struct {
	*testing.T
	svc    *locus.DB
	server *httpapi.Server
}

// soon is the notice of a generation that a test waits for; a map covers at most a second more.
const soon = 4 * time.Second

// openService opens an installation of two cells, which is new if the directory is empty. The map of a blank one covers
// the usual notice, for which a growth would wait.
func openService(t testing.TB, dir string, notice time.Duration) *locus.DB {
	t.Helper()
	opts := &storage.Options{Notice: notice, Scratch: true}
	if notice != 0 {
		opts.Cells = 2
	} else if err := blank.Fill(dir, 2); err != nil {
		t.Fatal(err)
	}
	cells, err := storage.Open(t.Context(), dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	svc, err := locus.OpenCells(t.Context(), cells, nil)
	if err != nil {
		t.Fatal(err)
	}
	return svc
}

func setup(t *testing.T, opts *httpapi.Options) *fixture {
	t.Helper()
	return setupFor(t, opts, 0)
}

// setupFor sets the notice of generations.
func setupFor(t *testing.T, opts *httpapi.Options, notice time.Duration) *fixture {
	t.Helper()
	return setupIn(t, t.TempDir(), opts, notice)
}

func setupIn(t *testing.T, dir string, opts *httpapi.Options, notice time.Duration) *fixture {
	t.Helper()
	svc := openService(t, dir, notice)
	t.Cleanup(func() {
		if err := svc.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	server := httpapi.New(svc, opts)
	return &fixture{t, svc, server}
}

type answer struct {
	*fixture
	*httptest.ResponseRecorder
}

// do sends a request; headers are alternating names and values, and replace the default ones; Host and From
// are the name and the address of the client.
func (f *fixture) do(method, target, body string, headers ...string) answer {
	f.Helper()
	r := httptest.NewRequestWithContext(context.Background(), method, target, strings.NewReader(body))
	r.Host = "localhost:7070"
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		switch {
		case headers[i] == "Host":
			r.Host = headers[i+1]
		case headers[i] == "From":
			r.RemoteAddr = headers[i+1]
		case headers[i+1] == "":
			r.Header.Del(headers[i])
		default:
			r.Header.Add(headers[i], headers[i+1])
		}
	}
	rec := httptest.NewRecorder()
	f.server.ServeHTTP(rec, r)
	return answer{f, rec}
}

func (f *fixture) get(target string) answer { f.Helper(); return f.do(http.MethodGet, target, "") }

func decode[T any](a answer) (v T) {
	a.Helper()
	if a.Code != http.StatusOK {
		a.Fatalf("status %d: %s", a.Code, a.Body)
	}
	if ct := a.Header().Get("Content-Type"); ct != "application/json" {
		a.Errorf("content type %q", ct)
	}
	d := json.NewDecoder(bytes.NewReader(a.Body.Bytes()))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		a.Fatalf("%v in %s", err, a.Body)
	}
	return v
}

// refused checks a refusal and returns it.
func (a answer) refused(status int, code httpapi.Code) *httpapi.Problem {
	a.Helper()
	var p httpapi.Problem
	if err := json.Unmarshal(a.Body.Bytes(), &p); err != nil {
		a.Fatalf("status %d, body %q: %v", a.Code, a.Body, err)
	}
	if a.Code != status || p.Status != status || p.Code != code {
		a.Errorf("answered %d, %s; want %d, %s", a.Code, a.Body, status, code)
	}
	if ct := a.Header().Get("Content-Type"); ct != "application/problem+json" {
		a.Errorf("content type %q", ct)
	}
	if p.Detail == "" || p.RequestID == "" || p.RequestID != a.Header().Get("X-Request-Id") {
		a.Errorf("detail or request id is missing: %s", a.Body)
	}
	if code != httpapi.CodeInternal && code != httpapi.CodeCommitUnknown && p.Outcome != httpapi.NotApplied {
		a.Errorf("outcome %q", p.Outcome)
	}
	if status == http.StatusServiceUnavailable && a.Header().Get("Retry-After") == "" {
		a.Errorf("no Retry-After")
	}
	return &p
}

// put sends records, each as source, key, name and phone, and fails unless all are accepted.
func (f *fixture) put(records ...[4]string) []httpapi.PutResult {
	f.Helper()
	var request httpapi.PutRequest
	for _, r := range records {
		in := httpapi.RecordInput{Source: r[0], Key: r[1], Attributes: httpapi.Attributes{"name": {r[2]}}}
		if r[3] != "" {
			in.Attributes["phones"] = []string{r[3]}
			in.Attributes["address"] = []string{"12 Main Street"}
			in.Attributes["city"] = []string{"Springfield"}
		}
		request.Records = append(request.Records, in)
	}
	body, err := json.Marshal(request)
	if err != nil {
		f.Fatal(err)
	}
	results := decode[httpapi.PutResponse](f.do(http.MethodPost, "/v1/records", string(body))).Results
	for _, r := range results {
		if r.Error != nil {
			f.Fatalf("%s:%s: %+v", r.Source, r.Key, r.Error)
		}
	}
	return results
}

// one returns a batch of one record given as JSON.
func one(record string) string { return `{"records":[` + record + `]}` }

func (f *fixture) item(record string) httpapi.PutResult {
	f.Helper()
	results := decode[httpapi.PutResponse](f.do(http.MethodPost, "/v1/records", one(record))).Results
	if len(results) != 1 {
		f.Fatalf("%d results", len(results))
	}
	return results[0]
}

// good checks that the server still works.
func (f *fixture) good() {
	f.Helper()
	if a := f.get("/readyz"); a.Code != http.StatusOK {
		f.Errorf("/readyz: %d %s", a.Code, a.Body)
	}
	f.put([4]string{"good", fmt.Sprint("k", f.Name()), "Good Place", ""})
	if a := f.get(httpapi.RecordPath("good", "k"+f.Name())); a.Code != http.StatusOK {
		f.Errorf("read: %d %s", a.Code, a.Body)
	}
}
