// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
)

// Headers of a message.
const (
	headerRev = "rev"
	headerOp  = "op"
)

// record returns the message of an event: a tombstone for a deletion.
func (s *Sink) record(e *sink.Event) (*kgo.Record, error) {
	r := s.message(e.ID, e.Rev, e.Op)
	if e.Op == sink.Delete {
		return r, nil
	}
	var err error
	if r.Value, err = json.Marshal(e); err != nil {
		return nil, fmt.Errorf("kafka: the event of %v: %w", e.ID, err)
	}
	return r, nil
}

// message returns a message without a value.
func (s *Sink) message(id locality.ID, rev int64, op sink.Op) *kgo.Record {
	return &kgo.Record{Topic: s.topic, Key: []byte(id.String()), Headers: []kgo.RecordHeader{
		{Key: headerRev, Value: strconv.AppendInt(nil, rev, 10)}, {Key: headerOp, Value: []byte(op)},
	}}
}

// trace adds the trace of a context's work to messages, for their readers.
func trace(ctx context.Context, records []*kgo.Record) {
	parent, state := span.Of(ctx).Header()
	if parent == "" {
		return
	}
	for _, r := range records {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: "traceparent", Value: []byte(parent)})
		if state != "" {
			r.Headers = append(r.Headers, kgo.RecordHeader{Key: "tracestate", Value: []byte(state)})
		}
	}
}

// revOf returns the rev of a message, 0 if it was written by another program.
func revOf(r *kgo.Record) (rev int64) {
	for _, h := range r.Headers {
		if h.Key == headerRev {
			rev, _ = strconv.ParseInt(string(h.Value), 10, 64)
		}
	}
	return rev
}

// mark is the message in the topic of the progress.
type mark struct {
	// Token is the token of the owner that wrote last, Rev the highest rev in the topic, and First the lowest that was
	// ever written; 0 if there are no events.
	Token int64 `json:"token,string"`
	Rev   int64 `json:"rev,string"`
	First int64 `json:"first,string"`
	// Position is nil before the first one is stored.
	Position *sink.Position `json:"position,omitempty"`
}

// record returns the message.
func (m *mark) record(s *Sink) (*kgo.Record, error) {
	value, err := json.Marshal(m)
	return &kgo.Record{Topic: s.progress, Key: []byte(s.topic), Value: value}, err
}
