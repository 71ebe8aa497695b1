// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/locus-db/locus/internal/kafkatopic"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/sink"
)

// Reader reads a topic. Unlike a Sink it does not take the transactional ID, so that the owner continues.
type Reader struct{ of *Sink }

var _ sink.Reader = (*Reader)(nil)

// OpenReader connects to the brokers of a URL.
func OpenReader(_ context.Context, to *url.URL, password secret.Text) (*Reader, error) {
	if err := check(to); err != nil {
		return nil, err
	}
	topic := kafkatopic.Topic(to)
	s := &Sink{topic: topic, progress: topic + ".progress", common: kafkatopic.Options(to, password)}
	var err error
	if s.producer, err = kgo.NewClient(s.common...); err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	return &Reader{s}, nil
}

// Position implements sink.Reader.
func (r *Reader) Position(ctx context.Context) (sink.Position, error) {
	err := r.of.load(ctx)
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		return sink.Position{}, nil
	}
	if err != nil {
		return sink.Position{}, fmt.Errorf("kafka: read the position in topic %s: %w", r.of.progress, err)
	}
	return r.of.Position(ctx)
}

// Read implements sink.Reader. It reads the whole topic, and holds the sums in memory, because a topic has no order of
// IDs.
func (r *Reader) Read(ctx context.Context, ids []locality.ID, fn func(sink.Held) error) error {
	_, partitions, err := kafkatopic.Partitions(ctx, r.of.producer, r.of.topic)
	if errors.Is(err, kerr.UnknownTopicOrPartition) {
		return nil
	}
	all := map[locality.ID]sink.Held{}
	for _, p := range partitions {
		if err == nil {
			err = r.of.scan(ctx, r.of.topic, p, func(m *kgo.Record) error {
				id, err := locality.Parse(string(m.Key))
				if err != nil {
					return fmt.Errorf("a message of another program: %w", err)
				}
				if _, wanted := slices.BinarySearchFunc(ids, id, locality.ID.Compare); ids != nil && !wanted {
					return nil
				}
				if rev := revOf(m); rev >= all[id].Rev {
					all[id] = heldOf(id, rev, m.Value)
				}
				return nil
			})
		}
	}
	if err != nil {
		return fmt.Errorf("kafka: read topic %s: %w", r.of.topic, err)
	}
	for _, id := range slices.SortedFunc(maps.Keys(all), locality.ID.Compare) {
		if err := fn(all[id]); err != nil {
			return err
		}
	}
	return nil
}

// heldOf returns the state of an ID that a message has: a tombstone is a deletion.
func heldOf(id locality.ID, rev int64, value []byte) sink.Held {
	e := sink.Event{ID: id, Rev: rev, Op: sink.Delete}
	if value != nil && json.Unmarshal(value, &e) != nil {
		return sink.Held{ID: id, Rev: rev}
	}
	return sink.HeldOf(&e)
}

// Close implements sink.Reader.
func (r *Reader) Close() error { return r.of.Close() }
