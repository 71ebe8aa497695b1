// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/locality"
)

// machine has the two clocks of a computer, moved by hand.
type machine struct {
	mono time.Duration
	wall time.Time
}

func (m *machine) pass(d time.Duration) {
	m.mono += d
	m.wall = m.wall.Add(d)
}

// set sets the wall clock forward or back.
func (m *machine) set(d time.Duration) { m.wall = m.wall.Add(d) }

func newMachine() *machine { return &machine{mono: time.Hour, wall: time.UnixMilli(1.7e12)} }

func (m *machine) on(t testing.TB, opts *locality.Options) *locality.Generator {
	g := generator(t, opts)
	g.SetClocks(func() time.Duration { return m.mono }, func() time.Time { return m.wall })
	return g
}

// mint returns the time and the node of the next ID.
func mint(g *locality.Generator) (time.Time, uint32) {
	id := g.New()
	at, _ := id.Time()
	node, _ := id.Node()
	return at, node
}

func TestClock_FollowsTheWall(t *testing.T) {
	t.Parallel()
	m := newMachine()
	g := m.on(t, nil)
	_, node := mint(g)
	for _, d := range []time.Duration{0, time.Millisecond, 9 * time.Millisecond, time.Second, 24 * time.Hour} {
		m.pass(d)
		if at, y := mint(g); !at.Equal(m.wall) || y != node {
			t.Errorf("after %v: id of %v with node %x, want %v and %x", d, at, y, m.wall, node)
		}
	}
}

func TestClock_SmallStepBackIsSleptThroughAtHalfSpeed(t *testing.T) {
	t.Parallel()
	m := newMachine()
	g := m.on(t, nil)
	begin, node := mint(g)
	m.set(-4 * time.Second)
	m.pass(20 * time.Millisecond)
	at, _ := mint(g) // noticed here
	if want := begin.Add(20 * time.Millisecond); !at.Equal(want) {
		t.Fatalf("after the step back: %v, want %v", at, want)
	}
	for range 8 {
		m.pass(500 * time.Millisecond)
		mint(g)
	}
	// Half of 4 s later the wall clock is 2 s behind.
	at, y := mint(g)
	if want := begin.Add(2020 * time.Millisecond); !at.Equal(want) || y != node {
		t.Fatalf("at half speed: %v with node %x, want %v and %x", at, y, want, node)
	}
	for range 10 {
		m.pass(500 * time.Millisecond)
		at, y = mint(g)
	}
	if !at.Equal(m.wall) || y != node {
		t.Fatalf("when the wall caught up: %v with node %x, want %v and %x", at, y, m.wall, node)
	}
}

func TestP07_JumpsOfTheClockDrawTheIdentityAgain(t *testing.T) {
	t.Parallel()
	for name, jump := range map[string]time.Duration{
		"an hour back":    -time.Hour,
		"eleven s back":   -11 * time.Second,
		"two s ahead":     2 * time.Second,
		"an hour ahead":   time.Hour,
		"to 1970":         -time.UnixMilli(1.7e12).Sub(time.UnixMilli(0)),
		"a century ahead": 100 * 365 * 24 * time.Hour,
	} {
		m := newMachine()
		var events []locality.Event
		g := m.on(t, &locality.Options{OnEvent: func(e locality.Event) { events = append(events, e) }})
		_, node := mint(g)
		m.set(jump)
		m.pass(20 * time.Millisecond)
		if at, y := mint(g); !at.Equal(m.wall) || y == node {
			t.Errorf("%s: id of %v with node %x, want %v and another node", name, at, y, m.wall)
		}
		if len(events) != 1 || events[0].Kind != locality.IdentityChanged || events[0].Jump != jump {
			t.Errorf("%s: events %+v, want one about a jump of %v", name, events, jump)
		}
	}
	for name, jump := range map[string]time.Duration{"half a s ahead": 500 * time.Millisecond, "nine s back": -9 * time.Second} {
		m := newMachine()
		g := m.on(t, nil)
		_, node := mint(g)
		m.set(jump)
		m.pass(20 * time.Millisecond)
		if _, y := mint(g); y != node {
			t.Errorf("%s: the node changed", name)
		}
	}
}

func TestClock_FixedNodeDrawsTheCounterAgain(t *testing.T) {
	t.Parallel()
	m := newMachine()
	g := m.on(t, &locality.Options{Node: locality.FixedNode(31338)})
	before := g.New()
	m.set(-time.Hour)
	m.pass(time.Second)
	after := g.New()
	if n, ok := after.Steps(before); !ok || n < 2 || after.Millis() != m.wall.UnixMilli() {
		t.Errorf("%v after %v: want the node and another counter, at %d", after, before, m.wall.UnixMilli())
	}
}

func TestClock_JitterIsNotNoticed(t *testing.T) {
	t.Parallel()
	m := newMachine()
	g := m.on(t, nil)
	mint(g)
	m.set(-800 * time.Microsecond)
	m.pass(100 * time.Millisecond)
	first, _ := mint(g)
	m.pass(8 * time.Millisecond)
	if at, _ := mint(g); at.Sub(first) != 8*time.Millisecond {
		t.Errorf("time went on by %v in 8 ms", at.Sub(first))
	}
}

func TestClock_MonotonicBackIsLookedInto(t *testing.T) {
	t.Parallel()
	m := newMachine()
	g := m.on(t, nil)
	mint(g)
	m.mono -= time.Minute
	m.set(time.Hour)
	if at, _ := mint(g); !at.Equal(m.wall) {
		t.Errorf("id of %v, want %v", at, m.wall)
	}
}

func TestP07_CloneOfAMachine(t *testing.T) {
	t.Parallel()
	const n = 10_000
	m := newMachine()
	g := m.on(t, nil)
	g.New()
	clones := func(wake time.Duration) int {
		var lists [][]locality.ID
		for range 2 {
			copied := *m
			f := g.Fork(os.Getpid)
			f.SetClocks(func() time.Duration { return copied.mono }, func() time.Time { return copied.wall })
			copied.set(wake)
			copied.pass(20 * time.Millisecond)
			lists = append(lists, fill(f, n))
		}
		return duplicates(lists...)
	}
	if d := clones(time.Hour); d != 0 {
		t.Errorf("%d duplicates of clones that woke up an hour later", d)
	}
	// The control is the documented limit: clones whose clocks show no jump.
	if d := clones(0); d != n {
		t.Errorf("the control found %d duplicates, must find %d", d, n)
	}
}

func TestP07_SequentialWithFixedNodeNeverGoesBack(t *testing.T) {
	t.Parallel()
	m := newMachine()
	g := m.on(t, &locality.Options{Order: locality.Sequential, Node: locality.FixedNode(31337)})
	first := fill(g, 1000)
	m.set(-time.Hour)
	m.pass(time.Second)
	back := fill(g, 1000)
	m.set(time.Hour)
	m.pass(time.Second)
	if d := duplicates(first, back, fill(g, 1000)); d != 0 {
		t.Errorf("%d duplicates", d)
	}
	last, _ := first[999].Time()
	if at, _ := back[0].Time(); at.Before(last) {
		t.Errorf("time went back from %v to %v", last, at)
	}
}

// TestP07_AnyHistoryOfTheClock sets clocks at random: under one identity time never goes back, and no ID repeats.
func TestP07_AnyHistoryOfTheClock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine()
		g := m.on(t, nil)
		type identity struct {
			x uint16
			y uint32
		}
		last := map[identity]time.Time{}
		seen := map[locality.ID]bool{}
		for range rapid.IntRange(1, 60).Draw(rt, "events") {
			m.pass(time.Duration(rapid.Int64Range(0, 3e9).Draw(rt, "pass")))
			if rapid.IntRange(0, 4).Draw(rt, "set") == 0 {
				m.set(time.Duration(rapid.Int64Range(-20e9, 20e9).Draw(rt, "by")))
			}
			for _, id := range fill(g, rapid.IntRange(1, 20).Draw(rt, "n")) {
				at, _ := id.Time()
				x, _ := id.PID()
				y, _ := id.Node()
				who := identity{x, y}
				if at.Before(last[who]) {
					rt.Fatalf("time of %+v went back from %v to %v", who, last[who], at)
				}
				if seen[id] {
					rt.Fatalf("%v twice", id)
				}
				last[who], seen[id] = at, true
			}
		}
	})
}
