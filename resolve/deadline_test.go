// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// held is a cell whose updates wait while its gate is held.
type held struct {
	storage.Cell
	gate *gate
}

// gate holds updates and signals when the first one waits.
type gate struct {
	mu      sync.Mutex
	open    chan struct{} // nil while nothing is held
	waiting chan struct{}
}

func (g *gate) hold() (waiting <-chan struct{}, open func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open, g.waiting = make(chan struct{}), make(chan struct{}, 100)
	return g.waiting, sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		close(g.open)
		g.open = nil
	})
}

func (h held) Update(ctx context.Context, fn func(storage.Tx) error) error {
	h.gate.mu.Lock()
	open, waiting := h.gate.open, h.gate.waiting
	h.gate.mu.Unlock()
	if open != nil {
		waiting <- struct{}{}
		<-open
	}
	return h.Cell.Update(ctx, fn)
}

// soon receives a value, allowing for a slow machine.
func soon[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(time.Minute):
		t.Fatal("it waits for the cell that is held")
	}
	return v
}

// queueOver returns a queue over three cells, one of which can be held, with ops for that cell and for the
// others.
func queueOver(t *testing.T) (q *resolve.Queue, in *installation, g *gate, there, elsewhere []resolve.Op) {
	t.Helper()
	g = &gate{}
	stuck := cell.ID{Index: 1}
	in = open(t, t.TempDir(), func(id cell.ID, c storage.Cell) storage.Cell {
		if id == stuck {
			return held{c, g}
		}
		return c
	})
	m := in.cells.Map()
	ops := world(1, 20)
	for _, op := range ops[:20] {
		if m.Home(m.KeyOf(op.Source, op.Key).Position()) == stuck {
			there = append(there, op)
		} else {
			elsewhere = append(elsewhere, op)
		}
	}
	q = resolve.NewQueue(in.Resolver, 10)
	_, err := q.Do(t.Context(), ops[20:]) // every cell gets the rules
	if err != nil {
		t.Fatal(err)
	}
	return q, in, g, there, elsewhere
}

// due is a context whose deadline passes when the test closes the channel, so that a slow machine reaches the cell
// before it.
type due struct {
	context.Context
	passed chan struct{}
}

func (d due) Done() <-chan struct{} { return d.passed }

func (d due) Err() error {
	select {
	case <-d.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// TestP12_DeadlineOfAWrite holds one cell during a batch. At its deadline the caller learns which records are durable:
// those of other cells. A caller that was queued behind it gets an error, and its records are not written. Work that
// has begun is finished afterwards.
func TestP12_DeadlineOfAWrite(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	q, in, g, there, elsewhere := queueOver(t)
	waiting, letGo := g.hold()
	end := sync.OnceFunc(q.Close)
	defer end()
	defer letGo()
	type answer struct {
		results []resolve.Result
		err     error
	}
	ctx := due{t.Context(), make(chan struct{})}
	first := make(chan answer, 1)
	ops := []resolve.Op{there[0], elsewhere[0], elsewhere[1]}
	go func() {
		results, err := q.Do(ctx, ops)
		first <- answer{results, err}
	}()
	soon(t, waiting)
	behind, leave := context.WithCancel(t.Context())
	defer leave()
	second := make(chan answer, 1)
	go func() {
		results, err := q.Do(behind, []resolve.Op{elsewhere[2]})
		second <- answer{results, err}
	}()
	for end := time.Now().Add(8 * time.Minute); q.Waiting() == 0; {
		if time.Now().After(end) {
			t.Fatal("it does not wait")
		}
	}
	leave()
	if got := soon(t, second); !errors.Is(got.err, context.Canceled) || got.results != nil {
		t.Errorf("one that waited: %v, %v, want its context's error", got.results, got.err)
	}
	others := make(chan error, 2)
	go func() { others <- in.Reload(behind) }()
	go func() {
		others <- in.Decide(behind, []entity.Decision{{A: 1, B: 2, Verdict: entity.VerdictSame}})[0].Err
	}()
	for range 2 {
		if err := soon(t, others); !errors.Is(err, context.Canceled) {
			t.Errorf("Reload or Decide: %v, want the context's error", err)
		}
	}
	for end := time.Now().Add(8 * time.Minute); ; {
		stored := in.puids(t)
		if stored[elsewhere[0].Ref] != 0 && stored[elsewhere[1].Ref] != 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the records of other cells are not stored, only %v", stored)
		}
	}
	<-time.After(time.Second) // the batch hears of the commits that the test has seen
	close(ctx.passed)
	got := soon(t, first)
	if got.err != nil || len(got.results) != 3 {
		t.Fatalf("%v, %v, want three results", got.results, got.err)
	}
	if r := got.results[0]; !errors.Is(r.Err, cell.ErrCommitUnknown) {
		t.Errorf("the record of the cell that is held: %+v, want an unknown outcome", r)
	}
	for _, r := range got.results[1:] {
		if r.Err != nil || !r.Pending || r.PUID == 0 {
			t.Errorf("the record of another cell: %+v, want it durable and pending", r)
		}
	}
	letGo()
	results, err := q.Do(t.Context(), ops)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil || r.Pending || r.Outcome != resolve.Unchanged {
			t.Errorf("put again: %+v, want it unchanged", r)
		}
	}
	end() // finishes the remaining work
	_, live := in.state(t)
	if slices.ContainsFunc(live, func(rec *entity.Record) bool { return rec.Ref == elsewhere[2].Ref }) {
		t.Error("the record of the one that waited is there")
	}
}

// TestP12_DeadlineOfADecision holds the cell that a decision is written to.
func TestP12_DeadlineOfADecision(t *testing.T) {
	t.Parallel()
	q, in, g, there, elsewhere := queueOver(t)
	defer q.Close()
	results, err := q.Do(t.Context(), []resolve.Op{there[0], elsewhere[0]})
	if err != nil || results[0].Err != nil || results[1].Err != nil {
		t.Fatalf("%+v, %v", results, err)
	}
	if err := in.Drain(t.Context()); err != nil { // otherwise the idle queue itself may be waiting for the cell
		t.Fatal(err)
	}
	waiting, letGo := g.hold()
	defer letGo()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	decided := make(chan []resolve.Decided, 1)
	go func() {
		decided <- in.Decide(ctx, []entity.Decision{{A: results[0].PUID, Verdict: entity.VerdictAnchor}})
	}()
	soon(t, waiting)
	cancel()
	if d := soon(t, decided)[0]; !errors.Is(d.Err, cell.ErrCommitUnknown) {
		t.Errorf("a decision that is being made: %v, want an unknown outcome", d.Err)
	}
	letGo()
	if d := in.Decide(t.Context(), []entity.Decision{{A: results[0].PUID, Verdict: entity.VerdictAnchor}})[0]; d.Err != nil {
		t.Errorf("made again: %v", d.Err)
	}
}
