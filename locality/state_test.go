// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/locality"
)

// The tests of New's fast path, on the clock of a synctest bubble, which time.Now and time.Since read.

func TestState_TimeOfTheShortWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := generator(t, nil)
		first := g.New()
		for _, d := range []time.Duration{0, 400 * time.Microsecond, time.Millisecond, 8 * time.Millisecond, 9999 * time.Microsecond, time.Second, 24 * time.Hour} {
			pass(d)
			if id := g.New(); id.Millis() != time.Now().UnixMilli() || !sameLane(first, id) {
				t.Errorf("after %v: %v carries %d, want %d and the identity of %v", d, id, id.Millis(),
					time.Now().UnixMilli(), first)
			}
		}
	})
}

func TestState_WindowsFollowEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := generator(t, &locality.Options{Order: locality.Sequential})
		for window := range 200 { // more than a day
			for want := uint32(1); want <= 3; want++ {
				if n, ok := g.New().WindowCount(); !ok || n != want {
					t.Fatalf("window %d: number %d, want %d", window, n, want)
				}
				pass(time.Millisecond)
			}
			sleepToTheEndOfTheWindow()
		}
	})
}

// A goroutine that is suspended between its clock reading and its counter step finishes in the window, and under the
// identity, in which it began.
func TestState_LateGoroutines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := generator(t, &locality.Options{Order: locality.Sequential})
		ids := fill(g, 10)
		var late []func() locality.ID
		for range 20 {
			late = append(late, g.Late())
		}
		sleepToTheEndOfTheWindow()
		ids = append(ids, fill(g, 10)...)
		for i, end := range late {
			if i == 10 {
				g.Reseed()
				ids = append(ids, fill(g, 10)...)
			}
			id := end()
			if n, ok := id.WindowCount(); !ok || n != uint32(11+i) {
				t.Errorf("a late id has number %d of its window, want %d", n, 11+i)
			}
			ids = append(ids, id, g.New())
		}
		none(t, "late", ids)
	})
}

func TestState_GoroutinesOverABorder(t *testing.T) {
	t.Parallel()
	for _, node := range []locality.Node{locality.RandomNode(), locality.FixedNode(60_001)} {
		synctest.Test(t, func(t *testing.T) {
			g := generator(t, &locality.Options{Order: locality.Sequential, Node: node, Rand: seeded(4)})
			pass(time.Until(time.Now().Truncate(10 * time.Minute).Add(10*time.Minute - 8*time.Millisecond)))
			lists := make([][]locality.ID, 8)
			var wg sync.WaitGroup
			for w := range lists {
				wg.Go(func() {
					for range 1000 {
						lists[w] = append(lists[w], g.New())
						pass(time.Duration(w+1) * 13 * time.Microsecond)
					}
				})
			}
			wg.Wait()
			none(t, "over a border", lists...)
			for _, list := range lists {
				if list[0].Millis()/600_000 == list[999].Millis()/600_000 {
					t.Error("the run did not cross the border")
				}
				for _, id := range list {
					if n, ok := id.WindowCount(); !ok || n > 8000 {
						t.Fatalf("%v has number %d of its window", id, n)
					}
				}
			}
		})
	}
}

func TestReseed_GivesEveryGeneratorANewIdentity(t *testing.T) {
	// Not parallel: every generator of the process reacts to it.
	over := locality.Segment{Hi: ring, From: 1, Until: 1000}
	var events []locality.Event
	a, b := generator(t, nil), generator(t, &locality.Options{Order: locality.Sequential, OnEvent: func(e locality.Event) { events = append(events, e) }})
	local := a.Local()
	mint := func() []locality.ID {
		past, err := a.NewInPast(over)
		if err != nil {
			t.Fatal(err)
		}
		dated, err := a.NewAt(time.UnixMilli(7))
		if err != nil {
			t.Fatal(err)
		}
		return []locality.ID{local.New(), a.New(), b.New(), a.Near(locality.Nil()), b.Near(locality.Nil()), past, dated}
	}
	before := mint()
	if again := mint(); !sameLane(before[1], again[1]) {
		t.Error("the identity changed for no reason")
	}
	locality.Reseed()
	for i, id := range mint() {
		if sameLane(before[i], id) {
			t.Errorf("minter %d: %v and %v have one identity", i, before[i], id)
		}
	}
	if len(events) != 1 || events[0].Kind != locality.IdentityChanged || events[0].Why == "" || events[0].Jump != 0 {
		t.Errorf("events %+v, want one of a new identity", events)
	}
}

func TestReseed_OfFixedNodes(t *testing.T) {
	t.Parallel()
	variable := generator(t, &locality.Options{Node: locality.FixedNode(60_002)})
	a := variable.New()
	variable.Reseed()
	b := variable.New()
	if n, ok := b.Steps(a); !ok || n < 2 {
		t.Errorf("%v after %v: want the same node and another counter", b, a)
	}
	sequential := generator(t, &locality.Options{Node: locality.FixedNode(60_003), Order: locality.Sequential})
	copied := sequential.Fork(os.Getpid)
	ids, near := fill(sequential, 100), sequential.Near(locality.Nil())
	sequential.Reseed()
	copied.Reseed()
	none(t, "sequential", ids, fill(sequential, 100), fill(copied, 100))
	if n, ok := sequential.Near(locality.Nil()).Steps(near); !ok || n == 16*16*16*16*16 {
		t.Error("the near lane of a fixed node went on as before")
	}
}

func TestEvent_InALog(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Warn("x", "event",
		locality.Event{Why: "y z", Jump: -time.Second, Node: locality.FixedNode(7)})
	if want := `event.kind="identity changed" event.why="y z" event.node=fixed(7) event.jump_ms=-1000`; !strings.Contains(log.String(), want) {
		t.Errorf("%s does not contain %s", log.String(), want)
	}
}

// pass advances the clock of a synctest bubble, without waiting.
func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // no caller waits
