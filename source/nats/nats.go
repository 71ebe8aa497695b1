// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/locus-db/locus/internal/natsurl"
	"github.com/locus-db/locus/source"
)

func init() { source.Register("nats", driver{}) }

// Driver reads JetStream streams.
var Driver source.Driver = driver{}

type driver struct{}

const (
	// buffered is how many messages are fetched ahead.
	buffered = 2000
	// linger is how long a batch waits for more messages once it has one.
	linger = 5 * time.Millisecond
)

// Check returns why a URL names no stream.
func (driver) Check(u *url.URL) error { return natsurl.Check(u) }

// Open connects and begins to read.
func (d driver) Open(ctx context.Context, s source.Spec, at source.Position) (source.Stream, error) {
	if err := d.Check(s.URL); err != nil {
		return nil, err
	}
	conn, err := natsurl.Connect(s.URL, s.Name, s.Secret)
	if err != nil {
		return nil, err
	}
	st := &stream{conn: conn, messages: make(chan source.Message, buffered), broken: make(chan error, 1)}
	if err := st.start(ctx, natsurl.Stream(s.URL), s.URL.Query()["subject"], at); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st, nil
}

// stream reads one stream by its sequence numbers, as partition 0.
type stream struct {
	conn     *nats.Conn
	stream   jetstream.Stream
	consumer jetstream.ConsumeContext
	filters  []string
	at       source.Position
	messages chan source.Message
	broken   chan error
	done     context.CancelFunc
}

func (s *stream) start(ctx context.Context, name string, filters []string, at source.Position) error {
	js, err := jetstream.New(s.conn)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, natsurl.Patience)
	defer cancel()
	if s.stream, err = js.Stream(ctx, name); errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("there is no stream %s (nats stream ls lists the streams): %w", name, err)
	} else if err != nil {
		return fmt.Errorf("find stream %s: %w", name, err)
	}
	info := s.stream.CachedInfo()
	first, last := int64(info.State.FirstSeq), int64(info.State.LastSeq) //nolint:gosec // sequences count messages
	log := logOf(info)
	next, begun := at.Next[0]
	switch {
	case at.Log != "" && at.Log != log:
		return fmt.Errorf("%w: stream %s was created again at %s", source.ErrGap, name, log)
	// A stream with a limit per subject drops messages that newer ones replace.
	case begun && next < first && info.Config.MaxMsgsPerSubject <= 0:
		return fmt.Errorf("%w: stream %s begins at message %d, after the next message %d", source.ErrGap, name, first, next)
	case begun && next > last+1:
		return fmt.Errorf("%w: stream %s ends at message %d, before the next message %d", source.ErrGap, name, last, next)
	}
	next = max(next, first, 1)
	s.at = source.Position{Log: log, Next: map[int32]int64{0: next}}
	s.filters = filters
	consumer, err := s.stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		FilterSubjects: filters, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: uint64(next), //nolint:gosec // from 1
	})
	if err != nil {
		return fmt.Errorf("read stream %s: %w", name, err)
	}
	working, done := context.WithCancel(context.Background())
	s.done = done
	s.consumer, err = consumer.Consume(func(m jetstream.Msg) {
		message, err := fromBroker(m)
		if err != nil {
			s.fail(err)
			return
		}
		select {
		case s.messages <- message:
		case <-working.Done():
		}
	}, jetstream.PullMaxMessages(buffered), jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
		// The consumer repairs itself after lost heartbeats; without its stream it cannot.
		if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrConsumerNotFound) {
			s.fail(err)
		}
	}))
	return err
}

// logOf distinguishes a stream from one of the same name that was created later.
func logOf(info *jetstream.StreamInfo) string { return info.Created.UTC().Format(time.RFC3339Nano) }

func (s *stream) fail(err error) {
	select {
	case s.broken <- err:
	default:
	}
}

func fromBroker(m jetstream.Msg) (source.Message, error) {
	meta, err := m.Metadata()
	if err != nil {
		return source.Message{}, fmt.Errorf("read a message: %w", err)
	}
	return source.Message{
		Offset: int64(meta.Sequence.Stream), Key: keyOf(m.Subject()), Value: m.Data(), Time: meta.Timestamp, //nolint:gosec // counts messages
	}, nil
}

// keyOf returns the subject, of a key-value bucket the key.
func keyOf(subject string) []byte {
	if rest, ok := strings.CutPrefix(subject, "$KV."); ok {
		if _, key, found := strings.Cut(rest, "."); found {
			return []byte(key)
		}
	}
	return []byte(subject)
}

// Position returns where reading began.
func (s *stream) Position() source.Position { return s.at.Clone() }

// Fetch returns the messages that have arrived.
func (s *stream) Fetch(ctx context.Context, limit int) (batch []source.Message, err error) {
	select {
	case m := <-s.messages:
		batch = append(batch, m)
	case err := <-s.broken:
		return nil, fmt.Errorf("read the stream: %w", err)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	patience := time.NewTimer(linger)
	defer patience.Stop()
	for len(batch) < limit {
		select {
		case m := <-s.messages:
			batch = append(batch, m)
		case <-patience.C:
			return batch, nil
		}
	}
	return batch, nil
}

// Read returns one message by its sequence.
func (s *stream) Read(ctx context.Context, _ int32, offset int64) (m source.Message, err error) {
	raw, err := s.stream.GetMsg(ctx, uint64(offset)) //nolint:gosec // from 1
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return m, source.ErrGone
	}
	if err != nil {
		return m, fmt.Errorf("read message %d: %w", offset, err)
	}
	return source.Message{Offset: offset, Key: keyOf(raw.Subject), Value: raw.Data, Time: raw.Time}, nil
}

// Ends returns the sequence after the last message. With a filter it is the sequence after the last message of any
// subject, because a reader that has caught up has read everything up to there.
func (s *stream) Ends(ctx context.Context) (map[int32]int64, error) {
	if err := natsurl.Lost(s.conn); err != nil {
		return nil, err
	}
	info, err := s.stream.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the end of the stream: %w", cmp.Or(natsurl.Lost(s.conn), err))
	}
	if log := logOf(info); log != s.at.Log {
		return nil, fmt.Errorf("%w: stream %s was created again at %s", source.ErrGap, info.Config.Name, log)
	}
	return map[int32]int64{0: int64(info.State.LastSeq) + 1}, nil //nolint:gosec // counts messages
}

// Mark does nothing: the consumer belongs to this connection.
func (s *stream) Mark(context.Context, source.Position) error { return nil }

// Close ends the connection, and with it the consumer.
func (s *stream) Close() error {
	if s.done != nil {
		s.done()
	}
	if natsurl.Lost(s.conn) != nil {
		s.conn.Close() // or Stop waits 10 s for the requests that look for the consumer
	}
	if s.consumer != nil {
		s.consumer.Stop()
	}
	s.conn.Close()
	return nil
}
