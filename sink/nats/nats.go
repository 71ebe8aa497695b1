// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/locus-db/locus/internal/natsurl"
	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/sink"
)

// Options of Open. Name is required.
type Options struct {
	// Name of the sink; it begins the IDs of the messages.
	Name string
	// Secret is the password of the user in the URL, or a token if that has none.
	Secret secret.Text
	// History makes a stream that is created keep all messages, for changes.
	History bool
}

const (
	// rereads is how often the last message of a subject is read again, because another one was stored since or a
	// replica was behind, before the batch fails and is repeated.
	rereads = 3
	// tooLarge is the code of the server for a message that is larger than the stream admits.
	tooLarge = 10054
)

// Sink is the sink of a stream. It stores no positions.
type Sink struct {
	name, prefix string
	conn         *nats.Conn
	js           jetstream.JetStream
	stream       jetstream.Stream
}

var _ sink.Sink = (*Sink)(nil)

// Open connects to the stream of a URL, and creates it if it is missing.
func Open(ctx context.Context, to *url.URL, opts Options) (*Sink, error) {
	if err := check(to); err != nil {
		return nil, err
	}
	conn, err := natsurl.Connect(to, opts.Name, opts.Secret)
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	s := &Sink{name: opts.Name, prefix: prefix(to), conn: conn}
	if err := s.open(ctx, natsurl.Stream(to), opts.History); err != nil {
		conn.Close()
		return nil, fmt.Errorf("nats: %w", err)
	}
	return s, nil
}

// open finds the stream, or creates it.
func (s *Sink) open(ctx context.Context, name string, history bool) (err error) {
	ctx, cancel := context.WithTimeout(ctx, natsurl.Patience)
	defer cancel()
	if s.js, err = jetstream.New(s.conn); err != nil {
		return err
	}
	s.stream, err = s.js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		config := jetstream.StreamConfig{
			Name: name, Description: "What every entity id leads to", Subjects: []string{s.prefix + ".*"}, MaxMsgsPerSubject: 1,
			AllowDirect: true,
		}
		if history {
			config.Description, config.MaxMsgsPerSubject = "What happened to records and entities", 0
		}
		s.stream, err = s.js.CreateStream(ctx, config)
	}
	if err != nil {
		return fmt.Errorf("open stream %s: %w", name, err)
	}
	if one := s.stream.CachedInfo().Config.MaxMsgsPerSubject == 1; history && one {
		return fmt.Errorf("stream %s keeps one message of each subject, and changes need all: give the sink a stream of its own", name)
	}
	if kept := s.stream.CachedInfo().Config.Retention; kept != jetstream.LimitsPolicy {
		return fmt.Errorf("stream %s has the retention %s, which forgets what was last sent of an id: want limits",
			name, kept)
	}
	switch takes, err := s.js.StreamNameBySubject(ctx, s.prefix+".id"); {
	case err != nil && !errors.Is(err, jetstream.ErrStreamNotFound):
		return fmt.Errorf("find the stream of subject %s: %w", s.prefix, err)
	case takes != name:
		return fmt.Errorf("stream %s does not take the subjects %s.*: add them to it (nats stream edit %s --subjects=...)",
			name, s.prefix, name)
	}
	return nil
}

// Position implements sink.Sink: there are none.
func (s *Sink) Position(context.Context) (sink.Position, error) {
	return sink.Position{}, sink.ErrNoPosition
}

// Close implements sink.Sink.
func (s *Sink) Close() error {
	s.conn.Close()
	return nil
}

// Deliver implements sink.Sink: it publishes the events of a batch at once.
func (s *Sink) Deliver(ctx context.Context, b sink.Batch) error {
	if err := natsurl.Lost(s.conn); err != nil {
		return err
	}
	var mu sync.Mutex
	var rejected []sink.Rejected
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(batchSize)
	for i := range b.Events {
		e := &b.Events[i]
		g.Go(func() error {
			err := s.send(ctx, b.Token, e)
			if api, ok := errors.AsType[*jetstream.APIError](err); errors.Is(err, nats.ErrMaxPayload) || ok && api.ErrorCode == tooLarge {
				mu.Lock()
				defer mu.Unlock()
				rejected = append(rejected, sink.Rejected{ID: e.ID, Reason: err.Error()})
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return cmp.Or(natsurl.Lost(s.conn), err)
	}
	if rejected != nil {
		return &sink.RejectedError{Events: rejected}
	}
	return nil
}

// send publishes an event, unless its subject has a later one.
func (s *Sink) send(ctx context.Context, token int64, e *sink.Event) error {
	ctx, cancel := context.WithTimeout(ctx, natsurl.Patience)
	defer cancel()
	for tries := 0; ; tries++ {
		last, rev, err := s.last(ctx, e)
		switch {
		case err != nil:
			return err
		case sink.TokenOf(rev) > token:
			return fmt.Errorf("%w: subject %s has an event by %d, and this process has %d", sink.ErrFenced, s.subject(e),
				sink.TokenOf(rev), token)
		case rev >= e.Rev:
			return nil
		}
		if err = s.publish(ctx, e, last); !overtaken(err) || tries == rereads {
			return err
		}
	}
}

func (s *Sink) subject(e *sink.Event) string { return s.prefix + "." + e.ID.String() }

// last returns the sequence of the last message of the subject of an event, and its rev; zeros if there is none.
func (s *Sink) last(ctx context.Context, e *sink.Event) (sequence uint64, rev int64, err error) {
	m, err := s.stream.GetLastMsgForSubject(ctx, s.subject(e))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read the last message of subject %s: %w", s.subject(e), err)
	}
	var was sink.Event
	if err := json.Unmarshal(m.Data, &was); err != nil || was.ID != e.ID {
		return 0, 0, fmt.Errorf("%w: subject %s has a message of another program: give the sink a prefix of its own",
			sink.ErrStop, s.subject(e))
	}
	return m.Sequence, was.Rev, nil
}

// publish publishes an event if its subject still has the last message of this sequence, 0 for none.
func (s *Sink) publish(ctx context.Context, e *sink.Event, last uint64) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = s.js.PublishMsg(ctx, message(ctx, s.subject(e), body),
		jetstream.WithExpectStream(s.stream.CachedInfo().Config.Name),
		jetstream.WithExpectLastSequencePerSubject(last),
		jetstream.WithMsgID(s.name+"."+e.ID.String()+"."+strconv.FormatInt(e.Rev, 10)))
	if err != nil {
		return fmt.Errorf("publish to subject %s: %w", s.subject(e), err)
	}
	return nil
}

// message returns a message with the trace of a context's work, for its readers.
func message(ctx context.Context, subject string, body []byte) *nats.Msg {
	m := &nats.Msg{Subject: subject, Data: body}
	if parent, state := span.Of(ctx).Header(); parent != "" {
		m.Header = nats.Header{"traceparent": {parent}}
		if state != "" {
			m.Header["tracestate"] = []string{state}
		}
	}
	return m
}

// overtaken reports whether a message was refused because its subject has another last message than expected.
func overtaken(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}
