// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/obs"
	"github.com/locus-db/locus/records"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/rollup"
)

func TestToFault(t *testing.T) {
	t.Parallel()
	statement := errors.New("SELECT body FROM record: disk I/O error in /var/lib/locus/cells/g0-0.db")
	tests := []struct {
		err     error
		code    Code
		status  int
		outcome Outcome
	}{
		{fmt.Errorf("get: %w", entity.ErrNotFound), CodeNotFound, 404, NotApplied},
		{fmt.Errorf("get: %w: %w", entity.ErrErased, statement), CodeErased, 410, NotApplied},
		{fmt.Errorf("%w: %w", locus.ErrUnavailable, statement), CodeUnavailable, 503, NotApplied},
		{fmt.Errorf("%w: %w: %w", locus.ErrUnavailable, locus.ErrCommitUnknown, statement), CodeCommitUnknown, 503, Unknown},
		{fmt.Errorf("%w: %w", locus.ErrCommitUnknown, context.DeadlineExceeded), CodeCommitUnknown, 503, Unknown},
		{fmt.Errorf("read: %w", context.DeadlineExceeded), CodeUnavailable, 503, NotApplied},
		{fmt.Errorf("read: %w", &cell.DamagedError{Cell: "g0-3", Table: "record", Key: "7", Err: statement}), CodeDamaged,
			500, NotApplied},
		{locus.ErrOverloaded, CodeOverloaded, 503, NotApplied},
		{locus.ErrClosed, CodeDraining, 503, NotApplied},
		{fmt.Errorf("%w: %w", cell.ErrNoRoom, statement), CodeNoRoom, 507, NotApplied},
		{cell.ErrStaleMap, CodeStaleMap, 503, NotApplied},
		{cell.ErrNoCell, CodeNotFound, 404, NotApplied},
		{fmt.Errorf("read: %w", changelog.ErrTrimmed), CodeTrimmed, 410, NotApplied},
		{fmt.Errorf("rollup x: %w", rollup.ErrNotFound), CodeNotFound, 404, NotApplied},
		{fmt.Errorf("rollup x: %w", rollup.ErrBuilding), CodeUnavailable, 503, NotApplied},
		{fmt.Errorf("rollup x: %w", rollup.ErrGone), CodeUnavailable, 503, NotApplied},
		{fmt.Errorf("%w: %w: %w", cell.ErrUnavailable, rollup.ErrBehind, statement), CodeUnavailable, 503, NotApplied},
		{&rollup.InvalidError{Problems: []rollup.Problem{{Pointer: "/measures/a/scale", Detail: "no"}}}, CodeInvalid, 422,
			NotApplied},
		{statement, CodeInternal, 500, Unknown},
		{&locus.InvalidError{}, CodeInvalid, 422, NotApplied},
		{&locus.InvalidError{Problems: []locus.Problem{{Pointer: "/a", Code: "too_deep", Detail: "a path of 100 levels"}}},
			CodeInvalid, 422, NotApplied},
		{&locus.InvalidError{Problems: []locus.Problem{{Pointer: "/a", Code: "in_future", Detail: "no"}}}, CodeInFuture, 422,
			NotApplied},
	}
	for _, test := range tests {
		f := toFault(test.err, "/records/7")
		if f.Code != test.code || f.Outcome != test.outcome || problem(f, "id").Status != test.status || f.Detail == "" {
			t.Errorf("%v: %+v, want %s", test.err, f, test.code)
		}
		if strings.Contains(f.Detail, "SELECT") || strings.Contains(f.Detail, "/var") {
			t.Errorf("%v: the detail tells strangers %q", test.err, f.Detail)
		}
	}
}

// Errors about the state of a rollup keep their own text, with a Retry-After of one second; errors of cells do not.
func TestRefuse_RollupsSpeakForThemselves(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err           error
		detail, after string
	}{
		{fmt.Errorf("rollup x: %w: it is at 5, the requested watermark at 9", rollup.ErrBehind),
			"it is at 5, the requested watermark at 9", "1"},
		{fmt.Errorf("rollup x: %w: see its state", rollup.ErrBuilding), "see its state", "1"},
		{fmt.Errorf("rollup x: group [\"Elm\"]: %w", rollup.ErrNotFound), "Elm", ""},
		{fmt.Errorf("%w: %w: SELECT", cell.ErrUnavailable, rollup.ErrGone), "a cell is unavailable", ""},
	} {
		rec := httptest.NewRecorder()
		bare(t, &strings.Builder{}).refuse(rec, httptest.NewRequest(http.MethodGet, "/v1/rollups/x", nil), test.err)
		if after := rec.Header().Get("Retry-After"); !strings.Contains(rec.Body.String(), strings.ReplaceAll(test.detail, `"`, `\"`)) || strings.Contains(rec.Body.String(), "SELECT") || test.after != "" && after != test.after {
			t.Errorf("%v: Retry-After %q, %s", test.err, after, rec.Body)
		}
	}
}

func TestCodes_AreComplete(t *testing.T) {
	t.Parallel()
	for code, info := range codes {
		if http.StatusText(info.status) == "" || info.outcome != NotApplied && info.outcome != Unknown {
			t.Errorf("%s: %+v", code, info)
		}
		if info.status >= 500 && info.text == "" {
			t.Errorf("%s has no text of its own", code)
		}
	}
	for _, row := range table {
		if _, ok := codes[row.code]; !ok {
			t.Errorf("%v lead to the unknown code %q", row.errs, row.code)
		}
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain é 😀": "plain é 😀", "a\x1b[31mb": `a\x1b[31mb`, "a\nb\r\tc": `a\nb\r\tc`, "\u202egpj": `\u202egpj`,
		"\x00": `\x00`, "a\u200db": `a\u200db`,
		"\xff": `\ufffd`,
	} {
		if got := printable(in); got != want && in != "\xff" {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
	if n := len(printable(strings.Repeat("\x00", 1<<20))); n > 1000 {
		t.Errorf("%d bytes of hostile input are shown", n)
	}
}

// bare returns a server without an installation, for tests that need none.
func bare(t *testing.T, logs *strings.Builder) *Server {
	t.Helper()
	s := &Server{opts: (&Options{Logger: slog.New(slog.NewTextHandler(logs, nil)), Metrics: obs.NewMetrics()}).withDefaults(), mux: http.NewServeMux(), rules: map[string]access.Rule{}, crossOrigin: http.NewCrossOriginProtection()}
	return s
}

func TestPanics_BecomeOneAnswerAndOneLine(t *testing.T) {
	t.Parallel()
	var logs strings.Builder
	s := bare(t, &logs)
	s.mux.HandleFunc("GET /boom", func(http.ResponseWriter, *http.Request) { panic("secret of the stack") })
	s.mux.HandleFunc("GET /half", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("half"))
		panic("too late")
	})
	s.mux.HandleFunc("GET /abort", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	get := func(path string) (rec *httptest.ResponseRecorder, cause any) {
		defer func() { cause = recover() }()
		rec = httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "localhost"
		s.ServeHTTP(rec, r)
		return rec, nil
	}
	rec, cause := get("/boom")
	if cause != nil || rec.Code != 500 || !strings.Contains(rec.Body.String(), `"code":"internal"`) ||
		strings.Contains(rec.Body.String(), "secret") {
		t.Errorf("%v, %d %s", cause, rec.Code, rec.Body)
	}
	if n := strings.Count(logs.String(), "request panicked"); n != 1 || !strings.Contains(logs.String(), rec.Header().Get(requestIDHeader)) {
		t.Errorf("%d lines in the log: %s", n, logs.String())
	}
	for _, path := range []string{"/half", "/abort"} {
		if _, cause := get(path); cause != http.ErrAbortHandler {
			t.Errorf("%s: %v, want the connection cut", path, cause)
		}
	}
}

func TestRefuse_LogsOnceWhatSomebodyHasToLookAt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err   error
		lines int
	}{
		{errors.New("broken"), 1},
		{locus.ErrCommitUnknown, 1},
		{locus.ErrUnavailable, 1},
		{cell.ErrNoRoom, 1},
		{entity.ErrNotFound, 0},
		{fault(CodeOverloaded, "", "full"), 0},
		{fault(CodeInvalid, "", "wrong"), 0},
	} {
		var logs strings.Builder
		s := bare(t, &logs)
		rec := httptest.NewRecorder()
		s.refuse(rec, httptest.NewRequest(http.MethodGet, "/v1/records/source/canary", nil), test.err)
		if n := strings.Count(logs.String(), "\n"); n != test.lines || strings.Contains(logs.String(), "canary") {
			t.Errorf("%v: %d lines, want %d: %s", test.err, n, test.lines, logs.String())
		}
	}
}

// TestPutResult checks that each item has its own result.
func TestPutResult(t *testing.T) {
	t.Parallel()
	ref := entity.Ref{Source: "s", Key: "k"}
	for _, test := range []struct {
		result records.Result
		want   string
	}{
		{
			records.Result{Ref: ref, PUID: 7, Version: 1, Outcome: resolve.Created},
			`{"source":"s","key":"k","puid":"7","version":1,"outcome":"created"}`,
		},
		{
			records.Result{Ref: ref, PUID: 7, Version: 1, Outcome: resolve.Matched,
				Watermark: changelog.Watermark{cell.ID{Index: 3}: 4, cell.ID{}: 17}},
			`{"source":"s","key":"k","puid":"7","version":1,"outcome":"matched","watermark":"g0-0:17,g0-3:4"}`,
		},
		{
			records.Result{Ref: ref, PUID: 7, Version: 1, Outcome: resolve.Matched, Pending: true},
			`{"source":"s","key":"k","puid":"7","version":1,"outcome":"matched","pending":true}`,
		},
		{
			records.Result{Ref: ref, Err: fmt.Errorf("put: %w: %w", cell.ErrCommitUnknown, cell.ErrUnavailable)},
			`{"source":"s","key":"k","error":{"code":"commit_unknown","detail":"the commit was sent but its reply was lost: repeat the request: that is safe even if it took effect","pointer":"/records/3","outcome":"unknown"}}`,
		},
		{
			records.Result{Ref: ref, Err: fmt.Errorf("put: %w", cell.ErrUnavailable)},
			`{"source":"s","key":"k","error":{"code":"unavailable","detail":"a cell is unavailable: try again after the seconds of Retry-After","pointer":"/records/3","outcome":"not_applied"}}`,
		},
		{
			records.Result{Ref: ref, Err: fmt.Errorf("put: %w", cell.ErrFenced)},
			`{"source":"s","key":"k","error":{"code":"stale_map","detail":"this server's cell map is outdated: try again after the seconds of Retry-After","pointer":"/records/3","outcome":"not_applied"}}`,
		},
	} {
		got, err := json.Marshal(putResult(3, test.result))
		if err != nil || string(got) != test.want {
			t.Errorf("%+v:\n%s, %v, want\n%s", test.result, got, err, test.want)
		}
	}
}
