// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/celltest"
)

// process is a process that uses an installation in memory.
type process = cell.Cells[cell.Store]

const template = "mem:g{g}-{i}"

var errTold = errors.New("told to fail")

// options returns the options of an installation with this many cells; with 0 the installation must exist.
func options(memory *celltest.Memory, cells uint64) cell.CellsOptions[cell.Store] {
	o := cell.CellsOptions[cell.Store]{Authority: "mem:g0-0", Driver: memory.Driver, Rules: "r", Notice: time.Hour}
	if cells > 0 {
		o.New = &cell.Spec{Generations: []cell.Generation{{Cells: cells, URLs: []string{template}}}}
	}
	return o
}

func open(t *testing.T, memory *celltest.Memory, cells uint64) *process {
	t.Helper()
	c, err := cell.OpenCells(t.Context(), options(memory, cells))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeCells(t, c) })
	return c
}

func closeCells(t *testing.T, c *process) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func head(t *testing.T, c *process, id cell.ID) (h cell.Head) {
	t.Helper()
	if err := update(t, c, id, cell.Database[cell.Store].View, func(s cell.Store) (err error) {
		h, err = s.Head(t.Context())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return h
}

// copyOf returns the epoch of the newest map that a cell has.
func copyOf(t *testing.T, c *process, id cell.ID) (epoch uint64) {
	t.Helper()
	if err := update(t, c, id, cell.Database[cell.Store].View, func(s cell.Store) (err error) {
		epoch, _, err = s.CellMap(t.Context())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return epoch
}

type transaction = func(cell.Database[cell.Store], context.Context, func(cell.Store) error) error

func update(t *testing.T, c *process, id cell.ID, run transaction, fn func(cell.Store) error) error {
	t.Helper()
	db, err := c.Cell(id)
	if err != nil {
		return err
	}
	return run(db, t.Context(), fn)
}

// failing makes the n-th step from now fail, and all later ones if forever. The returned counter counts the steps.
func failing(memory *celltest.Memory, n int64, forever bool) *atomic.Int64 {
	var steps atomic.Int64
	memory.Hook(func(context.Context, celltest.Step) error {
		if at := steps.Add(1); at == n || forever && at > n {
			return errTold
		}
		return nil
	})
	return &steps
}

func TestOpenCells_MakesAnInstallation(t *testing.T) {
	t.Parallel()
	memory := &celltest.Memory{}
	c := open(t, memory, 4)
	m := c.Map()
	if m.Epoch() != 1 || m.Count(0) != 4 {
		t.Errorf("epoch %d, %d cells", m.Epoch(), m.Count(0))
	}
	if left := time.Until(m.Until()); left < 59*time.Minute || left > 61*time.Minute || m.Until().Nanosecond() != 0 {
		t.Errorf("until %v, %v from now; want a whole second in an hour", m.Until(), left)
	}
	for _, id := range m.Cells() {
		stats, err := c.Stats(t.Context(), id)
		if err != nil || stats.Cell != id || stats.URL != m.URL(id) || stats.Head.Incarnation != 1 {
			t.Errorf("stats of %v: %+v, %v", id, stats, err)
		}
		if got := copyOf(t, c, id); got != 1 {
			t.Errorf("cell %v has a copy of epoch %d", id, got)
		}
	}
	if _, err := c.Cell(cell.ID{Index: 4}); !errors.Is(err, cell.ErrNoCell) {
		t.Errorf("a cell that the map does not list: %v, want ErrNoCell", err)
	}
	again := open(t, memory, 7) // the existing installation decides
	if got, want := text(t, again.Map()), text(t, m); !bytes.Equal(got, want) {
		t.Errorf("opened again: %s, was %s", got, want)
	}
}

func text(t *testing.T, m *cell.Map) []byte {
	t.Helper()
	b, err := m.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestOpenCells_MustFindOne(t *testing.T) {
	t.Parallel()
	memory := &celltest.Memory{}
	if _, err := cell.OpenCells(t.Context(), options(memory, 0)); !errors.Is(err, cell.ErrMissing) {
		t.Errorf("nothing there: %v, want ErrMissing", err)
	}
	if got := memory.URLs(); len(got) != 0 {
		t.Errorf("made %v", got)
	}
	db, err := memory.Dial(t.Context(), "mem:g0-0", true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := cell.OpenCells(t.Context(), options(memory, 0)); !errors.Is(err, cell.ErrMissing) {
		t.Errorf("an empty database: %v, want ErrMissing", err)
	}
	if got := memory.Opened(); got != 1 {
		t.Errorf("%d databases are open, want 1", got)
	}
}

func TestOpenCells_RefusesOtherCells(t *testing.T) {
	t.Parallel()
	memory := &celltest.Memory{}
	open(t, memory, 4)
	for name, change := range map[string]func(*cell.CellsOptions[cell.Store]){
		"other rules":       func(o *cell.CellsOptions[cell.Store]) { o.Rules = "other" },
		"another authority": func(o *cell.CellsOptions[cell.Store]) { o.Authority = "mem:g0-1" },
	} {
		o := options(memory, 4)
		change(&o)
		if _, err := cell.OpenCells(t.Context(), o); !errors.Is(err, cell.ErrIdentity) {
			t.Errorf("%s: %v, want ErrIdentity", name, err)
		}
	}
	// A cell of another installation that contains no map.
	db, err := memory.Dial(t.Context(), "mem:other", true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Identify(t.Context(), cell.Identity{Map: "x", Hi: 1}); err != nil {
		t.Fatal(err)
	}
	o := options(memory, 4)
	o.Authority = "mem:other"
	if _, err := cell.OpenCells(t.Context(), o); !errors.Is(err, cell.ErrIdentity) {
		t.Errorf("a cell without map: %v, want ErrIdentity", err)
	}
}

// A lost cell of a complete installation is never recreated empty.
func TestP06_ALostCellIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	memory := &celltest.Memory{}
	open(t, memory, 4)
	memory.Lose("mem:g0-2")
	c := open(t, memory, 4)
	if err := c.OpenAll(t.Context()); !errors.Is(err, cell.ErrMissing) {
		t.Errorf("all cells, one lost: %v, want ErrMissing", err)
	}
	err := update(t, c, cell.ID{Index: 2}, cell.Database[cell.Store].View, func(cell.Store) error { return nil })
	if !errors.Is(err, cell.ErrMissing) {
		t.Errorf("the lost cell: %v, want ErrMissing", err)
	}
	if got := memory.URLs(); len(got) != 3 {
		t.Errorf("databases %v", got)
	}
}

// Creating an installation is interrupted at every step and repeated.
func TestOpenCells_AfterACrashAnywhere(t *testing.T) {
	t.Parallel()
	for _, forever := range []bool{false, true} {
		for n := int64(1); ; n++ {
			memory := &celltest.Memory{}
			steps := failing(memory, n, forever)
			c, err := cell.OpenCells(t.Context(), options(memory, 3))
			if err == nil {
				closeCells(t, c)
			}
			if !forever && err == nil && steps.Load() >= n {
				t.Errorf("step %d failed unnoticed", n)
			}
			done := steps.Load() < n
			memory.Hook(nil)
			c = open(t, memory, 3)
			if err := c.OpenAll(t.Context()); err != nil {
				t.Errorf("begun again after step %d: %v", n, err)
			}
			if open := memory.Opened(); open != 3 {
				t.Errorf("after step %d, %d databases are open of 3", n, open)
			}
			if done {
				break
			}
		}
	}
}

func TestOpenCells_SeveralMakeOne(t *testing.T) {
	t.Parallel()
	memory := &celltest.Memory{}
	var ids [8]string
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			c, err := cell.OpenCells(t.Context(), options(memory, 3))
			if err == nil {
				ids[i] = c.Map().Spec().ID
				err = errors.Join(c.OpenAll(t.Context()), c.Close())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] || id == "" {
			t.Fatalf("several made %v", ids)
		}
	}
}

// next returns a changed version that follows the newest one that a process knows.
func next(t *testing.T, c *process, change func(*cell.Spec)) *cell.Map {
	t.Helper()
	s := c.Map().Spec()
	s.Epoch++
	change(&s)
	return newMap(t, s)
}

// swap makes these changes to the map, one after the other.
func swap(t *testing.T, c *process, changes ...func(*cell.Spec)) {
	t.Helper()
	for _, change := range changes {
		if err := c.Swap(t.Context(), next(t, c, change)); err != nil {
			t.Fatal(err)
		}
	}
}

func extended(s *cell.Spec) { s.Until = s.Until.Add(time.Hour) }

func announced(s *cell.Spec) {
	s.Generations = append(s.Generations, cell.Generation{Cells: 8, Starts: s.Until, URLs: []string{template}})
}

func TestSwap_OneOfTwo(t *testing.T) {
	t.Parallel()
	memory := &celltest.Memory{}
	a, b := open(t, memory, 4), open(t, memory, 4)
	m := next(t, a, announced)
	if err := a.Swap(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got := a.Map(); got != m {
		t.Errorf("after Swap the map has epoch %d", got.Epoch())
	}
	if err := b.Swap(t.Context(), next(t, b, extended)); !errors.Is(err, cell.ErrConflict) {
		t.Errorf("second Swap from one version: %v, want ErrConflict", err)
	}
	if err := b.Swap(t.Context(), m); !errors.Is(err, cell.ErrConflict) {
		t.Errorf("the same version again: %v, want ErrConflict", err)
	}
	if b.Map().Epoch() != 1 {
		t.Errorf("a Swap that failed left epoch %d", b.Map().Epoch())
	}
	if err := b.Refresh(t.Context()); err != nil || b.Map().Epoch() != 2 {
		t.Errorf("after Refresh epoch %d, %v", b.Map().Epoch(), err)
	}
	if err := b.Swap(t.Context(), next(t, b, func(s *cell.Spec) { s.Generations[0].Cells = 2 })); !errors.Is(err, cell.ErrMap) {
		t.Errorf("a version that may not follow: %v, want ErrMap", err)
	}
}

// All cells get copies of a map, and report its epoch if it contains more than a later date.
func TestSwap_Copies(t *testing.T) {
	t.Parallel()
	memory := &celltest.Memory{}
	a := open(t, memory, 4)
	c, err := cell.OpenCells(t.Context(), options(memory, 4))
	if err != nil {
		t.Fatal(err)
	}
	memory.Down("mem:g0-3", true)
	if err := errors.Join(c.Swap(t.Context(), next(t, c, announced)), c.Swap(t.Context(), next(t, c, extended)), c.Close()); err != nil {
		t.Fatal(err)
	}
	memory.Down("mem:g0-3", false)
	if a.Stale() {
		t.Error("stale before it read a cell")
	}
	if head(t, a, cell.ID{Index: 1}); !a.Stale() {
		t.Error("not stale after it read a cell that knows of epoch 2")
	}
	for i, want := range []struct{ epoch, knownEpoch uint64 }{{3, 3}, {3, 2}, {3, 2}, {1, 0}} {
		id := cell.ID{Index: uint32(i)}
		if got := copyOf(t, a, id); got != want.epoch && (i == 0 || i == 3 || got != 2) {
			t.Errorf("cell %v has a copy of epoch %d, want %d", id, got, want.epoch)
		}
		if got := head(t, a, id).KnownEpoch; got != want.knownEpoch {
			t.Errorf("cell %v was told of epoch %d, want %d", id, got, want.knownEpoch)
		}
	}
	if err := a.Refresh(t.Context()); err != nil || a.Map().Epoch() != 3 || a.Stale() {
		t.Errorf("after Refresh epoch %d, stale %v, %v", a.Map().Epoch(), a.Stale(), err)
	}
}

// Every cell learns of a map that contains more than a later date, and gets a copy, including the last cell of the
// newest generation.
func TestSwap_ReachesEveryCell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		a := open(t, memory, 4)
		c, err := cell.OpenCells(t.Context(), options(memory, 4))
		if err != nil {
			t.Fatal(err)
		}
		grow(t, c, 8)
		closeCells(t, c) // waits for the copies
		if err := a.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		m := a.Map()
		if n := len(m.Cells()); n != 12 {
			t.Fatalf("%d cells, want 12", n)
		}
		for _, id := range m.Cells() {
			if epoch, knownEpoch := copyOf(t, a, id), head(t, a, id).KnownEpoch; epoch != m.Epoch() || knownEpoch != m.Epoch() {
				t.Errorf("cell %v has a copy of epoch %d and was told of %d, want %d", id, epoch, knownEpoch, m.Epoch())
			}
		}
	})
}

// While the authority moves no map is written there: the move may have copied the maps already.
func TestSwap_NotWhileTheAuthorityMoves(t *testing.T) {
	t.Parallel()
	for _, home := range []cell.Placement{cell.Moving, cell.Moved} {
		memory := &celltest.Memory{}
		a := open(t, memory, 2)
		reside := func(home cell.Placement) {
			if err := update(t, a, cell.ID{}, cell.Database[cell.Store].Exclusive, func(s cell.Store) error {
				h, err := s.Head(t.Context())
				h.Home = home
				return errors.Join(err, s.SetHead(t.Context(), h))
			}); err != nil {
				t.Fatal(err)
			}
		}
		swap(t, a, extended)
		reside(home)
		for _, change := range []func(*cell.Spec){extended, announced} {
			if err := a.Swap(t.Context(), next(t, a, change)); !errors.Is(err, cell.ErrConflict) || a.Map().Epoch() != 2 {
				t.Errorf("the authority is %v: %v, epoch %d; want ErrConflict", home, err, a.Map().Epoch())
			}
		}
		reside(cell.Serving)
		if epoch := copyOf(t, a, cell.ID{}); epoch != 2 {
			t.Errorf("the authority was %v and has epoch %d", home, epoch)
		}
		swap(t, a, extended)
	}
}

func TestRefresh_WithoutAuthority(t *testing.T) {
	t.Parallel()
	memory := &celltest.Memory{}
	a, b := open(t, memory, 4), open(t, memory, 4)
	if err := errors.Join(b.OpenAll(t.Context()), a.OpenAll(t.Context())); err != nil {
		t.Fatal(err)
	}
	memory.Down("mem:g0-0", true)
	if err := b.Refresh(t.Context()); !errors.Is(err, cell.ErrUnavailable) {
		t.Errorf("no cell knows more: %v, want ErrUnavailable", err)
	}
	memory.Down("mem:g0-0", false)
	swap(t, a, announced)
	closeCells(t, a) // waits for the copies
	memory.Down("mem:g0-0", true)
	memory.Down("mem:g0-1", true)
	if err := b.Refresh(t.Context()); err != nil || b.Map().Epoch() != 2 {
		t.Errorf("from the copies: epoch %d, %v", b.Map().Epoch(), err)
	}
	// Growth needs the authority.
	if err := b.Swap(t.Context(), next(t, b, extended)); !errors.Is(err, cell.ErrUnavailable) {
		t.Errorf("Swap without authority: %v, want ErrUnavailable", err)
	}
}

// An authority restored from a backup lacks versions that others have.
func TestRefresh_NeverGoesBack(t *testing.T) {
	t.Parallel()
	memory := &celltest.Memory{}
	a := open(t, memory, 4)
	restore := memory.Save("mem:g0-0")
	swap(t, a, announced)
	restore()
	if err := a.Refresh(t.Context()); err != nil || a.Map().Epoch() != 2 {
		t.Errorf("Refresh from an old authority: epoch %d, %v", a.Map().Epoch(), err)
	}
	if err := a.Swap(t.Context(), next(t, a, extended)); !errors.Is(err, cell.ErrIdentity) {
		t.Errorf("Swap in an old authority: %v, want ErrIdentity", err)
	}
}

// Concurrent refreshes share one read, which never began before the call.
func TestRefresh_IsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		a := open(t, memory, 1)
		var views atomic.Int64
		memory.Hook(func(_ context.Context, s celltest.Step) error {
			if s.Do == "view" {
				views.Add(1)
				time.Sleep(time.Second) //nolint:forbidigo // the time of a bubble
			}
			return nil
		})
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if err := a.Refresh(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := views.Load(); n != 1 && n != 2 {
			t.Errorf("100 at once read the map %d times", n)
		}
	})
}

// A clock before 1970 is rejected at the start, before anything is created, with ErrClock: an ID cannot represent its
// time.
func TestP07_ClockBefore1970(t *testing.T) {
	t.Parallel()
	memory := &celltest.Memory{}
	o := options(memory, 2)
	o.Now = func() time.Time { return time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC) }
	if c, err := cell.OpenCells(t.Context(), o); !errors.Is(err, cell.ErrClock) || c != nil || !strings.Contains(err.Error(), "1969-12-31T23:59:59Z") {
		t.Errorf("%v, want ErrClock and the time", err)
	}
	o = options(memory, 0)
	if _, err := cell.OpenCells(t.Context(), o); !errors.Is(err, cell.ErrMissing) {
		t.Errorf("something was made: %v", err)
	}
}

func TestExtend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		a, b := open(t, memory, 2), open(t, memory, 2)
		began := time.Now()
		extend := func(c *process, epoch uint64, until time.Duration) {
			t.Helper()
			if err := c.Extend(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := c.Map().Until().Sub(began); c.Map().Epoch() != epoch || got != until {
				t.Errorf("epoch %d ends after %v, want %d after %v", c.Map().Epoch(), got, epoch, until)
			}
		}
		extend(a, 1, time.Hour)
		time.Sleep(30*time.Minute + 300*time.Millisecond) //nolint:forbidigo // the time of a bubble
		extend(a, 2, 90*time.Minute+time.Second)
		extend(b, 2, 90*time.Minute+time.Second) // has nothing to do
		extend(a, 2, 90*time.Minute+time.Second)
		time.Sleep(10 * time.Hour) //nolint:forbidigo // the time of a bubble
		extend(b, 3, 11*time.Hour+30*time.Minute+time.Second)
	})
}

func TestDate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		// As an older program made it.
		m := newMap(t, cell.Spec{Generations: []cell.Generation{{Cells: 2, URLs: []string{template}}}})
		for _, id := range m.Cells() {
			db, err := memory.Dial(t.Context(), m.URL(id), true)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if err := errors.Join(db.Exclusive(t.Context(), func(s cell.Store) error { return s.PutCellMap(t.Context(), 1, text(t, m)) }),
				db.Identify(t.Context(), m.IdentityOf(id, "r"))); err != nil {
				t.Fatal(err)
			}
		}
		a := open(t, memory, 2)
		if err := a.Extend(t.Context()); err != nil || a.Map().Epoch() != 1 || !a.Map().Until().IsZero() {
			t.Errorf("Extend of a map without date: epoch %d until %v, %v", a.Map().Epoch(), a.Map().Until(), err)
		}
		bound := time.Now().Add(50*time.Hour + time.Millisecond)
		for range 2 {
			if err := a.Date(t.Context(), bound); err != nil || a.Map().Epoch() != 2 || !a.Map().Until().Equal(bound.Truncate(time.Second).Add(time.Second)) {
				t.Errorf("Date: epoch %d until %v, %v", a.Map().Epoch(), a.Map().Until(), err)
			}
		}
		if err := a.Refresh(t.Context()); err != nil || a.Map().Epoch() != 2 {
			t.Errorf("Refresh: epoch %d, %v", a.Map().Epoch(), err)
		}
	})
}

// A moved cell is opened at its new place, and the old database is closed once its transactions have ended.
func TestCells_FollowsAMove(t *testing.T) {
	t.Parallel()
	memory := &celltest.Memory{}
	var closed atomic.Int64
	o := options(memory, 2)
	o.OnEvent = func(e cell.Event) {
		if e.What == cell.EventClosed && e.Err == nil {
			closed.Add(1)
		}
	}
	a, err := cell.OpenCells(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	id := cell.ID{Index: 1}
	db, err := a.Dial(t.Context(), "mem:new", true)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Identify(t.Context(), a.Map().IdentityOf(id, "r")),
		db.Exclusive(t.Context(), func(s cell.Store) error { return s.SetHead(t.Context(), cell.Head{Incarnation: 2}) }), db.Close()); err != nil {
		t.Fatal(err)
	}
	if err := update(t, a, id, cell.Database[cell.Store].View, func(s cell.Store) error {
		before, err := s.Head(t.Context())
		if err != nil {
			return err
		}
		if err := a.Swap(t.Context(), next(t, a, func(s *cell.Spec) {
			s.Moved = map[cell.ID]cell.Home{id: {URL: "mem:new", Incarnation: 2}}
		})); err != nil {
			return err
		}
		if after := head(t, a, id); before.Incarnation != 1 || after.Incarnation != 2 || closed.Load() != 0 {
			t.Errorf("incarnation %d, then %d, closed %d", before.Incarnation, after.Incarnation, closed.Load())
		}
		_, err = s.Head(t.Context())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	closeCells(t, a)
	if closed.Load() != 1 || memory.Opened() != 0 {
		t.Errorf("closed %d, %d still open", closed.Load(), memory.Opened())
	}
}

// The authority itself has moved; the old database still has the map that names the new one.
func TestOpenCells_FollowsTheAuthority(t *testing.T) {
	t.Parallel()
	memory := &celltest.Memory{}
	a := open(t, memory, 2)
	m := next(t, a, func(s *cell.Spec) { s.Moved = map[cell.ID]cell.Home{{}: {URL: "mem:new", Incarnation: 2}} })
	db, err := a.Dial(t.Context(), "mem:new", true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := errors.Join(db.Identify(t.Context(), m.IdentityOf(cell.ID{}, "r")),
		db.Exclusive(t.Context(), func(s cell.Store) error {
			return errors.Join(s.PutCellMap(t.Context(), 2, text(t, m)),
				s.SetHead(t.Context(), cell.Head{Incarnation: 2, KnownEpoch: 2}))
		}),
		update(t, a, cell.ID{}, cell.Database[cell.Store].Exclusive, func(s cell.Store) error {
			return errors.Join(s.PutCellMap(t.Context(), 2, text(t, m)),
				s.SetHead(t.Context(), cell.Head{Home: cell.Moved, Incarnation: 1, KnownEpoch: 2}))
		})); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*process{"opened before": a, "opened after": open(t, memory, 0)} {
		if err := errors.Join(c.Refresh(t.Context()), c.Swap(t.Context(), next(t, c, extended))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := head(t, a, cell.ID{}); got.Incarnation != 2 {
		t.Errorf("the authority is asked at incarnation %d", got.Incarnation)
	}
}

// Concurrent users of an unreachable cell share one dial; when it is reachable, all continue.
func TestCells_OneDials(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		open(t, memory, 2)
		c := open(t, memory, 2)
		var dials atomic.Int64
		memory.Hook(func(_ context.Context, s celltest.Step) error {
			if s.Do == "dial" {
				time.Sleep(time.Second) //nolint:forbidigo // the time of a bubble
				if dials.Add(1) == 1 {
					return errTold
				}
			}
			return nil
		})
		for round, fails := range []bool{true, false} {
			var wg sync.WaitGroup
			for range 100 {
				wg.Go(func() {
					err := update(t, c, cell.ID{Index: 1}, cell.Database[cell.Store].View, func(cell.Store) error { return nil })
					if (err != nil) != fails || fails && (!errors.Is(err, cell.ErrUnavailable) || !errors.Is(err, errTold)) {
						t.Errorf("round %d: %v", round, err)
					}
				})
			}
			wg.Wait()
			if got := dials.Load(); got != int64(round)+1 {
				t.Errorf("round %d: dialled %d times", round, got)
			}
		}
	})
}

func TestCells_Close(t *testing.T) {
	t.Parallel()
	memory := &celltest.Memory{}
	closes := 0
	o := options(memory, 3)
	o.OnClose = func() error { closes++; return nil }
	c, err := cell.OpenCells(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	db, err := c.Cell(cell.ID{Index: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.OpenAll(t.Context()), c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if memory.Opened() != 0 || closes != 1 {
		t.Errorf("%d databases still open, OnClose called %d times", memory.Opened(), closes)
	}
	_, after := c.Cell(cell.ID{})
	_, stats := c.Stats(t.Context(), cell.ID{})
	for name, err := range map[string]error{
		"Update":  db.Update(t.Context(), func(cell.Store) error { return nil }),
		"Cell":    after,
		"Stats":   stats,
		"Refresh": c.Refresh(t.Context()),
	} {
		if !errors.Is(err, cell.ErrUnavailable) {
			t.Errorf("%s after Close: %v, want ErrUnavailable", name, err)
		}
	}
	failed := o
	failed.Rules = "other"
	if _, err := cell.OpenCells(t.Context(), failed); err == nil || closes != 2 || memory.Opened() != 0 {
		t.Errorf("OpenCells that failed: %v, OnClose called %d times, %d open", err, closes, memory.Opened())
	}
}

// An installation in memory, for tests of code that uses cells.
func ExampleOpenCells() {
	memory := &celltest.Memory{}
	cells, err := cell.OpenCells(context.Background(), cell.CellsOptions[cell.Store]{
		Authority: "mem:g0-0", Driver: memory.Driver,
		New: &cell.Spec{Generations: []cell.Generation{{Cells: 4, URLs: []string{"mem:g{g}-{i}"}}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cells.Close()
	fmt.Println(cells.Map().Count(0), "cells")
	// Output: 4 cells
}
