// SPDX-License-Identifier: Apache-2.0

package running_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/running"
)

// worker runs until its context ends, or until it is told to fail.
type worker struct {
	name   string
	events chan<- string
	failed chan error
}

func (w *worker) Run(ctx context.Context) error {
	w.events <- "runs " + w.name
	select {
	case <-ctx.Done():
		return nil
	case err := <-w.failed:
		return err
	}
}

// world has the definitions, and records the events of runners.
type world struct {
	wake chan struct{}

	mu     sync.Mutex
	wanted []running.Wanted[string]
	stale  bool
	made   map[string]*worker
	events chan string
}

func (w *world) define(wanted ...running.Wanted[string]) {
	w.mu.Lock()
	w.wanted = wanted
	w.mu.Unlock()
	engine.Wake(w.wake)
}

func (w *world) start() *running.Runners[string, *worker] {
	return running.Start(running.Options[string, *worker]{
		List: func(context.Context) ([]running.Wanted[string], error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return slices.Clone(w.wanted), nil
		},
		Wake: w.wake,
		New: func(name string) *worker {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.made[name] = &worker{name, w.events, make(chan error, 1)}
			return w.made[name]
		},
		Failed: func(_ context.Context, of running.Wanted[string], err error) {
			w.events <- "failed " + of.Name + ": " + err.Error()
		},
		Ended: func(name string, _ *worker) { w.events <- "ended " + name },
		Stale: func(context.Context) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			is := w.stale
			w.stale = false
			return is
		},
	})
}

func TestRunners_FollowTheDefinitions(t *testing.T) {
	t.Parallel()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	w := &world{wake: make(chan struct{}, 1), made: map[string]*worker{}, events: make(chan string, 10)}
	r := w.start()
	expect := func(events ...string) {
		t.Helper()
		for _, want := range events {
			select {
			case got := <-w.events:
				if got != want {
					t.Fatalf("%s, want %s", got, want)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("nothing happens, want %s", want)
			}
		}
	}
	a, b := running.Wanted[string]{Name: "a", Revision: 1, Definition: "a"}, running.Wanted[string]{Name: "b", Revision: 2,
		Definition: "b"}
	w.define(a)
	expect("runs a")
	w.define(a, b)
	expect("runs b")
	a.Revision = 3
	w.define(a, b)
	expect("ended a", "runs a")
	w.define(a)
	expect("ended b")
	w.mu.Lock()
	w.made["a"].failed <- errors.New("no target")
	w.mu.Unlock()
	expect("failed a: no target")
	w.define(a) // it is started again as long as its definition exists
	expect("ended a", "runs a")
	w.mu.Lock()
	w.stale = true
	w.mu.Unlock()
	w.define(a)
	expect("ended a", "runs a")
	var names []string
	r.Each(func(name string, _ *worker) { names = append(names, name) })
	if !slices.Equal(names, []string{"a"}) {
		t.Errorf("running: %v", names)
	}
	r.Stop()
	expect("ended a")
}
