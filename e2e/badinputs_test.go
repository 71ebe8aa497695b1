// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

// notYet lists the entries of these surfaces that cannot be tried here, with the reason. They are printed as skipped.
var notYet = map[string]string{
	"N18": "an attribute takes a string as well as a number",
	"N21": "an attribute takes a list, and an empty one counts as not sent",
	"J32": "the same batch at once is tried a hundred times with M16",
	"H32": "no route needs an idempotency key: a batch of hits without one counts as often as it is sent",
	"H36": "takes 120 s: the write limit of 60 s is set in Serve",
	"H37": "this server has no TLS, so no HTTP/2; beside TLS net/http closes such connections itself",
	"P10": "all orders are tried beside the resolver",
	"P13": "tried on the files themselves by TestP14_ErasedFromEveryFile",
	"P16": "two servers share cells on PostgreSQL only, tried by TestP04_ProcessesShareCells",
	"Q09": "no list can be sorted: any sort parameter is unknown, 400",
	"Q10": "no list can be sorted: any sort parameter is unknown, 400",
	"C01": "looked at in a browser by TestConsole",
	"C10": "lists are paged, tried with Q; the time to paint is not measured",
	"C12": "every page is parsed beside the console",
	"C13": "looked at in a browser by TestConsole",
	"C15": "people sign in and out in TestLogin; no-store is checked with C04",
	"C16": "the address is refused by locus serve",
	"C18": "looked at in a browser by TestConsole",
}

// statusOf maps the code of an item to its status.
var statusOf = map[httpapi.Code]int{
	httpapi.CodeMalformed: 400, httpapi.CodeInvalidUTF8: 400, httpapi.CodeUnknownField: 400, httpapi.CodeTooLarge: 413,
	httpapi.CodeInvalid: 422, httpapi.CodeInFuture: 422, httpapi.CodeTooOld: 410, httpapi.CodeOverflow: 422,
	httpapi.CodeNoRoom: 507,
}

// surfaces are the surfaces tried here. Texts, numbers, times, documents and everything below them are the same for any
// kind of cells, so they are tried once.
var surfaces = []struct {
	name string
	try  func(*trial, *badInput)
	once bool
}{
	{"S", tryString, true},
	{"N", tryNumber, true},
	{"D", tryTime, true},
	{"J", tryJSON, true},
	{"M", tryMetric, true},
	{"I", tryID, false},
	{"P", tryRecord, false},
	{"Q", tryQuery, false},
	{"H", tryHTTP, true},
	{"C", tryConsole, true},
}

// TestBadInputs sends the shared list of bad inputs to a real server, with one cell and with four.
func TestBadInputs(t *testing.T) {
	longtest.Slow(t)
	entries := loadBadInputs(t)
	targets := map[int]*target{1: startTarget(t, 1, counter.Options{}), 4: startTarget(t, 4, counter.Options{})}
	targets[4].slowHeader, targets[4].slowBody = holdHeader(t, targets[4]), holdBody(t, targets[4])
	t.Parallel() // only now: the limits of 5 s and 30 s pass while other tests run
	for _, cells := range []int{1, 4} {
		t.Run(fmt.Sprintf("cells=%d", cells), func(t *testing.T) {
			t.Parallel()
			target := targets[cells]
			for _, surface := range surfaces {
				if surface.once && cells == 1 {
					continue
				}
				t.Run(surface.name, func(t *testing.T) {
					for i := range entries {
						e := &entries[i]
						if e.Surface != surface.name {
							continue
						}
						t.Run(e.ID, func(t *testing.T) {
							if why, ok := notYet[e.ID]; ok {
								t.Skipf("%s: %s", e.Name, why)
							}
							surface.try(&trial{T: t, target: target}, e)
						})
					}
					target.generalRules(t)
				})
			}
		})
	}
	for id := range notYet {
		if !slices.ContainsFunc(entries, func(e badInput) bool { return e.ID == id }) {
			t.Errorf("%s is excused and not in the list", id)
		}
	}
}

// target is a running server.
type target struct {
	svc    *locus.DB
	cells  *storage.Cells
	addr   string
	client *http.Client
	logs   *lockedBuffer
	// slowHeader and slowBody are the results of requests that arrive byte by byte.
	slowHeader, slowBody <-chan held
}

// trial is one entry under test.
type trial struct {
	*testing.T
	*target
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// openService opens an installation for a test. Whatever is started on it later ends before it is closed. Without a
// notice, the default notice of generations applies.
func openService(t *testing.T, n int, notice time.Duration, options *locus.Options) *locus.DB {
	t.Helper()
	svc, _ := openCells(t, n, notice, options)
	return svc
}

// openCells is openService, and also returns the cells.
func openCells(t *testing.T, n int, notice time.Duration, options *locus.Options) (*locus.DB, *storage.Cells) {
	t.Helper()
	cells, err := storage.Open(t.Context(), t.TempDir(), &storage.Options{Cells: n, Notice: notice})
	if err != nil {
		t.Fatal(err)
	}
	svc, err := locus.OpenCells(t.Context(), cells, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := svc.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return svc, cells
}

func startTarget(t *testing.T, n int, counters counter.Options) *target {
	t.Helper()
	logs := &lockedBuffer{}
	logger := slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	svc, cells := openCells(t, n, 0, &locus.Options{Logger: logger, Counters: counters})
	server := httpapi.New(svc, &httpapi.Options{Logger: logger, Linger: -1})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, listener) }()
	target := &target{svc: svc, cells: cells, addr: listener.Addr().String(), logs: logs, client: &http.Client{
		Transport:     &http.Transport{DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       patience,
	}}
	t.Cleanup(func() {
		target.client.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("drain: %v", err)
		}
	})
	return target
}

// generalRules checks the rules for every surface: the server is healthy, accepts a valid record and returns it, and
// the log has no raw control characters.
func (g *target) generalRules(t *testing.T) {
	t.Helper()
	w := &trial{T: t, target: g}
	if v := w.send(http.MethodGet, "/readyz", nil); v.status != http.StatusOK {
		t.Errorf("/readyz %+v", v)
	}
	key := t.Name()
	w.putKept("good", key, "description", "good after "+key)
	for line := range strings.Lines(g.logs.String()) {
		if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError || r == 0x202e }) {
			t.Errorf("raw input in the log: %q", line)
		}
		if strings.Contains(line, "good after") {
			t.Errorf("a body in the log: %q", line)
		}
		if strings.Contains(line, "panic") {
			t.Errorf("panic: %s", line)
		}
	}
}

// verdict is the server's response to an input.
type verdict struct {
	status  int // for a rejected item of a batch: the status of its code
	code    httpapi.Code
	pointer string
	body    []byte
	header  http.Header
	result  httpapi.PutResult
}

// check compares a verdict with the expectation.
func (v verdict) check(t *trial, e *badInput) {
	t.Helper()
	if len(e.Expect.Status) > 0 && !slices.Contains(e.Expect.Status, v.status) {
		t.Errorf("%s: status %d, want one of %v: %.300s", e.Name, v.status, e.Expect.Status, v.body)
	}
	if v.status >= 400 && e.Expect.Code != "" && string(v.code) != e.Expect.Code {
		t.Errorf("%s: code %s, want %s: %.300s", e.Name, v.code, e.Expect.Code, v.body)
	}
}

func (v verdict) is(t *trial, what string, statuses ...int) {
	t.Helper()
	if !slices.Contains(statuses, v.status) {
		t.Errorf("%s: status %d, want one of %v: %.300s", what, v.status, statuses, v.body)
	}
}

// send sends a request and checks the form of the answer: no 5xx except the allowed ones, and every refusal is a
// problem with a code, an outcome, and little of the input.
func (t *trial) send(method, target string, body io.Reader, headers ...string) verdict {
	t.Helper()
	u := &url.URL{Scheme: "http", Host: t.addr}
	path, query, _ := strings.Cut(target, "?")
	u.RawPath, u.RawQuery = path, query
	var err error
	if u.Path, err = url.PathUnescape(path); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, u.String(), body)
	if err != nil {
		t.Fatal(err)
	}
	r.URL = u
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	res, err := t.client.Do(r)
	if err != nil {
		t.Errorf("%s %.80s: %v", method, target, err)
		return verdict{}
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Errorf("%s %.80s: %v", method, target, err)
	}
	return t.judge(res.StatusCode, res.Header, answer)
}

func (t *trial) judge(status int, header http.Header, body []byte) verdict {
	t.Helper()
	v := verdict{status: status, body: body, header: header}
	if status >= 500 && !slices.Contains([]int{501, 503, 507}, status) {
		t.Errorf("status %d: %s", status, body)
	}
	if status >= 400 && header.Get("Content-Type") == "application/problem+json" {
		var p httpapi.Problem
		if err := json.Unmarshal(body, &p); err != nil || p.Code == "" || p.Outcome != httpapi.NotApplied || p.RequestID == "" || p.Status != status {
			t.Errorf("no good problem: %s", body)
		}
		if len(p.Detail) > 700 || strings.ContainsFunc(p.Detail+p.Pointer, func(r rune) bool { return r < ' ' || r == 0x202e }) {
			t.Errorf("raw or long input in a problem: %q", p.Detail)
		}
		v.code, v.pointer = p.Code, p.Pointer
	}
	return v
}

// post sends a batch given as bytes. For a batch of one item, the verdict is that on the item.
func (t *trial) post(body []byte, headers ...string) verdict {
	t.Helper()
	return t.postStream(bytes.NewReader(body), headers...)
}

func (t *trial) postStream(body io.Reader, headers ...string) verdict {
	t.Helper()
	v := t.send(http.MethodPost, "/v1/records", body, headers...)
	var answer httpapi.PutResponse
	if v.status != http.StatusOK {
		return v
	}
	if err := json.Unmarshal(v.body, &answer); err != nil || len(answer.Results) == 0 {
		t.Errorf("answered %s: %v", v.body, err)
		return v
	}
	v.result = answer.Results[len(answer.Results)-1]
	if f := v.result.Error; f != nil {
		v.status, v.code, v.pointer = statusOf[f.Code], f.Code, f.Pointer
		if v.status == 0 || f.Outcome != httpapi.NotApplied || f.Pointer == "" || f.Detail == "" || len(f.Detail) > 700 {
			t.Errorf("no good refusal: %s", v.body)
		}
	}
	return v
}

// batchOf returns a batch of one record made of JSON tokens.
func batchOf(source, key, attributes string) []byte {
	return []byte(`{"records":[{"source":` + source + `,"key":` + key + `,"attributes":{` + attributes + `}}]}`)
}

// quoted returns a JSON string of exactly these bytes, valid or not.
func quoted(raw []byte) string {
	if !utf8.Valid(raw) {
		return `"` + string(raw) + `"`
	}
	data, err := json.Marshal(string(raw))
	if err != nil {
		panic(err)
	}
	return string(data)
}

func (t *trial) record(source, key string) (r httpapi.Record, v verdict) {
	t.Helper()
	v = t.send(http.MethodGet, httpapi.RecordPath(source, key), nil)
	if v.status == http.StatusOK {
		if err := json.Unmarshal(v.body, &r); err != nil {
			t.Errorf("%v: %s", err, v.body)
		}
	}
	return r, v
}

// putKept puts a record and checks that it is returned byte for byte.
func (t *trial) putKept(source, key, attribute, value string) {
	t.Helper()
	t.post(batchOf(quoted([]byte(source)), quoted([]byte(key)),
		`"name":"Kept","`+attribute+`":`+quoted([]byte(value)))).is(t, "put", http.StatusOK)
	r, v := t.record(source, key)
	if r.Key != key || !slices.Equal(r.Attributes[attribute], []string{value}) {
		t.Errorf("came back as %.300s", v.body)
	}
}
