// SPDX-License-Identifier: Apache-2.0

package sink_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance/mirrortest"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/sinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// locked is a world for several goroutines.
type locked struct {
	mu    sync.Mutex
	world *mirrortest.World
}

func newLocked(records int) *locked {
	l := &locked{world: mirrortest.NewWorld(rand.New(rand.NewPCG(1, 2)), 2)}
	l.act(records)
	return l
}

// act lets things happen in the world, and completes them.
func (l *locked) act(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range n {
		l.world.Act()
	}
	l.world.Settle()
}

func (l *locked) Installation(ctx context.Context) (string, []cell.ID, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.world.Installation(ctx)
}

func (l *locked) Tail(ctx context.Context) (map[cell.ID]changelog.Seq, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.world.Tail(ctx)
}

func (l *locked) Changes(ctx context.Context, of cell.ID, after changelog.Seq, limit int) ([]changelog.Change, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.world.Changes(ctx, of, after, limit)
}

func (l *locked) ListStates(ctx context.Context, of cell.ID, after locality.ID, limit int) ([]mirror.State, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.world.ListStates(ctx, of, after, limit)
}

func (l *locked) States(ctx context.Context, ids []locality.ID, records []entity.PUID) ([]mirror.State, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.world.States(ctx, ids, records)
}

// wrong counts the IDs of which a target does not have the current state.
func (l *locked) wrong(target *sinktest.Memory) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &simulation{World: l.world, target: &watched{}}
	for _, id := range l.world.IDs() {
		if !s.has(id, target.Get(id)) {
			n++
		}
	}
	return n
}

// leases keeps one lease in memory.
type leases struct {
	mu  sync.Mutex
	row lease.Lease
}

func (l *leases) Lease(context.Context, string) (lease.Lease, error) { return l.row, nil }

func (l *leases) PutLease(_ context.Context, _ string, to lease.Lease) error {
	l.row = to
	return nil
}

func (l *leases) transaction(_ context.Context, fn func(lease.Store) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fn(l)
}

func (l *leases) holder(owner string) *lease.Holder {
	return lease.NewHolder(lease.Options{
		Name: sink.LeaseName("s"), Owner: owner, TTL: 5 * time.Second, Now: time.Now, Update: l.transaction,
		View: l.transaction,
	})
}

// failing is a target that can be made to fail.
type failing struct {
	*sinktest.Memory
	mu    sync.Mutex
	err   error
	only  locality.ID // fails only with this ID if it is not zero
	tries int
	hang  bool // until the context ends
}

func (f *failing) set(err error, only locality.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err, f.only, f.tries = err, only, 0
}

func (f *failing) Deliver(ctx context.Context, b sink.Batch) error {
	f.mu.Lock()
	err, hang := f.err, f.hang
	if !f.only.IsZero() && (len(b.Events) == 0 || b.Events[0].ID != f.only) {
		err = nil
	}
	if err != nil {
		f.tries++
	}
	f.mu.Unlock()
	if hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	return f.Memory.Deliver(ctx, b)
}

func options(l *locked, target sink.Sink, store sink.Store, holder *lease.Holder) sink.Options {
	return sink.Options{
		Name: "s", Source: l, Store: store, Lease: holder, Lanes: 4,
		Open: func(context.Context) (sink.Sink, error) { return target, nil },
	}
}

// start runs a runner until stop, which returns its error.
func start(t *testing.T, r *sink.Runner) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	return func() error {
		cancel()
		return <-done
	}
}

// pass lets time pass in a bubble.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // no time passes in a bubble
	synctest.Wait()
}

func TestRunner_FillsFollowsAndContinues(t *testing.T) {
	t.Parallel()
	for _, keeps := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l, target, store, row := newLocked(200), &sinktest.Memory{Keeps: keeps}, &sinktest.Store{}, &leases{}
			opts := options(l, target, store, row.holder("a"))
			if keeps {
				opts.Lanes, opts.Batch = 1, 100
			}
			r := sink.New(opts)
			stop := start(t, r)
			pass(time.Minute)
			if n := l.wrong(target); n > 0 {
				t.Errorf("%d ids are wrong after the fill", n)
			}
			l.act(100)
			pass(10 * time.Second)
			if n := l.wrong(target); n > 0 {
				t.Errorf("%d ids are wrong after they changed", n)
			}
			if s := r.Stats(); !s.Running || s.Lag != 0 || s.Failed != 0 || s.Delivered == 0 {
				t.Errorf("%+v", s)
			}
			before := r.Stats().Delivered
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			l.act(20)
			opts.Lease = row.holder("b")
			r = sink.New(opts)
			stop = start(t, r)
			pass(10 * time.Second)
			if n := l.wrong(target); n > 0 {
				t.Errorf("%d ids are wrong after the next owner", n)
			}
			if s := r.Stats(); s.Delivered >= before {
				t.Errorf("the next owner delivered %d events, the first one %d: it has filled again", s.Delivered, before)
			}
			if err := stop(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// An owner whose target hangs and whose lease cannot be renewed is replaced, and delivers nothing afterwards.
func TestRunner_IsReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, target, store, row := newLocked(100), &sinktest.Memory{}, &sinktest.Store{}, &leases{}
		stuck := &failing{Memory: target, hang: true}
		a := row.holder("a")
		stopA := start(t, sink.New(options(l, stuck, store, a)))
		pass(time.Second)
		row.mu.Lock() // the cell is away for a: another process takes over
		row.row.Owner = "gone"
		row.mu.Unlock()
		stopB := start(t, sink.New(options(l, target, store, row.holder("b"))))
		pass(2 * time.Minute)
		if n := l.wrong(target); n > 0 {
			t.Errorf("%d ids are wrong", n)
		}
		if l, _ := a.Held(); l.Owner == "a" && row.row.Owner == "a" {
			t.Error("the stuck owner is the owner")
		}
		if err := errors.Join(stopA(), stopB()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRunner_TriesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store, row := newLocked(100), &sinktest.Store{}, &leases{}
		target := &failing{Memory: &sinktest.Memory{}, err: errors.New("503")}
		r := sink.New(options(l, target, store, row.holder("a")))
		stop := start(t, r)
		hours := longtest.Sample(4, 24, longtest.Part(24), 24)
		pass(time.Duration(hours) * time.Hour)
		// Four lanes, with at least 2.5 minutes between two attempts of each.
		if tries := target.tries; tries < 4*hours*12 || tries > 4*hours*24+100 {
			t.Errorf("%d attempts in %d hours", tries, hours)
		}
		if s := r.Stats(); s.Lag < time.Duration(hours-1)*time.Hour || s.Delivered != 0 {
			t.Errorf("%+v", s)
		}
		if p, _ := store.Load(t.Context()); p.Trouble != "503" {
			t.Errorf("the stored trouble is %q", p.Trouble)
		}
		target.set(nil, locality.ID{})
		pass(10 * time.Minute)
		if n := l.wrong(target.Memory); n > 0 || r.Stats().Lag != 0 {
			t.Errorf("%d ids are wrong, %+v", n, r.Stats())
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	})
}

// The lag of a sink whose target cannot be opened is known, and so is why it cannot.
func TestRunner_TargetIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store, row := newLocked(100), &sinktest.Store{}, &leases{}
		target := &sinktest.Memory{Keeps: true}
		opts := options(l, target, store, row.holder("a"))
		opts.Lanes, opts.Batch = 1, 100
		var away atomic.Pointer[error]
		refused := errors.New("connection refused")
		opts.Open = func(context.Context) (sink.Sink, error) {
			if err := away.Load(); err != nil {
				return nil, *err
			}
			return target, nil
		}
		for _, filled := range []bool{false, true} {
			away.Store(&refused)
			r := sink.New(opts)
			stop := start(t, r)
			pass(time.Minute)
			if s := r.Stats(); filled != (s.Lag == 0) {
				t.Errorf("filled %t, nothing new: %+v", filled, s)
			}
			l.act(20)
			pass(time.Hour)
			if s := r.Stats(); s.Lag < 50*time.Minute || s.Running || s.Failed == 0 {
				t.Errorf("filled %t: %+v", filled, s)
			}
			if p, _ := store.Load(t.Context()); !strings.Contains(p.Trouble, refused.Error()) {
				t.Errorf("the stored trouble is %q", p.Trouble)
			}
			away.Store(nil)
			pass(10 * time.Minute)
			if n := l.wrong(target); n > 0 || r.Stats().Lag != 0 {
				t.Errorf("%d ids are wrong, %+v", n, r.Stats())
			}
			if err := stop(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// An event that the target cannot digest does not stop the others.
func TestRunner_OneBadEventBecomesADeadLetter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store, row := newLocked(200), &sinktest.Store{}, &leases{}
		bad := l.world.IDs()[3]
		target := &failing{Memory: &sinktest.Memory{}, err: errors.New("500"), only: bad}
		r := sink.New(options(l, target, store, row.holder("a")))
		stop := start(t, r)
		pass(2 * time.Hour)
		p, err := store.Load(t.Context())
		if err != nil || len(p.Dead) != 1 || p.Dead[0].ID != bad || r.Stats().Dead != 1 {
			t.Fatalf("%v, dead letters %+v", err, p.Dead)
		}
		if n := l.wrong(target.Memory); n != 1 {
			t.Errorf("%d ids are wrong", n)
		}
		target.set(nil, locality.ID{})
		store.Ask(sink.Request{ID: bad})
		pass(time.Minute)
		if p, err := store.Load(t.Context()); err != nil || len(p.Dead) > 0 || l.wrong(target.Memory) > 0 {
			t.Errorf("%v, after the retry %+v", err, p.Dead)
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRunner_Stops(t *testing.T) {
	t.Parallel()
	foreign := &sinktest.Memory{Keeps: true}
	if err := foreign.Deliver(t.Context(), sink.Batch{Position: &sink.Position{Installation: "another"}}); err != nil {
		t.Fatal(err)
	}
	for _, target := range []sink.Sink{foreign, &failing{Memory: &sinktest.Memory{}, err: fmt.Errorf("%w: 410 Gone", sink.ErrStop)}} {
		synctest.Test(t, func(t *testing.T) {
			opts := options(newLocked(50), target, &sinktest.Store{}, (&leases{}).holder("a"))
			opts.Lanes = 1
			if err := sink.New(opts).Run(t.Context()); !errors.Is(err, sink.ErrStop) {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// IDs that the target has and the installation has lost are deleted in the target once the next fill has ended.
func TestRunner_SweepsWhatWasLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, target, row := newLocked(50), &sinktest.Memory{Keeps: true}, &leases{}
		row.row.Token = 7
		lost := locality.ID{0: 9, 15: 9}
		if err := target.Deliver(t.Context(), sink.Batch{Token: 7, Events: []sink.Event{{ID: lost, Rev: sinktest.Rev(7, 7), Op: sink.Upsert}}}); err != nil {
			t.Fatal(err)
		}
		opts := options(l, target, &sinktest.Store{}, row.holder("a"))
		opts.Lanes = 1
		stop := start(t, sink.New(opts))
		pass(time.Minute)
		if e := target.Get(lost); e.Op != sink.Delete || l.wrong(target) > 0 {
			t.Errorf("%+v is left, and %d ids are wrong", e, l.wrong(target))
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	})
}
