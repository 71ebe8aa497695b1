// SPDX-License-Identifier: Apache-2.0

package storage_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
	"github.com/locus-db/locus/storage/sqlite"
)

// stepped is a driver whose databases stop writing once the process is stopped.
type stepped struct {
	storage.Driver
	process *process
}

func (d stepped) Dial(ctx context.Context, url string, create bool) (cell.Opened[storage.Tx], error) {
	db, err := d.Driver.Dial(ctx, url, create)
	if err != nil {
		return nil, err
	}
	return &steppedCell{db, d.process}, nil
}

type steppedCell struct {
	cell.Opened[storage.Tx]
	process *process
}

func (c *steppedCell) Update(ctx context.Context, fn func(storage.Tx) error) error {
	c.process.step()
	return c.Opened.Update(ctx, fn)
}

func (c *steppedCell) Exclusive(ctx context.Context, fn func(storage.Tx) error) error {
	c.process.step()
	return c.Opened.Exclusive(ctx, fn)
}

// impatient is the patience of tests in which the previous mover was stopped for good.
const impatient = 30 * time.Millisecond

// process is one of several that use the files of one directory.
type process struct {
	cells *storage.Cells
	r     *resolve.Resolver

	mu      sync.Mutex
	left    int           // write transactions before it is stopped; negative means never
	stopped chan struct{} // closed when it is stopped
	goOn    chan struct{}
}

// step blocks before a write transaction if the process is stopped there.
func (p *process) step() {
	p.mu.Lock()
	if p.left--; p.left == -1 {
		close(p.stopped)
	}
	left, goOn := p.left, p.goOn
	p.mu.Unlock()
	if left < 0 && goOn != nil {
		<-goOn
	}
}

// stopAfter stops the process after that many write transactions.
func (p *process) stopAfter(transactions int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left, p.stopped, p.goOn = transactions, make(chan struct{}), make(chan struct{})
}

// stepOn runs the transaction before which the process is stopped, and stops the process before the next one.
func (p *process) stepOn() (stopped <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.goOn)
	p.left, p.stopped, p.goOn = 0, make(chan struct{}), make(chan struct{})
	return p.stopped
}

func (p *process) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.goOn != nil {
		close(p.goOn)
	}
	p.left, p.goOn = -2, nil
}

// begin opens or creates the installation in a directory, concurrently with other processes.
func begin(t *testing.T, dir string, patience time.Duration) *process {
	t.Helper()
	return beginAt(t, dir, patience, time.Now)
}

// beginAt is begin with a clock.
func beginAt(t *testing.T, dir string, patience time.Duration, now func() time.Time) *process {
	t.Helper()
	p := &process{left: -2}
	driver := &sqlite.Driver{Dir: dir}
	var err error
	p.cells, err = cell.OpenCells(t.Context(), cell.CellsOptions[storage.Tx]{
		Authority: "sqlite:cells/g0-0.db", MovePatience: patience, Now: now,
		New:    &cell.Spec{Generations: []cell.Generation{{Cells: 2, URLs: []string{"sqlite:cells/g{g}-{i}.db"}}}},
		Driver: func(string) (storage.Driver, error) { return stepped{driver, p}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	p.r = resolver(t, p.cells)
	return p
}

func (p *process) end(t *testing.T) {
	t.Helper()
	if err := p.cells.Close(); err != nil {
		t.Error(err)
	}
}

// acks are the puids of acknowledged records.
type acks map[int]entity.PUID

// put puts records until the process takes no more, and records which were acknowledged.
func (a acks) put(ctx context.Context, p *process, from, to int) error {
	var ops []resolve.Op
	for n := from; n < to; n++ {
		ops = append(ops, place(n))
	}
	var failed error
	for i, res := range p.r.Apply(ctx, ops) {
		if res.Err == nil {
			a[from+i] = res.PUID
		} else {
			failed = res.Err
		}
	}
	return failed
}

// check verifies, like a process that has just started, that every acknowledged record exists once.
func (a acks) check(t *testing.T, dir string) {
	t.Helper()
	p := begin(t, dir, impatient)
	defer p.end(t)
	if err := errors.Join(p.r.Drain(t.Context())); err != nil {
		t.Fatal(err)
	}
	got := inspect(t, p.cells)
	if got.Records < len(a) {
		t.Errorf("%d records of %d that were acknowledged", got.Records, len(a))
	}
	given := map[entity.PUID]int{}
	for n, puid := range a {
		res := p.r.Apply(t.Context(), []resolve.Op{place(n)})[0]
		other, twice := given[puid]
		if res.Err != nil || res.Outcome != resolve.Unchanged || res.PUID != puid || twice {
			t.Fatalf("record %d has puid %v and was %s, was acknowledged with %v (record %d has it: %v): %v", n, res.PUID, res.Outcome, puid, other, twice, res.Err)
		}
		given[puid] = n
	}
}

// template creates a directory with an installation and records; tests use copies of it.
func template(t *testing.T, records int) (string, acks) {
	t.Helper()
	dir, a := t.TempDir(), acks{}
	p := begin(t, dir, impatient)
	if err := a.put(t.Context(), p, 0, records); err != nil {
		t.Fatal(err)
	}
	p.end(t)
	return dir, a
}

// A process that moves a cell is stopped before each of its transactions in turn, or for good. Another one takes over
// the move, to the same database or to another one, and writes before and after; then the first one continues.
// Everything that either process acknowledged exists once, and the counts are right.
func TestP09_TwoMovesInterleaved(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	const there = "sqlite:moved/there.db"
	for i, second := range []struct {
		name, to string
		id       cell.ID
	}{
		{"to the same database", there, cell.ID{Index: 1}},
		{"to another database", "sqlite:moved/other.db", cell.ID{Index: 1}},
		{"back to where it is", "sqlite:cells/./g0-1.db", cell.ID{Index: 1}},
		{"the authority, to the same database", there, cell.ID{}},
	} {
		t.Run(second.name, func(t *testing.T) {
			t.Parallel()
			base, was := template(t, 12)
			stride := longtest.Stride(8)
			steps := 2 * i % stride // over all cases the sample contains a step of every kind
			for stops := true; stops; steps += stride {
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
					t.Fatal(err)
				}
				t.Run(fmt.Sprintf("stopped after %d", steps), func(t *testing.T) {
					stops = interleave(t, dir, was, steps, second.id, there, second.to)
				})
			}
			if steps < 10 {
				t.Errorf("a move has %d steps only: it is not stopped where it should be", steps)
			}
		})
	}
}

// interleave reports whether the first process was stopped at all.
func interleave(t *testing.T, dir string, was acks, steps int, id cell.ID, to, second string) (stops bool) {
	a := acks{}
	for n, puid := range was {
		a[n] = puid
	}
	one, two := begin(t, dir, impatient), begin(t, dir, impatient)
	if err := two.cells.OpenAll(t.Context()); err != nil { // this process has the old location of the cell
		t.Fatal(err)
	}
	one.stopAfter(steps)
	moved := make(chan error, 1)
	go func() {
		_, err := one.r.Move(t.Context(), one.cells, id, cell.Destination{URL: to}, nil)
		moved <- err
	}()
	var first error
	select {
	case <-one.stopped:
		stops = true
	case first = <-moved:
	}
	brief, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	_ = a.put(brief, two, 20, 24) // writers may have to wait until the move continues
	cancel()
	_, err := two.r.Move(t.Context(), two.cells, id, cell.Destination{URL: second}, nil)
	if err != nil && !errors.Is(err, cell.ErrConflict) && !errors.Is(err, cell.ErrOccupied) {
		t.Errorf("the second move: %v", err)
	}
	if err := a.put(t.Context(), two, 30, 34); err != nil {
		t.Errorf("put after the second move: %v", err)
	}
	one.resume()
	if stops {
		first = <-moved
	}
	if first != nil && !errors.Is(first, cell.ErrConflict) {
		t.Errorf("the first move: %v", first)
	}
	if first != nil && err != nil {
		t.Errorf("neither move was done: %v; %v", first, err)
	}
	for i, p := range []*process{one, two} {
		if err := errors.Join(a.put(t.Context(), p, 40+10*i, 44+10*i)); err != nil {
			t.Errorf("put by process %d after both: %v", i, err)
		}
	}
	one.end(t)
	two.end(t)
	a.check(t, dir)
	return stops
}

// A process that moves a cell is stopped before each of its transactions in turn, and runs that transaction after
// another process has filled the same target with newer rows, just before the cell serves there: nothing is
// overwritten. The first process cannot notice that it was replaced, because no heartbeat is due and the clock of the
// other process is ahead.
func TestP09_AMoverThatWasReplacedWritesNothing(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	id, to := cell.ID{Index: 1}, cell.Destination{URL: "sqlite:moved/there.db"}
	base, was := t.TempDir(), 12
	p := begin(t, base, impatient)
	var ops []resolve.Op
	for n := range was {
		op := place(n)
		op.Observed = op.Observed.Add(-time.Hour)
		op.Attributes["name"] = []string{"Pizza before"}
		ops = append(ops, op)
	}
	for _, res := range p.r.Apply(t.Context(), ops) {
		if res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	p.end(t)
	steps := 0
	for stops := true; stops; steps += longtest.Stride(4) {
		dir, a := t.TempDir(), acks{}
		if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		one := begin(t, dir, 6*time.Second)
		two := beginAt(t, dir, 6*time.Second, func() time.Time { return began.Add(100_000 * time.Since(began)) })
		one.stopAfter(steps)
		moved := make(chan error, 1)
		go func() {
			_, err := one.r.Move(t.Context(), one.cells, id, to, nil)
			moved <- err
		}()
		var first error
		select {
		case <-one.stopped:
		case first = <-moved:
			stops = false
		}
		switching, resumed, ended := false, !stops, !stops
		_, err := two.r.Move(t.Context(), two.cells, id, to, func(at cell.MoveProgress) {
			switch {
			case at.Step == "switch" && !switching:
				switching = true
				if err := a.put(t.Context(), two, 0, was); err != nil {
					t.Errorf("stopped after %d: put: %v", steps, err)
				}
			case at.Step == "follow" && switching && !resumed:
				resumed = true
				select {
				case <-one.stepOn():
				case first = <-moved:
					ended = true
				}
			}
		})
		one.resume()
		if !ended {
			first = <-moved
		}
		if first != nil && err != nil {
			t.Errorf("stopped after %d: neither move was done: %v; %v", steps, first, err)
		}
		if err := a.put(t.Context(), two, 20, 24); err != nil {
			t.Errorf("stopped after %d: put after both: %v", steps, err)
		}
		one.end(t)
		two.end(t)
		a.check(t, dir)
		if t.Failed() {
			t.Fatalf("the first process was stopped after %d transactions", steps)
		}
	}
	if steps < 10 {
		t.Errorf("a move has %d steps only: it is not stopped where it should be", steps)
	}
}

// While a process moves a cell, a second move of it is refused, by the process itself and by others, and changes
// nothing.
func TestP09_ASecondMoveIsRefused(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	dir, a := template(t, 20)
	one, two := begin(t, dir, 6*time.Second), begin(t, dir, 6*time.Second)
	id := cell.ID{Index: 1}
	copying, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	moved := make(chan error, 1)
	go func() {
		_, err := one.r.Move(t.Context(), one.cells, id, cell.Destination{URL: "sqlite:moved/one.db"}, func(cell.MoveProgress) {
			once.Do(func() { close(copying); <-goOn })
		})
		moved <- err
	}()
	<-copying
	for name, p := range map[string]*process{"the same process": one, "another process": two} {
		for _, url := range []string{"sqlite:moved/one.db", "sqlite:moved/two.db", "sqlite:cells/g0-1.db"} {
			_, err := p.r.Move(t.Context(), p.cells, id, cell.Destination{URL: url}, nil)
			if !errors.Is(err, cell.ErrConflict) || !strings.Contains(err.Error(), "moved/one.db") {
				t.Errorf("a second move by %s to %s: %v, want ErrConflict and where it is being moved to", name, url, err)
			}
		}
	}
	if err := a.put(t.Context(), two, 20, 30); err != nil {
		t.Error(err)
	}
	close(goOn)
	if err := <-moved; err != nil {
		t.Error(err)
	}
	if err := a.put(t.Context(), two, 30, 40); err != nil {
		t.Error(err)
	}
	one.end(t)
	two.end(t)
	a.check(t, dir)
}
