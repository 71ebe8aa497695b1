// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func newLane(places, waiters int, wait time.Duration) (l *lane, refused, waiting *atomic.Int64) {
	refused, waiting = new(atomic.Int64), new(atomic.Int64)
	l = &lane{places: places, waiters: waiters, wait: wait, held: map[string]int{}}
	l.refused = func() { refused.Add(1) }
	l.waits = func(delta int) { waiting.Add(int64(delta)) }
	return l, refused, waiting
}

func overloaded(err error) bool {
	var f *Fault
	return errors.As(err, &f) && f.Code == CodeOverloaded
}

func TestLane_RefusesAtOnceWhenTheQueueIsFull(t *testing.T) {
	t.Parallel()
	l, refused, _ := newLane(2, 0, time.Hour)
	var leave []func()
	for range 2 {
		out, err := l.enter(context.Background(), "one", 1)
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, out)
	}
	if _, err := l.enter(context.Background(), "one", 1); !overloaded(err) || refused.Load() != 1 {
		t.Errorf("third: %v, %d refused", err, refused.Load())
	}
	leave[0]()
	out, err := l.enter(context.Background(), "one", 1)
	if err != nil {
		t.Errorf("after one left: %v", err)
	}
	out()
	leave[1]()
	l.empty(t)
}

func TestLane_WaitsForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, refused, waiting := newLane(1, 1, 250*time.Millisecond)
		leave, err := l.enter(t.Context(), "one", 1)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := l.enter(t.Context(), "one", 1); !overloaded(err) || time.Since(start) != 250*time.Millisecond {
			t.Errorf("refused after %v: %v", time.Since(start), err)
		}
		time.AfterFunc(100*time.Millisecond, leave)
		start = time.Now()
		leave, err = l.enter(t.Context(), "one", 1)
		if err != nil || time.Since(start) != 100*time.Millisecond {
			t.Errorf("admitted after %v: %v", time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := l.enter(ctx, "one", 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("client that left: %v", err)
		}
		leave()
		if refused.Load() != 1 || waiting.Load() != 0 {
			t.Errorf("%d refused, %d waiting", refused.Load(), waiting.Load())
		}
		l.empty(t)
	})
}

// empty checks that no place is taken and no request is waiting.
func (l *lane) empty(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken != 0 || len(l.held) != 0 || len(l.queue) != 0 {
		t.Errorf("%d places are taken, by %v, and %d requests wait", l.taken, l.held, len(l.queue))
	}
}

// TestP12_ClientsShareALane has one client send far more than another. Every request of the other one is admitted,
// however many the first has waiting; only the first is refused.
func TestP12_ClientsShareALane(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, _, _ := newLane(8, 16, time.Second)
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var many, few [2]int // admitted and refused
		send := func(client string, places int, counts *[2]int, work time.Duration) {
			leave, err := l.enter(ctx, client, places)
			switch {
			case overloaded(err):
				counts[1]++
				time.Sleep(50 * time.Millisecond)
			case err == nil:
				counts[0]++
				time.Sleep(work)
				leave()
			}
		}
		var mu sync.Mutex
		for range 100 {
			wg.Go(func() {
				for ctx.Err() == nil {
					var mine [2]int
					send("many", 1, &mine, 700*time.Millisecond)
					mu.Lock()
					many[0] += mine[0]
					many[1] += mine[1]
					mu.Unlock()
				}
			})
		}
		time.Sleep(10 * time.Second)
		for range 20 {
			began := time.Now()
			send("few", 2, &few, 10*time.Millisecond)
			if took := time.Since(began); took > 20*time.Millisecond {
				t.Errorf("a request of the client with few was done after %v", took)
			}
		}
		stop()
		wg.Wait()
		if few[0] != 20 || few[1] != 0 {
			t.Errorf("of the client with few, %d requests were admitted and %d refused", few[0], few[1])
		}
		if many[0] < 80 || many[1] == 0 {
			t.Errorf("of the client with many, %d requests were admitted and %d refused", many[0], many[1])
		}
		l.empty(t)
	})
}

// TestP12_PlacesGoToTheClientWithTheFewest has two clients wait for a full lane.
func TestP12_PlacesGoToTheClientWithTheFewest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, refused, _ := newLane(4, 4, time.Hour)
		leaves := map[string][]func(){}
		var mu sync.Mutex
		enter := func(client string, places int) {
			go func() {
				if leave, err := l.enter(t.Context(), client, places); err == nil {
					mu.Lock()
					leaves[client] = append(leaves[client], leave)
					mu.Unlock()
				}
			}()
			synctest.Wait()
		}
		has := func(client string) int {
			mu.Lock()
			defer mu.Unlock()
			return len(leaves[client])
		}
		give := func(client string, which int) {
			mu.Lock()
			leave := leaves[client][which]
			mu.Unlock()
			leave()
		}
		for range 5 {
			enter("many", 1) // has three of the four places, two wait
		}
		enter("other", 1)
		enter("few", 1)
		enter("few", 1)
		if has("many") != 3 || has("other") != 1 || refused.Load() != 0 {
			t.Fatalf("many has %d places, other %d; %d refused", has("many"), has("other"), refused.Load())
		}
		enter("many", 1) // the queue is full: the newest of those with the most
		if refused.Load() != 1 {
			t.Fatalf("%d refused", refused.Load())
		}
		enter("new", 4) // never one of a client with fewer; it waits for the most that one client may have
		if refused.Load() != 2 || len(l.queue) != 4 {
			t.Fatalf("%d refused, %d wait", refused.Load(), len(l.queue))
		}
		give("many", 0)
		synctest.Wait()
		if has("few") != 1 {
			t.Errorf("few has %d places", has("few"))
		}
		give("many", 1)
		give("other", 0)
		synctest.Wait()
		if has("many") != 3 || has("new") != 0 { // requests of a client with more do not overtake a large one
			t.Errorf("many had %d places, new %d", has("many"), has("new"))
		}
		give("few", 0)
		synctest.Wait()
		if has("new") != 1 {
			t.Fatalf("new has no place")
		}
		give("new", 0)
		give("many", 2)
		synctest.Wait()
		if has("many") != 5 {
			t.Fatalf("many had %d places", has("many"))
		}
		give("many", 3)
		give("many", 4)
		l.empty(t)
	})
}

func TestP12_Price(t *testing.T) {
	t.Parallel()
	search, get, put := &route{class: reads, price: priceSearch}, &route{class: reads}, &route{class: writes}
	for _, c := range []struct {
		route *route
		limit string
		want  int
	}{{get, "", 1}, {get, "1000", 11}, {get, "x", 1}, {search, "", 5}, {search, "100", 6}, {search, "1000", 15}, {put, "1000", 1}} {
		q := values{}
		if c.limit != "" {
			q["limit"] = c.limit
		}
		if got := (&call{route: c.route, class: c.route.class, query: q}).price(); got != c.want {
			t.Errorf("limit %q of %v: %d places, want %d", c.limit, c.route.class, got, c.want)
		}
	}
}

func TestClientOf(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"192.0.2.7:123": "192.0.2.7", "[::ffff:192.0.2.7]:80": "192.0.2.7", "[::1]:80": "::/64",
		"[2001:db8:1:2:3::4]:80": "2001:db8:1:2::/64", "[fe80::1%eth0]:80": "fe80::/64", "@": "@", "": "",
	} {
		if got := clientOf(remote); got != want {
			t.Errorf("clientOf(%q) = %q, want %q", remote, got, want)
		}
	}
}

// TestP12_AClientHasThreeQuartersOfTheQueue has one client fill a lane: the rest of the queue stays free.
func TestP12_AClientHasThreeQuartersOfTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, refused, _ := newLane(4, 8, time.Hour)
		ctx, stop := context.WithCancel(t.Context())
		for range 20 {
			go func() { _, _ = l.enter(ctx, "many", 1) }()
		}
		synctest.Wait()
		if l.taken != 3 || len(l.queue) != 6 || refused.Load() != 11 {
			t.Errorf("%d run, %d wait, %d are refused", l.taken, len(l.queue), refused.Load())
		}
		stop()
		synctest.Wait()
	})
}
