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
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// faulty is a cell that does not answer while it is down.
type faulty struct {
	storage.Cell
	down  *atomic.Bool
	asked *atomic.Int64
}

var errDown = fmt.Errorf("%w: it does not answer", cell.ErrUnavailable)

func (c faulty) ask(ask func(context.Context, func(storage.Tx) error) error, ctx context.Context, fn func(storage.Tx) error) error {
	if c.asked.Add(1); c.down.Load() {
		return errDown
	}
	return ask(ctx, fn)
}

func (c faulty) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return c.ask(c.Cell.Update, ctx, fn)
}

func (c faulty) Exclusive(ctx context.Context, fn func(storage.Tx) error) error {
	return c.ask(c.Cell.Exclusive, ctx, fn)
}

func (c faulty) View(ctx context.Context, fn func(storage.Tx) error) error {
	return c.ask(c.Cell.View, ctx, fn)
}

func (c faulty) Read(ctx context.Context, fn func(storage.Tx) error) error {
	return c.ask(c.Cell.Read, ctx, fn)
}

// openFaulty opens an installation with one cell that can go down.
func openFaulty(t *testing.T, which int) (*installation, *atomic.Bool) {
	t.Helper()
	var down atomic.Bool
	cells := open(t, t.TempDir(), nil).cells
	broken := cells.Map().Cells()[which]
	return process(t, cells, "", func(id cell.ID, c storage.Cell) storage.Cell {
		if id == broken {
			c = faulty{c, &down, new(atomic.Int64)}
		}
		return c
	}), &down
}

// A cell that is down fails only its own records. All others are accepted, and resolved when it is back.
func TestP09_RecordsWaitForACellThatIsDown(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for which := range 3 {
		r := rand.New(rand.NewPCG(uint64(which), 5))
		in, down := openFaulty(t, which)
		ops := shuffled(r, world(uint64(which)+40, 60))
		early, late := ops[:len(ops)/2], ops[len(ops)/2:]
		in.apply(t, early)
		down.Store(true)
		var failed []resolve.Op
		pending := 0
		for _, group := range groups(r, late, 20) {
			for i, res := range in.Apply(t.Context(), group) {
				home := in.cells.Map().Home(in.cells.Map().KeyOf(group[i].Source, group[i].Key).Position())
				switch isDown := int(home.Index) == which; {
				case isDown && errors.Is(res.Err, cell.ErrUnavailable):
					failed = append(failed, group[i])
				case isDown:
					t.Fatalf("%v lives in the cell that is down: %+v", group[i].Ref, res)
				case res.Err != nil:
					t.Fatalf("%v lives in another cell: %v", group[i].Ref, res.Err)
				case res.Pending:
					pending++
				}
			}
		}
		if len(failed) == 0 || pending == 0 {
			t.Errorf("%d failed, %d wait: the test does not reach what it is for", len(failed), pending)
		}
		down.Store(false)
		in.apply(t, failed)
		in.check(t)
	}
}

// Several processes that write to the same cells give the result of one.
func TestP09_ManyProcessesMakeTheSameEntities(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	for seed := range seeds(1) {
		r := rand.New(rand.NewPCG(seed, 6))
		ops := shuffled(r, world(seed+50, 50))
		want := madeOf(t, ops)

		cells := open(t, t.TempDir(), nil).cells
		var all []*installation
		for p := range 3 {
			all = append(all, process(t, cells, fmt.Sprint("process ", p), nil))
		}
		var wg sync.WaitGroup
		work := make(chan []resolve.Op)
		for _, in := range all {
			wg.Go(func() {
				for group := range work {
					for i, res := range in.Apply(context.Background(), group) {
						if res.Err != nil { // it may be pending, because the machine may be slow
							t.Errorf("%v: %v", group[i].Ref, res.Err)
						}
					}
				}
				in.Leave(context.Background())
			})
		}
		for _, group := range groups(r, ops, 20) {
			work <- group
		}
		close(work)
		wg.Wait()
		if d := differ(all[0].check(t), want); d != "" {
			t.Fatalf("seed %d: three processes, other entities:\n%s", seed, d)
		}
	}
}

// A process that is paused in the middle of its work and later continues neither keeps others from
// finishing it nor damages their results.
func TestP09_AProcessThatStopsIsReplaced(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	replaced := 0
	stops := longtest.Sample(2, 4, 8, 8)
	for stop := range uint64(stops) {
		r := rand.New(rand.NewPCG(stop, 7))
		ops := shuffled(r, world(60, 30))
		want := madeOf(t, ops)

		cells := open(t, t.TempDir(), nil).cells
		gate := &pause{left: 1 << 30, on: make(chan struct{}), hit: make(chan struct{})}
		a := process(t, cells, "a", func(_ cell.ID, c storage.Cell) storage.Cell { return pausedCell{c, gate} })
		// The clock of the waiting process runs fast, so that leases that are not renewed expire at once.
		began := time.Now()
		b := processOver(t, wrapped{cells, nil}, cells, "b", func() time.Time { return began.Add(100 * time.Since(began)) })
		third := len(ops) / 3
		b.apply(t, ops[:third/2]) // so that it knows of no unfinished work
		b.Leave(t.Context())
		a.apply(t, ops[third/2:third])
		gate.arm(int(stop))
		done := make(chan struct{})
		go func() {
			defer close(done)
			a.Apply(context.Background(), ops[third:2*third])
		}()
		select {
		case <-gate.hit:
			replaced++
		case <-done:
		}
		b.apply(t, ops[2*third:])
		b.check(t)
		b.Leave(t.Context())
		close(gate.on)
		<-done
		a.Leave(context.Background())
		b.apply(t, ops) // writes that the paused process may not have completed
		if d := differ(b.check(t), want); d != "" {
			t.Fatalf("stopped before write %d:\n%s", stop, d)
		}
	}
	if 3*replaced < 2*stops {
		t.Errorf("stopped %d times only", replaced)
	}
}

// twins returns two records of one thing.
func twins() (one, other resolve.Op) {
	one = resolve.Op{Ref: entity.Ref{Source: "1", Key: "a"}, Attributes: entity.Attributes{
		"name": {"Joes Pizza"}, "address": {"1000 Market Street"}, "phones": {"415-555-2300"},
	}}
	other = resolve.Op{Ref: entity.Ref{Source: "2", Key: "b"}, Attributes: entity.Attributes{
		"name": {"Joe's"}, "address": {"1000 Market St."}, "phones": {"(415) 555-2300"},
	}}
	return one, other
}

func (in *installation) put(t testing.TB, op resolve.Op) resolve.Result {
	t.Helper()
	r := in.Apply(t.Context(), []resolve.Op{op})[0]
	if r.Err != nil || r.Pending {
		t.Fatalf("%v: %+v", op.Ref, r)
	}
	return r
}

// A process has a record cached from before another process joined it to an entity. When it deletes the
// record, the record's id still redirects to that entity.
func TestP09_AnIdLeadsToTheEntityThatAnotherProcessMade(t *testing.T) {
	t.Parallel()
	for _, swap := range []bool{false, true} {
		first, second := twins()
		if swap {
			first, second = second, first
		}
		cells := open(t, t.TempDir(), nil).cells
		a, b := process(t, cells, "a", nil), process(t, cells, "b", nil)
		gone := a.put(t, first).Entity
		a.Leave(t.Context())
		stays := b.put(t, second).PUID
		b.Leave(t.Context())
		a.put(t, resolve.Op{Ref: first.Ref, Delete: true})
		a.Leave(t.Context())
		entities := a.check(t)
		if to := a.leads(t, gone); entities[to] != second.Ref.String() {
			t.Errorf("id %v leads to %v: %q, want the entity of %v (puid %v)", gone, to, entities[to], second.Ref, stays)
		}
	}
}

// A process keeps the lease and has a record cached that another process changed and could not resolve.
// When it works that off, it uses the current content.
func TestP09_ARepairSeesWhatAnotherProcessPut(t *testing.T) {
	t.Parallel()
	first, second := twins()
	cells := open(t, t.TempDir(), nil).cells
	now := time.Now()
	a := processOver(t, wrapped{cells, nil}, cells, "a", func() time.Time { return now })
	a.put(t, first)
	a.put(t, second)
	fault := &crash{left: 1} // the record is durable, and nothing else
	b := process(t, cells, "b", func(_ cell.ID, c storage.Cell) storage.Cell { return crashCell{c, fault} })
	second.Attributes = entity.Attributes{"name": {"Harbor Garage"}, "phones": {"212-555-7000"}}
	if r := b.Apply(t.Context(), []resolve.Op{second})[0]; r.Err != nil || !r.Pending {
		t.Fatalf("%+v: it was to be killed between its rounds", r)
	}
	now = now.Add(time.Minute)
	a.Rest(t.Context())
	if n := len(a.check(t)); n != 2 {
		t.Errorf("%d entities, want 2", n)
	}
	a.Leave(t.Context())
}

// A record that needs an unavailable cell is blocked without contacting that cell again for each such record. Tried
// with a record with blocking keys there, and one that lost some.
func TestResolver_ACellThatIsDownIsNotAskedForEachRecord(t *testing.T) {
	t.Parallel()
	const n = 80
	for name, change := range map[string]bool{"new": false, "changed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var down atomic.Bool
			var asked atomic.Int64
			cells := open(t, t.TempDir(), nil).cells
			m := cells.Map()
			away := m.Cells()[2]
			in := process(t, cells, "", func(id cell.ID, c storage.Cell) storage.Cell {
				if id == away {
					return faulty{c, &down, &asked}
				}
				return c
			})
			var ops []resolve.Op
			for i := 0; len(ops) < n; i++ {
				op := sharing(i, fmt.Sprintf("415-555-%04d", i))
				if change {
					op.Attributes["name"] = []string{fmt.Sprintf("Place%c%c", 'a'+i%26, 'a'+i/26%26)}
				}
				if m.Home(m.KeyOf(op.Source, op.Key).Position()) != away {
					ops = append(ops, op)
				}
			}
			if change {
				in.apply(t, ops)
				for i := range ops {
					delete(ops[i].Attributes, "phones")
					ops[i].Observed = ops[i].Observed.Add(time.Second)
				}
			}
			down.Store(true)
			in.Apply(t.Context(), ops)
			if depth := in.depth(t); depth < n/4 {
				t.Fatalf("%d records wait: the test does not reach what it is for", depth)
			}
			asked.Store(0)
			if err := in.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := asked.Load(); n > 5 {
				t.Errorf("the cell that is down was asked %d times", n)
			}
			down.Store(false)
			in.check(t)
		})
	}
}

// pause stops a process before one of its writes until it is released.
type pause struct {
	mu   sync.Mutex
	left int
	on   chan struct{}
	hit  chan struct{}
}

func (p *pause) arm(left int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = left
}

// pass waits if this is the write to stop at.
func (p *pause) pass() {
	p.mu.Lock()
	p.left--
	stop := p.left == -1
	p.mu.Unlock()
	if stop {
		close(p.hit)
		<-p.on
	}
}

type pausedCell struct {
	storage.Cell
	*pause
}

func (c pausedCell) Update(ctx context.Context, fn func(storage.Tx) error) error {
	c.pass()
	return c.Cell.Update(ctx, fn)
}
