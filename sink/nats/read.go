// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/locus-db/locus/internal/natsurl"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
)

var _ sink.Reader = (*Sink)(nil)

// Read implements sink.Reader. Of all IDs, the sums are held in memory, because a stream has no order of IDs.
func (s *Sink) Read(ctx context.Context, ids []locality.ID, fn func(sink.Held) error) error {
	if ids == nil {
		return s.readAll(ctx, fn)
	}
	for _, id := range ids {
		m, err := s.stream.GetLastMsgForSubject(ctx, s.prefix+"."+id.String())
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("nats: read the last message of %v: %w", id, err)
		}
		h, err := heldOf(m.Data)
		if err != nil || h.ID != id {
			h = sink.Held{ID: id}
		}
		if err := fn(h); err != nil {
			return err
		}
	}
	return nil
}

func heldOf(data []byte) (sink.Held, error) {
	var e sink.Event
	if err := json.Unmarshal(data, &e); err != nil {
		return sink.Held{}, fmt.Errorf("nats: a message is no event: %w", err)
	}
	return sink.HeldOf(&e), nil
}

// readAll reads the last message of each subject.
func (s *Sink) readAll(ctx context.Context, fn func(sink.Held) error) error {
	ordered, err := s.stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{s.prefix + ".*"}, DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy,
	})
	var info *jetstream.ConsumerInfo
	if err == nil {
		info, err = ordered.Info(ctx)
	}
	if err != nil {
		return fmt.Errorf("nats: read the last messages: %w", err)
	}
	all := make([]sink.Held, 0, info.NumPending)
	for left := info.NumPending; left > 0; {
		m, err := ordered.Next(jetstream.FetchMaxWait(natsurl.Patience))
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("nats: read the last messages, %d are left: %w", left, err)
		}
		meta, err := m.Metadata()
		if err != nil {
			return fmt.Errorf("nats: read the last messages: %w", err)
		}
		h, err := heldOf(m.Data())
		if err != nil {
			return err
		}
		all, left = append(all, h), meta.NumPending
	}
	slices.SortFunc(all, func(a, b sink.Held) int { return a.ID.Compare(b.ID) })
	for _, h := range all {
		if err := fn(h); err != nil {
			return err
		}
	}
	return nil
}
