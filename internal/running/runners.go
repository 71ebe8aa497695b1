// SPDX-License-Identifier: Apache-2.0

package running

import (
	"context"
	"sync"
	"time"

	"github.com/locus-db/locus/internal/engine"
)

const (
	// ttl is how long an owner may be silent before another process takes over.
	ttl = 5 * time.Second
	// every is how often the definitions are read.
	every = time.Second
)

// Runner does the work of one definition until the context ends, or until it cannot go on.
type Runner interface {
	Run(ctx context.Context) error
}

// Wanted is a definition that is not paused.
type Wanted[D any] struct {
	Name       string
	Revision   int64 // another one needs another runner
	Definition D
}

// Options are the definitions to run, and how to run them.
type Options[D any, R Runner] struct {
	// List reads the definitions. If it fails, the runners continue, and Unread gets the first error.
	List   func(ctx context.Context) ([]Wanted[D], error)
	Unread func(err error)
	// Wake is signalled when the definitions may have changed.
	Wake <-chan struct{}
	// New makes the runner of a definition.
	New func(D) R
	// Failed is called at once when a runner has ended with an error.
	Failed func(ctx context.Context, w Wanted[D], err error)
	// Ended is called when a runner has ended, before another takes its place. It never runs concurrently with the
	// calls of Each.
	Ended func(name string, r R)
	// Stale reports whether all runners have to begin again, nil never. It is called after definitions were read, if
	// there are any.
	Stale func(ctx context.Context) bool
}

// Runners has a runner for each definition.
type Runners[D any, R Runner] struct {
	o      Options[D, R]
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	running map[string]*running[R]
}

type running[R Runner] struct {
	revision int64
	runner   R
	cancel   context.CancelFunc
	ended    chan struct{}
}

// Start begins to run.
func Start[D any, R Runner](o Options[D, R]) *Runners[D, R] {
	ctx, cancel := context.WithCancel(context.Background())
	m := &Runners[D, R]{o: o, cancel: cancel, running: map[string]*running[R]{}}
	m.done.Go(func() { m.run(ctx) })
	return m
}

// Stop ends all runners and waits for that.
func (m *Runners[D, R]) Stop() {
	m.cancel()
	m.done.Wait()
}

// Each calls fn for every runner.
func (m *Runners[D, R]) Each(fn func(name string, r R)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, r := range m.running {
		fn(name, r.runner)
	}
}

func (m *Runners[D, R]) run(ctx context.Context) {
	all := func(string, *running[R]) bool { return true }
	failed := false
	for ctx.Err() == nil {
		wanted, err := m.o.List(ctx)
		if err == nil {
			m.review(ctx, wanted)
		} else if !failed && ctx.Err() == nil {
			m.o.Unread(err)
		}
		failed = err != nil
		if m.o.Stale != nil && len(wanted) > 0 && m.o.Stale(ctx) {
			m.end(all)
		}
		engine.Sleep(ctx, every, m.o.Wake)
	}
	m.end(all)
}

// review ends and starts runners as the definitions say.
func (m *Runners[D, R]) review(ctx context.Context, wanted []Wanted[D]) {
	revisions := make(map[string]int64, len(wanted))
	for _, w := range wanted {
		revisions[w.Name] = w.Revision
	}
	m.end(func(name string, r *running[R]) bool {
		revision, is := revisions[name]
		return !is || revision != r.revision || r.over()
	})
	for _, w := range wanted {
		m.mu.Lock()
		_, runs := m.running[w.Name]
		m.mu.Unlock()
		if !runs {
			m.start(ctx, w)
		}
	}
}

func (r *running[R]) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

func (m *Runners[D, R]) start(ctx context.Context, w Wanted[D]) {
	ctx, cancel := context.WithCancel(ctx)
	r := &running[R]{revision: w.Revision, runner: m.o.New(w.Definition), cancel: cancel, ended: make(chan struct{})}
	m.mu.Lock()
	m.running[w.Name] = r
	m.mu.Unlock()
	m.done.Go(func() {
		defer close(r.ended)
		if err := r.runner.Run(ctx); err != nil {
			m.o.Failed(ctx, w, err)
		}
	})
}

// end ends runners and waits for that.
func (m *Runners[D, R]) end(which func(name string, r *running[R]) bool) {
	m.mu.Lock()
	ending := map[string]*running[R]{}
	for name, r := range m.running {
		if which(name, r) {
			ending[name] = r
			r.cancel()
		}
	}
	m.mu.Unlock()
	for name, r := range ending {
		<-r.ended
		m.mu.Lock()
		m.o.Ended(name, r.runner)
		delete(m.running, name)
		m.mu.Unlock()
	}
}
