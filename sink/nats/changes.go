// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/locus-db/locus/internal/natsurl"
	"github.com/locus-db/locus/sink"
)

var _ sink.ChangeSink = (*Sink)(nil)

// DeliverChanges implements sink.ChangeSink. The subject of a change belongs to its cell. Each change is published only
// if the subject still ends with the previous message, so no change is stored twice or out of order.
func (s *Sink) DeliverChanges(ctx context.Context, changes []sink.Change) (delivered int, err error) {
	if err := natsurl.Lost(s.conn); err != nil {
		return 0, err
	}
	if delivered, err = s.deliverChanges(ctx, changes); err != nil {
		err = cmp.Or(natsurl.Lost(s.conn), err)
	}
	return delivered, err
}

func (s *Sink) deliverChanges(ctx context.Context, changes []sink.Change) (delivered int, err error) {
	ctx, cancel := context.WithTimeout(ctx, natsurl.Patience)
	defer cancel()
	subject := s.prefix + "." + changes[0].Cell.String()
	last, err := s.stream.GetLastMsgForSubject(ctx, subject)
	var sequence uint64
	var has sink.Change
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
	case err != nil:
		return 0, fmt.Errorf("nats: read the last message of subject %s: %w", subject, err)
	default:
		if sequence = last.Sequence; json.Unmarshal(last.Data, &has) != nil || has.Cell != changes[0].Cell {
			return 0, fmt.Errorf("%w: subject %s has a message of another program: give the sink a prefix of its own",
				sink.ErrStop, subject)
		}
	}
	for i := range changes {
		c := &changes[i]
		if c.Seq <= has.Seq {
			continue
		}
		body, err := json.Marshal(c)
		if err != nil {
			return i, err
		}
		ack, err := s.js.PublishMsg(ctx, message(ctx, subject, body), jetstream.WithExpectStream(s.stream.CachedInfo().Config.Name),
			jetstream.WithExpectLastSequencePerSubject(sequence),
			jetstream.WithMsgID(s.name+"."+c.Cell.String()+"."+strconv.FormatInt(int64(c.Seq), 10)))
		if err != nil {
			return i, fmt.Errorf("nats: publish to subject %s: %w", subject, err)
		}
		sequence = ack.Sequence
	}
	return len(changes), nil
}
