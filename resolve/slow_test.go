// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// slowCell is a cell whose transactions take a fixed time.
type slowCell struct {
	storage.Cell
	reads, writes time.Duration
}

func (c slowCell) Update(ctx context.Context, fn func(storage.Tx) error) error {
	time.Sleep(c.writes)
	return c.Cell.Update(ctx, fn)
}

func (c slowCell) Exclusive(ctx context.Context, fn func(storage.Tx) error) error {
	time.Sleep(c.writes)
	return c.Cell.Exclusive(ctx, fn)
}

func (c slowCell) View(ctx context.Context, fn func(storage.Tx) error) error {
	time.Sleep(c.reads)
	return c.Cell.View(ctx, fn)
}

func (c slowCell) Read(ctx context.Context, fn func(storage.Tx) error) error {
	time.Sleep(c.reads)
	return c.Cell.Read(ctx, fn)
}

// Three processes finish even if a statement takes longer than the lease lasts: a working holder is not replaced for
// ever, and its work is not repeated for ever.
func TestP09_SlowProcessesFinish(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	ops := shuffled(rand.New(rand.NewPCG(1, 11)), world(80, 30))
	want := warmed(t, ops).check(t)
	for name, slow := range map[string]slowCell{
		"reads and writes of 2 s":  {reads: 2 * time.Second, writes: 2 * time.Second},
		"reads and writes of 7 s":  {reads: 7 * time.Second, writes: 7 * time.Second},
		"reads and writes of 20 s": {reads: 20 * time.Second, writes: 20 * time.Second},
		"writes of 7 s":            {reads: 10 * time.Millisecond, writes: 7 * time.Second},
		"writes of 20 s":           {reads: 10 * time.Millisecond, writes: 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(slow.writes), 11))
				cells := open(t, t.TempDir(), nil).cells
				work := make(chan []resolve.Op)
				done := make(chan struct{})
				begun := time.Now()
				var wg sync.WaitGroup
				var all []*installation
				for p := range 3 {
					in := process(t, cells, fmt.Sprint("process ", p), func(_ cell.ID, c storage.Cell) storage.Cell { return slowCell{c, slow.reads, slow.writes} })
					all = append(all, in)
					wg.Go(func() {
						for {
							timer := time.NewTimer(in.Rest(context.Background()))
							select {
							case group := <-work:
								for i, res := range in.Apply(context.Background(), group) {
									if res.Err != nil {
										t.Errorf("%v: %v", group[i].Ref, res.Err)
									}
								}
							case <-timer.C:
							case <-done:
								in.Leave(context.Background())
								return
							}
						}
					})
				}
				for _, group := range groups(r, ops, 20) {
					work <- group
				}
				written := time.Since(begun)
				for all[0].depth(t) > 0 && time.Since(begun) < 3*time.Hour {
					time.Sleep(time.Second)
				}
				close(done)
				wg.Wait()
				took := time.Since(begun)
				t.Logf("written after %v, worked off after %v", written, took)
				if left := all[0].depth(t); left > 0 {
					t.Fatalf("%d of %d records wait after %v", left, len(ops), took)
				}
				if d := differ(process(t, cells, "judge", nil).check(t), want); d != "" {
					t.Fatalf("other entities:\n%s", d)
				}
			})
		})
	}
}

// Records that a crashed process put without requesting their resolution are worked off even by a process
// that is never idle.
func TestP09_ABusyProcessFindsWhatACrashLeft(t *testing.T) {
	t.Parallel()
	ops := world(12, 30)
	third := len(ops) / 3
	cells := open(t, t.TempDir(), nil).cells
	var ahead atomic.Int64
	b := processOver(t, cells, cells, "b", func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
	b.apply(t, ops[:third])
	fault := &crash{left: len(cells.Map().Cells())}
	a := process(t, cells, "a", func(_ cell.ID, c storage.Cell) storage.Cell { return crashCell{c, fault} })
	left := map[entity.PUID]bool{}
	for _, res := range a.Apply(t.Context(), ops[third:2*third]) {
		if res.Pending {
			left[res.PUID] = true
		}
	}
	waits := func() (n int) {
		b.each(t, func(tx storage.Tx, lo entity.PUID) error {
			entries, err := tx.Redo(t.Context(), lo, 1<<20)
			for _, e := range entries {
				if left[e.PUID] {
					n++
				}
			}
			return err
		})
		return n
	}
	if waits() == 0 {
		t.Fatal("nothing was left: the test does not reach what it is for")
	}
	for _, op := range ops[2*third:] {
		b.apply(t, []resolve.Op{op})
		ahead.Add(int64(2 * time.Second))
	}
	if n := waits(); n > 0 {
		t.Fatalf("%d of %d records still wait", n, len(left))
	}
	b.check(t)
}

// Records put by a process without the lease are worked off by the holder, which keeps it. The call waits
// for that and returns the results.
func TestP09_TheLeaseStaysWhereItIs(t *testing.T) {
	t.Parallel()
	ops := world(13, 60)
	half := len(ops) / 2
	cells := open(t, t.TempDir(), nil).cells
	a, b := process(t, cells, "a", nil), process(t, cells, "b", nil)
	b.apply(t, ops[:half])
	held := b.lease(t)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			b.Apply(context.Background(), ops[:1]) // never idle
		}
	})
	for _, group := range slices.Collect(slices.Chunk(ops[half:], 10)) {
		for i, res := range a.Apply(t.Context(), group) {
			if res.Err != nil || res.Pending || res.Entity == (locality.ID{}) {
				t.Errorf("%v: %+v", group[i].Ref, res)
			}
		}
	}
	cancel()
	wg.Wait()
	if now := b.lease(t); now.Owner != "b" || now.Token != held.Token || now.Asked == 0 || now.Done != now.Asked || now.Asks != "" {
		t.Errorf("the lease was %+v and is %+v", held, now)
	}
	b.check(t)
}

func (in *installation) lease(t testing.TB) (l lease.Lease) {
	t.Helper()
	c, err := in.cells.Cell(in.cells.Map().Authority())
	if err == nil {
		err = c.View(t.Context(), func(tx storage.Tx) error {
			l, err = tx.Lease(t.Context(), "resolve")
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}
