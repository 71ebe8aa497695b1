// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/locus-db/locus/internal/kafkatopic"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/sink"
)

// patience is how long a delivery may take. The broker aborts a transaction that takes longer.
const patience = 45 * time.Second

// Sink is the sink of a topic. It stores positions.
type Sink struct {
	topic, progress string
	common          []kgo.Opt
	producer        *kgo.Client // nil if it has failed; used by one goroutine at a time
	mark            mark        // as committed last
	fenced          error       // why another owner has the transactional ID
	dials           kafkatopic.Dials
}

var _ sink.Sink = (*Sink)(nil)

// Open connects to the brokers of a URL and creates the topics that are missing. It takes the transactional ID over
// from a former owner. The error wraps sink.ErrStop if the topic has messages and no progress, so that it is of another
// program.
func Open(ctx context.Context, to *url.URL, password secret.Text) (*Sink, error) {
	if err := check(to); err != nil {
		return nil, err
	}
	topic := kafkatopic.Topic(to)
	s := &Sink{topic: topic, progress: topic + ".progress", common: kafkatopic.Options(to, password)}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// connect takes the transactional ID over, and then reads the state that was committed under it.
func (s *Sink) connect(ctx context.Context) error {
	producer, err := kgo.NewClient(append(s.common[:len(s.common):len(s.common)], kgo.TransactionalID("locus."+s.topic), kgo.TransactionTimeout(patience), kgo.WithHooks(&s.dials))...)
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	s.producer = producer
	if err = s.ensure(ctx, s.topic, -1); err == nil {
		err = s.ensure(ctx, s.progress, 1)
	}
	if err == nil {
		_, _, err = producer.ProducerID(ctx)
	}
	if err == nil {
		err = s.load(ctx)
	}
	if err != nil {
		return s.broken(fmt.Errorf("kafka: open topic %s: %w", s.topic, kafkatopic.Cause(ctx, err)))
	}
	return nil
}

// broken closes the connection after an error, so that the next one begins with the committed state. An owner that was
// fenced never connects again, because that would fence its successor.
func (s *Sink) broken(err error) error {
	s.producer.Close()
	s.producer = nil
	if errors.Is(err, kerr.ProducerFenced) || errors.Is(err, kerr.InvalidProducerEpoch) {
		s.fenced = fmt.Errorf("%w: another one has the transactional id of topic %s: %w", sink.ErrFenced, s.topic, err)
		return s.fenced
	}
	return err
}

// Position implements sink.Sink.
func (s *Sink) Position(context.Context) (sink.Position, error) {
	if s.mark.Position == nil {
		return sink.Position{}, nil
	}
	return *s.mark.Position, nil
}

// Close implements sink.Sink.
func (s *Sink) Close() error {
	if s.producer != nil {
		s.producer.Close()
	}
	return nil
}

// Deliver implements sink.Sink. If events are too large, they are written one by one to find out which.
func (s *Sink) Deliver(ctx context.Context, b sink.Batch) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ctx, done := s.dials.Watch(ctx)
	defer done()
	write := func(b sink.Batch) error { return s.write(ctx, b) }
	err := write(b)
	if tooLarge(err) == "" || len(b.Events) == 0 {
		return err
	}
	return b.Apart(write, tooLarge)
}

// tooLarge returns the text of the error for an event that no broker takes, "" for any other error.
func tooLarge(err error) string {
	if errors.Is(err, kerr.MessageTooLarge) {
		return err.Error()
	}
	return ""
}

// write writes the events of a batch that are not there yet, and the position, in one transaction.
func (s *Sink) write(ctx context.Context, b sink.Batch) error {
	if s.fenced != nil {
		return s.fenced
	}
	if s.producer == nil {
		if err := s.connect(ctx); err != nil {
			return err
		}
	}
	if b.Token < s.mark.Token {
		return fmt.Errorf("%w: topic %s has one above %d", sink.ErrFenced, s.progress, b.Token)
	}
	next := s.mark
	if next.Token = b.Token; b.Position != nil {
		next.Position = b.Position
	}
	var records []*kgo.Record
	for i := range b.Events {
		e := &b.Events[i]
		if e.Rev <= s.mark.Rev {
			continue // committed before, or of a former owner
		}
		r, err := s.record(e)
		if err != nil {
			return err
		}
		records = append(records, r)
		if sink.TokenOf(e.Rev) == b.Token { // as all of an owner are
			next.Rev = e.Rev
		}
		if next.First == 0 {
			next.First = e.Rev
		}
	}
	if b.Sweep != 0 {
		if err := s.sweep(ctx, b.Sweep); err != nil {
			return s.broken(fmt.Errorf("kafka: delete what the installation has lost from topic %s: %w", s.topic, err))
		}
	}
	trace(ctx, records)
	last, err := next.record(s)
	if err == nil {
		err = s.commit(ctx, append(records, last))
	}
	if err != nil {
		return s.broken(fmt.Errorf("kafka: write %d events to topic %s: %w", len(records), s.topic, kafkatopic.Cause(ctx, err)))
	}
	s.mark = next
	return nil
}

// commit writes messages in one transaction.
func (s *Sink) commit(ctx context.Context, records []*kgo.Record) error {
	if err := s.producer.BeginTransaction(); err != nil {
		return err
	}
	if err := s.producer.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return err // the next owner of the transactional ID aborts it, which is this process or another
	}
	return s.producer.EndTransaction(ctx, kgo.TryCommit)
}
