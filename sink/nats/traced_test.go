// SPDX-License-Identifier: Apache-2.0

package nats_test

import (
	"testing"

	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/sink"
)

// traced is a Recording of which only the headers are looked at.
type traced struct{ span.Recording }

func (traced) Header() (parent, state string) { return "00-parent-01", "vendor=1" }

// The trace of a delivery is passed on to the readers of the messages.
func TestDeliver_HasTheTrace(t *testing.T) {
	t.Parallel()
	s, js := broker(t)
	to := must(t, s, "/CRM")
	e := event(1, 5, 1, nil)
	if err := to.Deliver(span.With(t.Context(), span.New(traced{})), sink.Batch{Token: 5, Events: []sink.Event{e}}); err != nil {
		t.Fatal(err)
	}
	of, err := js.Stream(t.Context(), "CRM")
	if err != nil {
		t.Fatal(err)
	}
	m, err := of.GetMsg(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if parent, state := m.Header.Get("traceparent"), m.Header.Get("tracestate"); parent != "00-parent-01" || state != "vendor=1" || m.Header.Get("Nats-Msg-Id") == "" {
		t.Errorf("the message has the headers %v", m.Header)
	}
}
