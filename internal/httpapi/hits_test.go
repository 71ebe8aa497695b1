// SPDX-License-Identifier: Apache-2.0

package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
)

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// hits sends a batch given as JSON and returns its results.
func (f *fixture) hits(hits string, headers ...string) []httpapi.HitResult {
	f.Helper()
	return decode[httpapi.HitResponse](f.do(http.MethodPost, "/v1/hits", `{"hits":[`+hits+`]}`, headers...)).Results
}

// today returns the series of a metric by hour for yesterday and today.
func (f *fixture) today(metric string) httpapi.SeriesLine {
	f.Helper()
	from := time.Now().UTC().Add(-24 * time.Hour)
	s := decode[httpapi.Series](f.get(fmt.Sprintf("/v1/series?metric=%s&from=%s&to=%s&step=hour", metric, instant(from), instant(from.Add(48*time.Hour)))))
	return s.Lines[0]
}

func TestHits_ResultsInOrder(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	now := time.Now()
	got := f.hits(strings.Join([]string{
		`{"metric":"page /a.b"}`,
		`{"metric":"page /a.b","n":3,"at":"` + instant(now.Add(-6*24*time.Hour)) + `"}`,
		`{"metric":"temp","value":-7}`,
		`{"metric":"temp","n":1}`,
		`{"metric":"old","at":"` + instant(now.Add(-8*24*time.Hour)) + `"}`,
		`{"metric":"new","at":"` + instant(now.Add(6*time.Minute)) + `"}`,
		`{"metric":"leap","at":"2026-06-30T23:59:60Z"}`,
		`{"metric":"locus.hits"}`,
		`{"metric":"a` + `\u0000` + `"}`,
		`{"metric":"` + strings.Repeat("x", 201) + `"}`,
		`{"metric":"n","n":0}`, `{"metric":"n","n":1000001}`, `{"metric":"n","n":1e3}`, `{"metric":"n","n":"1"}`,
		`{"metric":"n","n":-0}`, `{"metric":"n","n":null}`,
		`{"metric":"n","n":1,"value":1}`, `{"metric":"n","is_admin":true}`, `{"metric":7}`, `7`, `{}`,
		`{"metric":"__proto__","n":1000000}`,
	}, ","))
	want := []struct {
		code    httpapi.Code
		pointer string
	}{
		{},
		{},
		{},
		{"invalid", "/hits/3"},
		{"too_old", "/hits/4"},
		{"in_future", "/hits/5"},
		{"invalid", "/hits/6/at"},
		{"invalid", "/hits/7/metric"},
		{"invalid", "/hits/8/metric"},
		{"invalid", "/hits/9/metric"},
		{"invalid", "/hits/10/n"},
		{"invalid", "/hits/11/n"},
		{"invalid", "/hits/12/n"},
		{"invalid", "/hits/13/n"},
		{"invalid", "/hits/14/n"},
		{"invalid", "/hits/15/n"},
		{"invalid", "/hits/16/value"},
		{"unknown_field", "/hits/17/is_admin"},
		{"invalid", "/hits/18/metric"},
		{"invalid", "/hits/19"},
		{"invalid", "/hits/20/metric"},
		{},
	}
	if len(got) != len(want) {
		t.Fatalf("%d results", len(got))
	}
	for i, w := range want {
		switch r := got[i]; {
		case w.code == "" && (r.Error != nil || r.Outcome != httpapi.Counted):
			t.Errorf("hit %d: %+v", i, r.Error)
		case w.code != "" && (r.Error == nil || r.Error.Code != w.code || r.Error.Pointer != w.pointer || r.Error.Outcome != httpapi.NotApplied || r.Outcome != "" || r.Error.Detail == ""):
			t.Errorf("hit %d: %+v %+v, want %+v", i, r, r.Error, w)
		}
	}
	for metric, want := range map[string]int64{"page+/a.b": 1, "__proto__": 1000000} {
		if line := f.today(metric); line.Total == nil || *line.Total != want {
			t.Errorf("%s: %+v", metric, line)
		}
	}
	if line := f.today("temp"); line.Kind != "gauge" || line.Values != nil || line.Total != nil || len(line.Last) < 48 || len(line.Min) != len(line.Last) {
		t.Errorf("%s: %d values", line.Kind, len(line.Last))
	}
	for _, body := range []string{`{"hits":[]}`, `{"hits":{}}`, `{}`, `{"hits":null}`} {
		f.do(http.MethodPost, "/v1/hits", body).refused(422, httpapi.CodeInvalid)
	}
	for body, code := range map[string]httpapi.Code{
		`{"metric":"a","n":1}{"metric":"b"}`: "trailing_data", `{"hits":[{"metric":"a","metric":"b"}]}`: "duplicate_key",
		`{"metric":"a"}`: "unknown_field", `{"hits":[`: "malformed",
	} {
		f.do(http.MethodPost, "/v1/hits", body).refused(400, code)
	}
	many := strings.Repeat(`{"metric":"a"},`, counter.MaxBatch) + `{"metric":"a"}`
	f.do(http.MethodPost, "/v1/hits", `{"hits":[`+many+`]}`).refused(413, httpapi.CodeTooLarge)
	f.good()
}

func TestHits_Once(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	at := `"at":"` + instant(time.Now()) + `"`
	hits := `{"metric":"a",` + at + `},{"metric":"b",` + at + `,"n":2},{"metric":"locus.x",` + at + `}`
	id := strings.Repeat("0f", 16)
	for _, headers := range [][]string{{"Idempotency-Key", "k"}, {"Locus-Producer", id, "Locus-Seq", "7"}} {
		for i := range 3 {
			a := f.do(http.MethodPost, "/v1/hits", `{"hits":[`+hits+`]}`, headers...)
			results := decode[httpapi.HitResponse](a).Results
			if results[0].Error != nil || results[1].Error != nil || results[2].Error == nil {
				t.Errorf("%s", a.Body)
			}
			if got := a.Header().Get("Idempotent-Replayed"); (got == "true") != (i > 0) {
				t.Errorf("%v, %d: replayed %q", headers, i, got)
			}
		}
		f.do(http.MethodPost, "/v1/hits", `{"hits":[{"metric":"a",`+at+`}]}`, headers...).refused(422, httpapi.CodeKeyReused)
	}
	f.do(http.MethodPost, "/v1/hits", `{"hits":[`+hits+`]}`, "Locus-Producer", id, "Locus-Seq", "6").refused(409,
		httpapi.CodeConflict)
	if a, b := f.today("a"), f.today("b"); *a.Total != 2 || *b.Total != 4 {
		t.Errorf("a has %d, b %d", *a.Total, *b.Total)
	}
	for _, test := range []struct {
		status  int
		code    httpapi.Code
		headers []string
	}{
		{400, "malformed", []string{"Idempotency-Key", "a", "Idempotency-Key", "b"}},
		{400, "malformed", []string{"Locus-Seq", "1", "Locus-Seq", "1", "Locus-Producer", id}},
		{422, "invalid", []string{"Idempotency-Key", strings.Repeat("k", 129)}},
		{422, "invalid", []string{"Idempotency-Key", "clé"}},
		{422, "invalid", []string{"Idempotency-Key", "a b"}},
		{422, "invalid", []string{"Idempotency-Key", "a", "Locus-Producer", id, "Locus-Seq", "1"}},
		{422, "invalid", []string{"Locus-Producer", id}},
		{422, "invalid", []string{"Locus-Seq", "1"}},
		{422, "invalid", []string{"Locus-Producer", id + "00", "Locus-Seq", "1"}},
		{422, "invalid", []string{"Locus-Producer", strings.Repeat("0", 32), "Locus-Seq", "1"}},
		{422, "invalid", []string{"Locus-Producer", id, "Locus-Seq", "0"}},
		{422, "invalid", []string{"Locus-Producer", id, "Locus-Seq", "+1"}},
		{422, "invalid", []string{"Locus-Producer", id, "Locus-Seq", "9223372036854775808"}},
	} {
		f.do(http.MethodPost, "/v1/hits", `{"hits":[`+hits+`]}`, test.headers...).refused(test.status, test.code)
	}
	// A hit with a key must have a time; otherwise its repeat would be a different hit.
	f.do(http.MethodPost, "/v1/hits", `{"hits":[{"metric":"a"}]}`, "Idempotency-Key", "z").refused(422,
		httpapi.CodeInvalid)
}

// Responses with status 5xx are counted, except those of health checks, and so are the outcomes of records.
func TestOwn_AreCounted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() *locus.DB {
		cells, err := storage.Open(t.Context(), dir, &storage.Options{Cells: 1, Scratch: true})
		if err != nil {
			t.Fatal(err)
		}
		svc, err := locus.OpenCells(t.Context(), cells, &locus.Options{CountItself: true})
		if err != nil {
			t.Fatal(err)
		}
		return svc
	}
	svc := open()
	server := httpapi.New(svc, nil)
	(&fixture{t, svc, server}).do("POST", "/v1/records", `{"records":[
		{"source":"a","key":"1","attributes":{"name":"Joes Pizza","phones":"415-555-2300"}},{"source":"b","key":"1","attributes":{"name":"Joes Pizza","phones":"415-555-2300"}},
		{"source":"a","key":"2","attributes":{"name":"Blue Door Books"}},{"source":"a","key":"","attributes":{"name":"x"}},{"source":"a","key":"3","attributes":{"nosuch":"x"}}]}`)
	gone, leave := context.WithCancel(t.Context())
	leave()
	for target, status := range map[string]int{"/v1/status": 503, "/v1/cells": 503, "/v1/nothing": 404, "/readyz": 0} {
		r := httptest.NewRequestWithContext(gone, http.MethodGet, target, nil)
		r.Host = "localhost"
		rec := httptest.NewRecorder()
		server.ServeHTTP(rec, r)
		if target == "/readyz" {
			continue // whatever the status
		}
		if rec.Code != status {
			t.Errorf("%s: %d %s", target, rec.Code, rec.Body)
		}
	}
	if err := svc.Close(); err != nil {
		t.Fatal(err)
	}
	svc = open()
	defer svc.Close()
	f := &fixture{t, svc, httpapi.New(svc, nil)}
	for metric, want := range map[string]int64{"locus.errors": 2, "locus.records": 3, "locus.created": 2, "locus.matched": 1, "locus.refused": 2} {
		if line := f.today(metric); line.Total == nil || *line.Total != want {
			t.Errorf("%s: %v, want %d", metric, line, want)
		}
	}
}
