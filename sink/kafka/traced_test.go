// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"context"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/sinktest"
)

// traced is a Recording of which only the headers are looked at.
type traced struct{ span.Recording }

func (traced) Header() (parent, state string) { return "00-parent-01", "vendor=1" }

// The trace of a delivery is passed on to the readers of the messages, including deletions; without a trace messages
// have no further headers.
func TestDeliver_HasTheTrace(t *testing.T) {
	t.Parallel()
	s := must(t, cluster(t), "golden")
	events := []sink.Event{
		{ID: locality.ID{0: 1, 15: 1}, Rev: sinktest.Rev(1, 1), Op: sink.Upsert, Kind: "place", Records: []string{"a:1"}},
		{ID: locality.ID{0: 2, 15: 1}, Rev: sinktest.Rev(1, 2), Op: sink.Delete},
		{ID: locality.ID{0: 3, 15: 1}, Rev: sinktest.Rev(1, 3), Op: sink.Delete},
	}
	for i, ctx := range []context.Context{span.With(t.Context(), span.New(traced{})), t.Context()} {
		if err := s.Deliver(ctx, sink.Batch{Token: 1, Events: [][]sink.Event{events[:2], events[2:]}[i]}); err != nil {
			t.Fatal(err)
		}
	}
	want := map[locality.ID]string{events[0].ID: "00-parent-01 vendor=1", events[1].ID: "00-parent-01 vendor=1",
		events[2].ID: " "}
	if err := s.Committed(t.Context(), func(r *kgo.Record) error {
		e, err := eventOf(r)
		headers := map[string]string{}
		for _, h := range r.Headers {
			headers[h.Key] = string(h.Value)
		}
		if got := headers["traceparent"] + " " + headers["tracestate"]; got != want[e.ID] {
			t.Errorf("the message of %v has the trace %q, want %q", e.ID, got, want[e.ID])
		}
		delete(want, e.ID)
		return err
	}); err != nil || len(want) > 0 {
		t.Errorf("%v; missing: %v", err, want)
	}
}
