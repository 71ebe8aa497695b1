// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/locus-db/locus/internal/kafkatopic"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/sink"
)

// ChangeSink is the target of changes in a topic that is not compacted. Their key is the cell, so that the changes of a
// cell stay in order, and the header seq identifies repeated ones.
type ChangeSink struct {
	topic    string
	producer *kgo.Client
	dials    *kafkatopic.Dials
}

var _ sink.ChangeSink = (*ChangeSink)(nil)

// OpenChanges connects to the brokers of a URL. The topic must exist. The error wraps sink.ErrStop if it is compacted.
func OpenChanges(ctx context.Context, to *url.URL, password secret.Text) (*ChangeSink, error) {
	if err := check(to); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	dials := &kafkatopic.Dials{}
	producer, err := kgo.NewClient(append(kafkatopic.Options(to, password), kgo.WithHooks(dials))...)
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	topic := kafkatopic.Topic(to)
	_, _, err = kafkatopic.Partitions(ctx, producer, topic)
	is := ""
	if err == nil {
		is, err = policyOf(ctx, producer, topic)
	}
	if err == nil && strings.Contains(is, compact) {
		err = fmt.Errorf("%w: it has %s=%s, which keeps the last change of each cell alone: set delete", sink.ErrStop,
			policy, is)
	}
	if err != nil {
		producer.Close()
		return nil, fmt.Errorf("kafka: open topic %s: %w", topic, err)
	}
	return &ChangeSink{topic, producer, dials}, nil
}

// DeliverChanges implements sink.ChangeSink.
func (s *ChangeSink) DeliverChanges(ctx context.Context, changes []sink.Change) (delivered int, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ctx, done := s.dials.Watch(ctx)
	defer done()
	records := make([]*kgo.Record, len(changes))
	for i := range changes {
		c := &changes[i]
		body, err := json.Marshal(c)
		if err != nil {
			return 0, err
		}
		records[i] = &kgo.Record{Topic: s.topic, Key: []byte(c.Cell.String()), Value: body, Headers: []kgo.RecordHeader{
			{Key: headerSeq, Value: strconv.AppendInt(nil, int64(c.Seq), 10)},
		}}
	}
	trace(ctx, records)
	for i, r := range s.producer.ProduceSync(ctx, records...) {
		if r.Err != nil {
			return i, fmt.Errorf("kafka: write %d changes to topic %s: %w", len(records), s.topic, kafkatopic.Cause(ctx, r.Err))
		}
	}
	return len(records), nil
}

// headerSeq is the header with the number of a change in its cell.
const headerSeq = "seq"

// Close implements sink.ChangeSink.
func (s *ChangeSink) Close() error {
	s.producer.Close()
	return nil
}
