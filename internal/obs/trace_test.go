// SPDX-License-Identifier: Apache-2.0

package obs_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/locus-db/locus/internal/obs"
	"github.com/locus-db/locus/internal/span"
)

// A caller that does not sample is not traced, but its trace is passed on to the calls that it causes; a sampled one
// gets spans.
func TestTraces_FollowTheCaller(t *testing.T) {
	t.Parallel()
	traces, err := obs.NewTraces(t.Context(), obs.TraceOptions{Endpoint: "http://127.0.0.1:1", Logger: slog.New(slog.DiscardHandler), Env: map[string]string{"OTEL_EXPORTER_OTLP_TIMEOUT": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = traces.Close() }) // there is no collector
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for flags, sampled := range map[string]bool{"00": false, "01": true} {
		ctx, root := traces.Root(t.Context(),
			span.Root{Name: "r", Parent: "00-" + id + "-00f067aa0ba902b7-" + flags, State: "vendor=1"})
		inner, child := span.Start(ctx, "c")
		if child.On() != sampled || !root.On() || (inner == ctx) == sampled {
			t.Errorf("flags %s: the child is recorded: %v", flags, child.On())
		}
		parent, state := span.Of(inner).Header()
		if !strings.HasPrefix(parent, "00-"+id+"-") || !strings.HasSuffix(parent, "-"+flags) ||
			strings.Contains(parent, "00f067aa0ba902b7") || state != "vendor=1" {
			t.Errorf("flags %s: what it calls gets %q, %q", flags, parent, state)
		}
	}
	if _, s := traces.Root(t.Context(), span.Root{Name: "r"}); s.On() {
		if parent, _ := s.Header(); !strings.HasSuffix(parent, "-00") {
			t.Errorf("with the share 0 a request is sampled: %s", parent)
		}
	}
}

// Events within a span have its ids, others none.
func TestTracedLog_NamesTheSpan(t *testing.T) {
	t.Parallel()
	traces, err := obs.NewTraces(t.Context(), obs.TraceOptions{Endpoint: "http://127.0.0.1:1", Logger: slog.New(slog.DiscardHandler), Env: map[string]string{"OTEL_EXPORTER_OTLP_TIMEOUT": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = traces.Close() })
	var out bytes.Buffer
	log := slog.New(obs.TracedLog(slog.NewJSONHandler(&out, nil))).With("a", 1)
	ctx, s := traces.Root(t.Context(), span.Root{Name: "r"})
	log.InfoContext(ctx, "inside")
	log.InfoContext(t.Context(), "outside")
	parent, _ := s.Header()
	at := strings.Split(parent, "-")
	lines := strings.Split(out.String(), "\n")
	if !strings.Contains(lines[0], `"trace_id":"`+at[1]+`","span_id":"`+at[2]+`"`) ||
		strings.Contains(lines[1], "trace_id") {
		t.Errorf("%s", &out)
	}
}

// A collector that fails is asked again and then given up, with one line in the log, and another when it is back.
func TestTraces_CollectorFails(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	answers := []int{503, 429, 502, 503, 200, 400, 200}
	asked := 0
	c := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if asked < len(answers) {
			w.WriteHeader(answers[asked])
		}
		asked++
	}))
	t.Cleanup(c.Close)
	var out bytes.Buffer
	// The first batch is given up, the second one arrives, the third one is refused for good, the fourth one arrives.
	traces, err := obs.NewTraces(t.Context(),
		obs.TraceOptions{Endpoint: c.URL + "/", Sample: 1, Logger: slog.New(slog.NewTextHandler(&out, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		_, s := traces.Root(t.Context(), span.Root{Name: "r"})
		s.End(errors.New("no"))
		if err := traces.Flush(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := traces.Close(); err != nil {
		t.Error(err)
	}
	if asked != len(answers) {
		t.Errorf("asked %d times, want %d", asked, len(answers))
	}
	if failed, back := strings.Count(out.String(), "trace export failed"), strings.Count(out.String(), "trace export recovered"); failed != 2 || back != 2 {
		t.Errorf("%s", &out)
	}
}
