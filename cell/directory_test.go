// SPDX-License-Identifier: Apache-2.0

package cell_test

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

	"github.com/anishathalye/porcupine"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/celltest"
)

type directory = cell.Directory[cell.Store]

func keysOf(c *process, from, to int) (keys []cell.Key) {
	for n := from; n < to; n++ {
		keys = append(keys, c.Map().KeyOf("test", fmt.Sprint(n)))
	}
	return keys
}

func current(gen int) func(*cell.Spec) {
	return func(s *cell.Spec) { s.Current, s.Until = gen, s.Until.Add(time.Hour) }
}

func mustPut(t *testing.T, d *directory, keys []cell.Key) []cell.Allocation {
	t.Helper()
	as, err := d.Put(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	return as
}

func mustLookup(t *testing.T, d *directory, keys []cell.Key) []int64 {
	t.Helper()
	puids, err := d.Lookup(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	return puids
}

// transactions counts the transactions from now on, of these kinds.
func transactions(memory *celltest.Memory, of ...string) *atomic.Int64 {
	var n atomic.Int64
	memory.Hook(func(_ context.Context, s celltest.Step) error {
		for _, do := range of {
			if s.When == celltest.Begins && s.Do == do {
				n.Add(1)
			}
		}
		return nil
	})
	return &n
}

func TestDirectory_PutsOnce(t *testing.T) {
	t.Parallel()
	c := open(t, &celltest.Memory{}, 4)
	d := cell.NewDirectory(c)
	keys := keysOf(c, 0, 50)
	twice := append(keysOf(c, 0, 50), keys...)
	if got := mustLookup(t, d, keys); got[0] != cell.Nothing || got[49] != cell.Nothing {
		t.Errorf("keys of a new installation have puids %v", got)
	}
	first := mustPut(t, d, twice)
	for i, a := range first {
		if !a.Fresh || a != first[i%50] {
			t.Errorf("key %d of a batch with each key twice: %+v and %+v", i, a, first[i%50])
		}
		if home, err := c.Map().Puid(a.PUID); err != nil || home != c.Map().Home(twice[i].Position()) {
			t.Errorf("puid %d of key %d lives in %v, %v", a.PUID, i, home, err)
		}
	}
	for name, d := range map[string]*directory{"the same": d, "another": cell.NewDirectory(c)} {
		for i, a := range mustPut(t, d, keys) {
			if a.Fresh || a.PUID != first[i].PUID {
				t.Errorf("%s directory, key %d again: %+v, want %d", name, i, a, first[i].PUID)
			}
		}
		for i, puid := range mustLookup(t, d, keys) {
			if puid != first[i].PUID {
				t.Errorf("%s directory finds %d for key %d, want %d", name, puid, i, first[i].PUID)
			}
		}
	}
}

func TestDirectory_AsksNobodyWhatItKnows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		c := open(t, memory, 4)
		d := cell.NewDirectory(c)
		keys := keysOf(c, 0, 20)

		asked := transactions(memory, "view", "update", "exclusive")
		found, err := d.Find(t.Context(), keys)
		if err != nil || asked.Load() != 0 {
			t.Errorf("with one generation %d transactions for Find, %v; want none", asked.Load(), err)
		}
		for i, f := range found {
			if f != (cell.Found{Cell: c.Map().Home(keys[i].Position())}) {
				t.Errorf("found %+v of a key that the put itself tells of", f)
			}
		}

		mustPut(t, d, keys)
		asked = transactions(memory, "view", "update", "exclusive")
		mustPut(t, d, keys)
		mustLookup(t, d, keys)
		if n := asked.Load(); n != 0 {
			t.Errorf("%d transactions for keys whose puids were found before", n)
		}

		// One transaction per cell and step, however many keys; a filter saves reading the older cell.
		grow(t, c, 8)
		fresh := keysOf(c, 100, 400)
		if mustLookup(t, d, fresh); true {
			synctest.Wait() // filters are loaded in the background after a lookup has read the sealed cells
		}
		asked = transactions(memory, "update", "exclusive")
		views := transactions(memory, "view")
		mustPut(t, d, fresh)
		if n := views.Load() + asked.Load(); n > 8+4 {
			t.Errorf("%d transactions for 300 new keys in 8 cells, after 4 older ones with filters", n)
		}
	})
}

func TestDirectory_OldMap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		c, late := open(t, memory, 2), open(t, memory, 0)
		d, behind := cell.NewDirectory(c), cell.NewDirectory(late)
		old := mustPut(t, d, keysOf(c, 0, 20))
		grow(t, c, 6)
		young := mustPut(t, d, keysOf(c, 20, 40))
		if late.Map().Current() != 0 {
			t.Fatal("the other process has the new map")
		}
		for i, a := range mustPut(t, behind, keysOf(c, 0, 40)) {
			if want := append(old, young...)[i]; a.Fresh || a.PUID != want.PUID {
				t.Errorf("key %d by an old map: %+v, want %d", i, a, want.PUID)
			}
		}
		if late.Map().Current() != 1 {
			t.Error("a refused writer did not learn of the new map")
		}
		keys := keysOf(c, 0, 41)
		found, err := cell.NewDirectory(late).Find(t.Context(), keys)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range found {
			want := cell.Found{Cell: c.Map().Home(keys[i].Position())}
			// Find does not read puids of the current generation; Allocate does
			if i < 20 || i < 40 && f.PUID != cell.Nothing {
				want.PUID = append(old, young...)[i].PUID
				want.Cell, _ = c.Map().Puid(want.PUID)
			}
			if f != want {
				t.Errorf("found %+v of key %d, want %+v", f, i, want)
			}
		}
	})
}

func TestP06_UnreachableIsNotAbsent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		c := open(t, memory, 2)
		d := cell.NewDirectory(c)
		mustPut(t, d, keysOf(c, 0, 20))
		// Current, and nothing sealed yet: the older cells must be read.
		swap(t, c, announced, current(1))
		if err := c.Ensure(t.Context(), c.Map().Cells()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		memory.Down(c.Map().URL(cell.ID{Index: 1}), true)
		d = cell.NewDirectory(c)
		keys := keysOf(c, 0, 40)
		for name, err := range map[string]error{
			"Lookup": second(d.Lookup(t.Context(), keys)),
			"Put":    second(d.Put(t.Context(), keys)),
			"Seal":   d.SealOlder(t.Context(), []uint32{0, 1 << 31}),
		} {
			if !errors.Is(err, cell.ErrUnavailable) || !strings.Contains(fmt.Sprint(err), "cell g0-1") {
				t.Errorf("%s with a cell down: %v; want ErrUnavailable with its name", name, err)
			}
		}
		found, err := d.Find(t.Context(), keys)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range found {
			switch down := c.Map().Key(0, keys[i].Position()).Index == 1; {
			case down && !errors.Is(f.Err, cell.ErrUnavailable):
				t.Errorf("key %d of the cell that is down: %+v", i, f)
			case !down && (f.Err != nil || f.PUID == cell.Nothing): // keys without a puid got theirs by the Put
				t.Errorf("key %d of the other cell: %+v", i, f)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

type frozen struct {
	*process
	m       *cell.Map
	fail    error
	refresh int
}

func (f *frozen) Map() *cell.Map { return f.m }

func (f *frozen) Refresh(context.Context) error {
	f.refresh++
	return f.fail
}

func TestDirectory_GivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := open(t, &celltest.Memory{}, 2)
		src := &frozen{process: c, m: c.Map()}
		grow(t, c, 4)
		d := cell.NewDirectory[cell.Store](src)
		if _, err := d.Put(t.Context(), keysOf(c, 0, 3)); !errors.Is(err, cell.ErrStaleMap) {
			t.Errorf("a map that stays old: %v, want ErrStaleMap", err)
		}
		if src.refresh == 0 || src.refresh > 20 {
			t.Errorf("%d refreshes", src.refresh)
		}
		src.fail = fmt.Errorf("authority: %w", cell.ErrUnavailable)
		if _, err := d.Lookup(t.Context(), keysOf(c, 0, 3)); !errors.Is(err, cell.ErrUnavailable) {
			t.Errorf("no map to be had: %v, want ErrUnavailable", err)
		}
		src.fail = nil
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := d.Lookup(ctx, keysOf(c, 0, 3)); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		if _, err := d.Find(ctx, keysOf(c, 0, 3)); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

func TestDirectory_Gate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := open(t, &celltest.Memory{}, 2)
		d, id := cell.NewDirectory(c), cell.ID{Index: 1}
		for _, g := range []struct {
			head cell.Head
			want error
		}{
			{cell.Head{}, nil},
			{cell.Head{Epoch: 1, KnownEpoch: 7}, nil},
			{cell.Head{Epoch: 2}, cell.ErrFenced},
			{cell.Head{Home: cell.Moving}, cell.ErrMoved},
			{cell.Head{Home: cell.Moved}, cell.ErrMoved},
			{cell.Head{Keys: cell.Sealed}, cell.ErrFenced},
			{cell.Head{Keys: cell.Retired}, cell.ErrFenced},
		} {
			err := update(t, c, id, cell.Database[cell.Store].Exclusive, func(s cell.Store) error {
				was, err := s.Head(t.Context())
				if err != nil {
					return err
				}
				if err := s.SetHead(t.Context(), g.head); err != nil {
					return err
				}
				err = d.Gate(t.Context(), s, c.Map(), id)
				return errors.Join(err, s.SetHead(t.Context(), was))
			})
			if !errors.Is(err, g.want) || g.want != nil && !strings.Contains(err.Error(), "g0-1") {
				t.Errorf("gate of %+v: %v, want %v", g.head, err, g.want)
			}
		}
	})
}

func TestDirectory_SealOlder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		c := open(t, memory, 2)
		d := cell.NewDirectory(c)
		asked := transactions(memory, "view", "exclusive")
		if err := d.SealOlder(t.Context(), []uint32{0, 1 << 31}); err != nil || asked.Load() != 0 {
			t.Errorf("one generation: %v, %d transactions", err, asked.Load())
		}
		swap(t, c, announced, current(1))
		synctest.Wait()
		if err := d.SealOlder(t.Context(), []uint32{5, 6, 7}); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[cell.ID]cell.KeyState{{}: cell.Sealed, {Index: 1}: cell.Open} {
			if got := head(t, c, id); got.Keys != want || want == cell.Sealed && got.Epoch != c.Map().Epoch() {
				t.Errorf("cell %v is %+v, want %v", id, got, want)
			}
		}
		asked = transactions(memory, "view", "exclusive")
		if err := d.SealOlder(t.Context(), []uint32{8, 9}); err != nil || asked.Load() != 0 {
			t.Errorf("again: %v, %d transactions, want none", err, asked.Load())
		}
	})
}

// register is the model of a key: set once.
var register = porcupine.Model{
	Init: func() any { return int64(cell.Nothing) },
	Step: func(state, input, output any) (bool, any) {
		if state == int64(cell.Nothing) && input == "put" {
			return output != state, output
		}
		return state == output, state
	},
}

// Several processes put and look up the same keys, with maps of any age, while one of the processes adds two
// generations and compacts the oldest.
func TestP06_ProcessesAgreeWhileCellsGrow(t *testing.T) {
	t.Parallel()
	const processes, clients, calls, numbers = 3, 3, 60, 40
	memory := &celltest.Memory{}
	owner := open(t, memory, 2)
	var mu sync.Mutex
	var clock atomic.Int64
	history := map[int][]porcupine.Operation{}
	note := func(n int, what string, puid, began int64) {
		ended := clock.Add(1)
		mu.Lock()
		defer mu.Unlock()
		history[n] = append(history[n], porcupine.Operation{Input: what, Output: puid, Call: began, Return: ended})
	}
	var wg sync.WaitGroup
	for p := range processes {
		c := open(t, memory, 0)
		d := cell.NewDirectory(c)
		for k := range clients {
			rng := rand.New(rand.NewPCG(uint64(p), uint64(k)))
			wg.Go(func() {
				for range calls {
					n := rng.IntN(numbers)
					keys := keysOf(c, n, n+3)
					began := clock.Add(1)
					if rng.IntN(2) == 0 {
						puids, err := d.Lookup(t.Context(), keys)
						if err != nil {
							t.Error(err)
							return
						}
						for i, puid := range puids {
							note(n+i, "lookup", puid, began)
						}
						continue
					}
					as, err := d.Put(t.Context(), keys)
					if err != nil {
						t.Error(err)
						return
					}
					for i, a := range as {
						note(n+i, "put", a.PUID, began)
					}
				}
			})
		}
	}
	wg.Go(func() {
		for gen := 1; gen <= 2; gen++ {
			for _, change := range []func(*cell.Spec){announced, current(gen)} {
				if err := owner.Swap(t.Context(), next(t, owner, change)); err != nil {
					t.Error(err)
					return
				}
				if err := owner.Ensure(t.Context(), owner.Map().Cells()); err != nil {
					t.Error(err)
				}
			}
		}
		if err := cell.Compact(t.Context(), owner, 1, nil); err != nil {
			t.Error(err)
		}
	})
	wg.Wait()
	for n, calls := range history {
		if !porcupine.CheckOperations(register, calls) {
			t.Errorf("key %d is no register: %+v", n, calls)
		}
	}
}

// The cost of a batch apart from its transactions: with one generation Find needs none.
func BenchmarkDirectory_Find(b *testing.B) {
	c, err := cell.OpenCells(b.Context(), options(&celltest.Memory{}, 16))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	d, keys := cell.NewDirectory(c), keysOf(c, 0, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Find(b.Context(), keys); err != nil {
			b.Fatal(err)
		}
	}
}
