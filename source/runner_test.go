// SPDX-License-Identifier: Apache-2.0

package source_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/source"
	"github.com/locus-db/locus/source/sourcetest"
)

// shared is an installation with a lease that several processes use.
type shared struct {
	mu sync.Mutex
	*sourcetest.Installation
	l     lease.Lease
	saved chan struct{} // receives at each save
}

func (s *shared) Lease(context.Context, string) (lease.Lease, error) { return s.l, nil }

func (s *shared) PutLease(_ context.Context, _ string, l lease.Lease) error {
	s.l, s.Token = l, l.Token
	return nil
}

func (s *shared) holder(owner string) *lease.Holder {
	transaction := func(_ context.Context, fn func(lease.Store) error) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		return fn(s)
	}
	return lease.NewHolder(lease.Options{Name: "source/s", Owner: owner, TTL: time.Second, Now: time.Now,
		Update: transaction, View: transaction})
}

func (s *shared) Save(ctx context.Context, token int64, p *source.Progress, add []source.Letter, remove []source.At) ([]source.Letter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	again, err := s.Installation.Save(ctx, token, p, add, remove)
	select {
	case s.saved <- struct{}{}:
	default:
	}
	return again, err
}

func (s *shared) Load(ctx context.Context) (source.Progress, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Installation.Load(ctx)
}

// Apply implements source.Target.
func (s *shared) Apply(ctx context.Context, ops []source.Op) ([]error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Installation.Apply(ctx, ops)
}

// until waits for a save after which something holds.
func (s *shared) until(t *testing.T, ok func() bool) {
	t.Helper()
	limit := time.After(20 * time.Second)
	for {
		s.mu.Lock()
		done := ok()
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-s.saved:
		case <-limit:
			t.Fatalf("it does not come so far: %+v", s.Progress)
		}
	}
}

func newShared() *shared {
	return &shared{Installation: sourcetest.NewInstallation(), saved: make(chan struct{}, 1)}
}

func options(s *shared, b *sourcetest.Broker, owner string) source.Options {
	return source.Options{
		Name: "s", Open: b.Open, Decode: decode, Target: s, Store: s, Lease: s.holder(owner), Poll: 5 * time.Millisecond,
	}
}

// run starts a runner, and returns a function that ends it and waits for its error.
func run(t *testing.T, o source.Options) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- source.New(o).Run(ctx) }()
	return sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
}

func TestRunner_OneOfTwoReads(t *testing.T) {
	t.Parallel()
	s, b := newShared(), sourcetest.NewBroker()
	for i := range 10 {
		b.Publish(0, begun, fmt.Sprint("k", i), "a")
	}
	first := run(t, options(s, b, "p1"))
	s.until(t, func() bool { return s.Progress.Messages == 10 })
	second := run(t, options(s, b, "p2"))
	if err := first(); err != nil {
		t.Fatal(err)
	}
	b.Publish(1, begun, "k10", "a")
	b.Publish(0, begun, "k11", "a")
	s.until(t, func() bool { return len(s.Records) == 12 })
	if err := second(); err != nil {
		t.Fatal(err)
	}
	if s.l.Owner != "" || s.Token != 2 || s.Progress.Messages != 12 {
		t.Errorf("lease %+v, progress %+v", s.l, s.Progress)
	}
}

// away is a stream whose broker does not answer while it is down. As clients do, it waits for messages all the same.
type away struct {
	source.Stream
	down *atomic.Bool
}

func (s away) Ends(ctx context.Context) (map[int32]int64, error) {
	if s.down.Load() {
		return nil, errors.New("connection refused")
	}
	return s.Stream.Ends(ctx)
}

// told is a log that passes on the message of each line.
type told struct {
	slog.Handler
	lines chan string
}

func (l told) Enabled(context.Context, slog.Level) bool { return true }

func (l told) Handle(_ context.Context, r slog.Record) error {
	l.lines <- r.Message
	return nil
}

// A broker that is away is reported, although no message is missing, and the source continues once it is back.
func TestRunner_SaysThatTheBrokerIsAway(t *testing.T) {
	t.Parallel()
	s, b := newShared(), sourcetest.NewBroker()
	b.Publish(0, begun, "k", "a")
	var down atomic.Bool
	lines := make(chan string, 100)
	o := options(s, b, "p1")
	o.Logger, o.Poll = slog.New(told{slog.DiscardHandler, lines}), 10*time.Millisecond
	open := o.Open
	o.Open = func(ctx context.Context, at source.Position) (source.Stream, error) {
		stream, err := open(ctx, at)
		return away{stream, &down}, err
	}
	ctx, stop := context.WithCancel(t.Context())
	r := source.New(o)
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	s.until(t, func() bool { return s.Progress.Messages == 1 })
	down.Store(true)
	says := func(want string) {
		for line := ""; line != want; {
			select {
			case line = <-lines:
			case <-time.After(20 * time.Second):
				t.Fatalf("nothing says that %s", want)
			}
		}
	}
	says("source stream read failed, retrying")
	down.Store(false)
	says("source stream recovered")
	b.Publish(0, begun, "k2", "b")
	s.until(t, func() bool { return s.Progress.Messages == 2 })
	if s := r.Stats(); !s.Running || s.Trouble != "" {
		t.Errorf("%+v", s)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRunner_StopsAtAGap(t *testing.T) {
	t.Parallel()
	s, b := newShared(), sourcetest.NewBroker()
	for range 5 {
		b.Publish(0, begun, "k", "a")
	}
	s.Progress.Position = source.Position{Next: map[int32]int64{0: 2}}
	b.Trim(0, 4)
	err := source.New(options(s, b, "p1")).Run(t.Context())
	if !errors.Is(err, source.ErrStop) || !errors.Is(err, source.ErrGap) {
		t.Errorf("messages are gone: %v", err)
	}
}

// again is a stream that is created again while it is read.
type again struct{ source.Stream }

func (again) Ends(context.Context) (map[int32]int64, error) { return nil, source.ErrGap }

func TestRunner_StopsIfTheStreamIsCreatedAgain(t *testing.T) {
	t.Parallel()
	s, b := newShared(), sourcetest.NewBroker()
	o := options(s, b, "p1")
	open := o.Open
	o.Open = func(ctx context.Context, at source.Position) (source.Stream, error) {
		stream, err := open(ctx, at)
		return again{stream}, err
	}
	if err := source.New(o).Run(t.Context()); !errors.Is(err, source.ErrStop) {
		t.Errorf("it reads another stream: %v", err)
	}
}

func TestRunner_StopsBeforeATruncation(t *testing.T) {
	t.Parallel()
	s, b := newShared(), sourcetest.NewBroker()
	for _, value := range []string{"a", "b", "t", "c"} {
		b.Publish(0, begun, "k"+value, value)
	}
	o := options(s, b, "p1")
	o.Decode = func(m source.Message) (source.Op, bool, error) {
		if string(m.Value) == "t" {
			return source.Op{}, false, fmt.Errorf("%w: truncated", source.ErrStop)
		}
		return decode(m)
	}
	err := source.New(o).Run(t.Context())
	if !errors.Is(err, source.ErrStop) || !strings.Contains(err.Error(), "0:2") {
		t.Errorf("a truncation: %v", err)
	}
	if s.Progress.Position.Next[0] != 2 || len(s.Records) != 2 {
		t.Errorf("it stopped at %v with %d records", s.Progress.Position, len(s.Records))
	}
}

func TestRunner_StopsAtTooManyDeadLetters(t *testing.T) {
	t.Parallel()
	s, b := newShared(), sourcetest.NewBroker()
	for range source.MaxDead + 10 {
		b.Publish(0, begun, "k", "bad")
	}
	o := options(s, b, "p1")
	o.Batch = 100
	if err := source.New(o).Run(t.Context()); !errors.Is(err, source.ErrStop) || !strings.Contains(err.Error(), "dead letters") {
		t.Errorf("too many dead letters: %v", err)
	}
	if len(s.Letters) != source.MaxDead || s.Progress.Position.Next[0] != source.MaxDead {
		t.Errorf("%d letters, %+v", len(s.Letters), s.Progress)
	}
}

func TestRunner_TriesDeadLettersAgain(t *testing.T) {
	t.Parallel()
	s, b := newShared(), sourcetest.NewBroker()
	refuse := errors.New("no")
	s.Refuse = func(source.Op) error { return refuse }
	for i := range 3 {
		b.Publish(0, begun, fmt.Sprint("k", i), "a")
	}
	stop := run(t, options(s, b, "p1"))
	s.until(t, func() bool { return len(s.Letters) == 3 })
	b.Trim(0, 1)
	s.mu.Lock()
	s.Refuse = nil
	for i := range s.Letters {
		s.Letters[i].Again = true
	}
	s.mu.Unlock()
	s.until(t, func() bool { return len(s.Records) == 2 && len(s.Letters) == 1 })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if l := s.Letters[0]; l.Offset != 0 || l.Again || !strings.Contains(l.Reason, "no longer has the message") {
		t.Errorf("the letter of a message that is gone: %+v", l)
	}
}

// If the newest message about a record is refused, the one before it counts.
func TestRunner_TheNewestThatIsAcceptedCounts(t *testing.T) {
	t.Parallel()
	s, b := newShared(), sourcetest.NewBroker()
	s.Refuse = func(op source.Op) error {
		if !op.Delete && op.Attributes["name"][0] == "c" {
			return errors.New("no c")
		}
		return nil
	}
	for i, value := range []string{"a", "b", "c"} {
		b.Publish(0, begun.Add(time.Duration(i)), "k", value)
	}
	stop := run(t, options(s, b, "p1"))
	s.until(t, func() bool { return s.Progress.Messages == 3 })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for _, op := range s.Records {
		if op.Attributes["name"][0] != "b" {
			t.Errorf("stored %v", op)
		}
	}
	if len(s.Records) != 1 || len(s.Letters) != 1 || s.Letters[0].Offset != 2 {
		t.Errorf("%v, letters %+v", s.Records, s.Letters)
	}
}
