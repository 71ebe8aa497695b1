// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collected is a receiver of OTLP over HTTP.
type collected struct {
	*httptest.Server
	mu       sync.Mutex
	services map[string]bool
	header   http.Header
	spans    []*tracepb.Span
}

func collector(t *testing.T) *collected {
	t.Helper()
	c := &collected{services: map[string]bool{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		raw, err := io.ReadAll(body)
		var of tracepb.TracesData
		if err == nil {
			err = proto.Unmarshal(raw, &of)
		}
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %s: %v", r.URL.Path, r.Header, err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.header = r.Header
		for _, process := range of.ResourceSpans {
			for _, a := range process.Resource.Attributes {
				if a.Key == "service.name" {
					c.services[a.Value.GetStringValue()] = true
				}
			}
			for _, scope := range process.ScopeSpans {
				c.spans = append(c.spans, scope.Spans...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// of returns the spans of a trace.
func (c *collected) of(trace string) (spans []*tracepb.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if hex.EncodeToString(s.TraceId) == trace {
			spans = append(spans, s)
		}
	}
	return spans
}

func attribute(s *tracepb.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// A put is one trace, from the script that sends it through HTTP and the rounds to the transactions of cells; a
// delivery is another, which continues in the receiver and is named by the log.
func TestServe_Traces(t *testing.T) {
	t.Parallel()
	c := collector(t)
	received := make(chan http.Header, 10)
	var refuse sync.Once
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse.Do(func() { w.WriteHeader(http.StatusInternalServerError) })
		received <- r.Header
	}))
	t.Cleanup(hook.Close)
	data := filepath.Join(t.TempDir(), "data")
	s := launchWith(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
		"OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=a%20b",
	}, "serve", "--data", data, "--addr", "127.0.0.1:0", "--cells", "2", "--trace-sample", "1", "--log-format", "json")

	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	const parent = "00f067aa0ba902b7"
	env := map[string]string{"TRACEPARENT": "00-" + trace + "-" + parent + "-01"}
	if r := runWith(t.Context(), `{"source":"crm","key":"secret-key","attributes":{"name":"Ada Lovelace","city":"London"}}`+"\n", env, "ingest", "-", "--url", s.URL); r.code != 0 {
		t.Fatal(r)
	}
	if r := run(t.Context(), nil, "sink", "create", "hook", "--to", hook.URL, "--url", s.URL); r.code != 0 {
		t.Fatal(r)
	}
	refused, accepted := <-received, <-received
	s.stop() // sends the last spans

	if c.header.Get("x-tenant") != "a b" || !c.services["locus"] {
		t.Errorf("header %v, services %v", c.header, c.services)
	}
	spans := c.of(trace)
	byID, names := map[string]*tracepb.Span{}, map[string]*tracepb.Span{}
	for _, span := range spans {
		byID[hex.EncodeToString(span.SpanId)], names[span.Name] = span, span
		if strings.Contains(span.String(), "secret-key") || strings.Contains(span.String(), "Lovelace") {
			t.Errorf("a span has data of a record: %v", span)
		}
	}
	above := func(s *tracepb.Span) (path []string) {
		for ; s != nil; s = byID[hex.EncodeToString(s.ParentSpanId)] {
			path = append(path, s.Name)
			if hex.EncodeToString(s.ParentSpanId) == parent {
				path = append(path, "script")
			}
		}
		return path
	}
	for _, round := range []string{"put", "post", "resolve"} {
		if path := above(names[round]); len(path) < 4 || path[1] != "batch" || path[len(path)-1] != "script" || !strings.HasPrefix(path[2], "POST /v1/records") {
			t.Errorf("the round %s is below %q", round, path)
		}
	}
	if !slices.ContainsFunc(spans, func(s *tracepb.Span) bool {
		path := above(s)
		return s.Name == "cell write" && attribute(s, "db.system.name") == "sqlite" && len(path) > 2 && path[1] == "put" &&
			path[2] == "batch"
	}) {
		t.Error("no transaction is below the first round")
	}
	if !slices.ContainsFunc(spans, func(s *tracepb.Span) bool {
		path := above(s)
		return strings.HasPrefix(attribute(s, "db.query.text"), "INSERT INTO record") && s.Name == "INSERT record" &&
			len(path) > 2 && path[1] == "cell write" && path[2] == "put"
	}) {
		t.Error("no statement is below a transaction")
	}
	if !slices.ContainsFunc(spans, func(s *tracepb.Span) bool {
		return s.Kind == tracepb.Span_SPAN_KIND_SERVER && attribute(s, "http.request.method") == "POST" &&
			names["batch"] != nil && string(names["batch"].ParentSpanId) == string(s.SpanId)
	}) {
		t.Error("the batch is not below the request")
	}

	for i, header := range []http.Header{refused, accepted} {
		at := strings.Split(header.Get("traceparent"), "-")
		if len(at) != 4 {
			t.Fatalf("a webhook got the traceparent %q", at)
		}
		delivery := slices.IndexFunc(c.of(at[1]), func(s *tracepb.Span) bool { return hex.EncodeToString(s.SpanId) == at[2] })
		if delivery < 0 {
			t.Fatalf("no span is that of the traceparent %q", at)
		}
		of := c.of(at[1])[delivery]
		if bad := of.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR; of.Name != "sink delivery" || attribute(of, "locus.sink") != "hook" || i == 0 && !bad {
			t.Errorf("delivery %d is %v", i, of)
		}
	}
	logged := false
	for line := range strings.Lines(s.talk.String()) {
		var event map[string]any
		if json.Unmarshal([]byte(line), &event) == nil && event["msg"] == "sink delivery failed" {
			logged = event["trace_id"] == strings.Split(refused.Get("traceparent"), "-")[1]
		}
	}
	if !logged {
		t.Errorf("the log does not name the trace of the failed delivery: %s", s.talk)
	}
}

// Without a collector nothing is traced; with wrong variables the server does not start.
func TestServe_TracesAreOffOrRight(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]map[string]string{
		"TRACES_EXPORTER": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none",
			"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
		"SDK_DISABLED": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true",
			"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
		"no endpoint": {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
	} {
		s := launchWith(t, env, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--addr", "127.0.0.1:0",
			"--cells", "1")
		if s.stop(); strings.Contains(s.talk.String(), "trace") {
			t.Errorf("%s: %s", name, s.talk)
		}
	}
	for variable, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TIMEOUT": "10s", "OTEL_EXPORTER_OTLP_COMPRESSION": "lzw",
		"OTEL_EXPORTER_OTLP_HEADERS": "token", "OTEL_EXPORTER_OTLP_CERTIFICATE": "missing.pem",
		"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4317",
	} {
		env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}
		env[variable] = value
		r := run(t.Context(), env, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--addr", "127.0.0.1:0",
			"--cells", "1")
		if r.code != 2 || !strings.Contains(r.err, variable) && !strings.Contains(r.err, "--trace-endpoint") {
			t.Errorf("%s=%s: %v", variable, value, r)
		}
	}
	if r := run(t.Context(), nil, "serve", "--data", filepath.Join(t.TempDir(), "data"), "--trace-sample", "7"); r.code != 2 || !strings.Contains(r.err, "from 0 to 1") {
		t.Errorf("--trace-sample 7: %v", r)
	}
}
