// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// network connects the queues of processes, by name, and fails now and then.
type network struct {
	queues sync.Map // by name
	lossy  bool

	mu   sync.Mutex
	rand *rand.Rand

	forwarded, cut atomic.Int64
}

func (n *network) fails() (before, after bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lossy && n.rand.IntN(8) == 0, n.lossy && n.rand.IntN(8) == 0
}

// end is the end of one process.
type end struct {
	*network
	name string
}

func (e end) Address() string { return e.name }

func (e end) Forward(ctx context.Context, address string, ops []resolve.Op) ([]resolve.Result, error) {
	before, after := e.fails()
	q, there := e.queues.Load(address)
	if !there || before {
		return nil, resolve.ErrNotHolder
	}
	results, err := q.(*resolve.Queue).Take(ctx, ops)
	if err != nil {
		return nil, err
	}
	if first := e.forwarded.Add(1) == 1; after || first && e.lossy {
		e.cut.Add(1)
		return nil, cell.ErrCommitUnknown
	}
	return results, nil
}

// join returns a process with a queue, connected to the network.
func (n *network) join(t *testing.T, cells *storage.Cells, name string) (*installation, *resolve.Queue) {
	t.Helper()
	r, err := resolve.New(resolve.Options{
		Cells: cells, Owner: name, Peers: end{n, name}, Rules: resolve.NewRules(1, matcher), Mint: birth, Now: time.Now, Cache: 200,
	})
	if err != nil {
		t.Fatal(err)
	}
	q := resolve.NewQueue(r, 16)
	n.queues.Store(name, q)
	return &installation{r, cells, matcher}, q
}

// Writes that processes send each other, over connections that fail and are cut, give the entities of one process.
func TestP09_ForwardedWritesMakeTheSameEntities(t *testing.T) {
	t.Parallel()
	forwarded, cut := int64(0), int64(0)
	for seed := range seeds(2) {
		r := rand.New(rand.NewPCG(seed, 16))
		ops := shuffled(r, world(seed+500, 40))
		want := madeOf(t, ops)
		cells := open(t, t.TempDir(), nil).cells
		n := &network{lossy: true, rand: rand.New(rand.NewPCG(seed, 17))}
		var wg sync.WaitGroup
		parts := groups(r, ops, 10) // each process writes its own ops
		var all []*installation
		var queues []*resolve.Queue
		for p := range 3 {
			in, q := n.join(t, cells, fmt.Sprint("process ", p))
			all, queues = append(all, in), append(queues, q)
			wg.Go(func() {
				for i := p; i < len(parts); i += 3 {
					for left := parts[i]; len(left) > 0; {
						results, err := q.Do(context.Background(), left)
						if err != nil {
							t.Error(err)
							return
						}
						var again []resolve.Op
						for i, res := range results {
							if errors.Is(res.Err, cell.ErrCommitUnknown) {
								again = append(again, left[i])
							} else if res.Err != nil && !errors.Is(res.Err, entity.ErrNotFound) {
								t.Errorf("%v: %v", left[i].Ref, res.Err)
							}
						}
						left = again
					}
				}
			})
		}
		wg.Wait()
		for _, q := range queues {
			q.Close()
		}
		if d := differ(all[0].check(t), want); d != "" {
			t.Fatalf("seed %d: three processes, other entities:\n%s", seed, d)
		}
		forwarded, cut = forwarded+n.forwarded.Load(), cut+n.cut.Load()
	}
	if forwarded == 0 || cut == 0 {
		t.Errorf("%d calls forwarded, %d cut: the test does not reach what it is for", forwarded, cut)
	}
}

// A process that holds the lease and is stopped is replaced, and the calls that wait for it end then.
func TestP09_ASilentHolderIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	fast := func() time.Time { return begun.Add(4 * time.Since(begun)) }
	n := &network{}
	cells := open(t, t.TempDir(), nil).cells
	silent, err := resolve.New(resolve.Options{ // without a queue it renews the lease only while it works
		Cells: cells, Owner: "silent", Peers: end{n, "silent"}, Rules: resolve.NewRules(1, matcher), Mint: birth, Now: fast,
	})
	if err != nil {
		t.Fatal(err)
	}
	ops := shuffled(rand.New(rand.NewPCG(1, 1)), world(2, 4))
	if r := silent.Apply(t.Context(), ops[:1]); r[0].Err != nil {
		t.Fatal(r[0].Err)
	}
	waiting := make(chan struct{})
	r, err := resolve.New(resolve.Options{
		Cells: cells, Owner: "other", Peers: mute{waiting}, Rules: resolve.NewRules(1, matcher), Mint: birth, Now: fast,
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Rest(t.Context()) // it learns who holds the lease
	q := resolve.NewQueue(r, 16)
	defer q.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	results, err := q.Do(ctx, ops[1:2])
	if err != nil || results[0].Err != nil || ctx.Err() != nil {
		t.Fatalf("a call to a silent process: %v, %+v, %v", err, results, ctx.Err())
	}
	select {
	case <-waiting:
	default:
		t.Fatal("no call was forwarded to the silent process")
	}
}

// A process that was paused accepts no ops from others until it has renewed its lease: its callers have continued
// without it and may have put newer content.
func TestP09_AProcessThatWasStoppedTakesNothing(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	n := &network{}
	cells := open(t, t.TempDir(), nil).cells
	r, err := resolve.New(resolve.Options{
		Cells: cells, Owner: "stopped", Peers: end{n, "stopped"}, Rules: resolve.NewRules(1, matcher), Mint: birth,
		Now: func() time.Time { return time.Unix(clock.Load(), 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ops := shuffled(rand.New(rand.NewPCG(1, 1)), world(3, 4))
	if res := r.Apply(t.Context(), ops[:1]); res[0].Err != nil {
		t.Fatal(res[0].Err)
	}
	clock.Add(60)
	q := resolve.NewQueue(r, 16)
	defer q.Close()
	if res, err := q.Take(t.Context(), ops[1:2]); !errors.Is(err, resolve.ErrNotHolder) {
		t.Errorf("a minute later: %v, %+v", err, res)
	}
}

// mute calls processes that do not answer.
type mute struct{ called chan struct{} }

func (m mute) Address() string { return "" }

func (m mute) Forward(ctx context.Context, _ string, _ []resolve.Op) ([]resolve.Result, error) {
	select {
	case <-m.called:
	default:
		close(m.called)
	}
	<-ctx.Done()
	return nil, cell.ErrCommitUnknown
}

// A process accepts writes from others only while it holds the lease, so a call cannot be forwarded in circles.
func TestQueue_TakesNothingWithoutTheLease(t *testing.T) {
	t.Parallel()
	n := &network{}
	cells := open(t, t.TempDir(), nil).cells
	_, holder := n.join(t, cells, "holder")
	_, other := n.join(t, cells, "other")
	defer holder.Close()
	defer other.Close()
	ops := shuffled(rand.New(rand.NewPCG(1, 1)), world(1, 4))
	if _, err := holder.Do(t.Context(), ops[:1]); err != nil {
		t.Fatal(err)
	}
	// On a slow machine the other process may have acquired the lease in the meantime, but never both have it.
	_, first := other.Take(t.Context(), ops[1:2])
	_, second := holder.Take(t.Context(), ops[1:2])
	if !errors.Is(first, resolve.ErrNotHolder) && !errors.Is(second, resolve.ErrNotHolder) {
		t.Errorf("both processes take calls: %v, %v", first, second)
	}
}
