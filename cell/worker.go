// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/locus-db/locus/internal/delay"
	"github.com/locus-db/locus/internal/protocol"
)

// worker carries out the steps of a Rollout or a Compaction.
type worker[T Store] struct {
	cells    *Cells[T]
	progress func(Progress)
}

func (w *worker[T]) activate(ctx context.Context, r protocol.Request, g Growth) (protocol.Reply, error) {
	gen := int(r.Gen)
	switch r.Do {
	case protocol.ActionMake:
		return protocol.Reply{}, w.create(ctx, gen, g)
	case protocol.ActionAnnounce:
		return w.announce(ctx, gen, g)
	case protocol.ActionWait:
		return protocol.Reply{}, w.wait(ctx, gen)
	case protocol.ActionPublish:
		return w.publish(ctx, gen)
	case protocol.ActionSeal:
		return protocol.Reply{}, w.seal(ctx, r)
	default: // ActionFilter
		return protocol.Reply{}, w.all(ctx, StepFilters, gen, w.cells.buildFilter)
	}
}

// change tries to change the map, and replies with the newest map, whichever process changed it.
func (w *worker[T]) change(ctx context.Context, do func(m *Map) error) (protocol.Reply, error) {
	err := do(w.cells.Map())
	if errors.Is(err, ErrConflict) || errors.Is(err, ErrCommitUnknown) {
		err = w.cells.Refresh(ctx)
	}
	return protocol.Reply{View: w.cells.Map().view()}, err
}

func (w *worker[T]) create(ctx context.Context, gen int, g Growth) error {
	m := w.cells.Map()
	if len(m.gens) > gen {
		return nil // another process was faster; announce compares its generation with this one
	}
	next, err := m.grown(g, w.cells.opts.Now())
	if err != nil {
		return err
	}
	if err := w.cells.grows(ctx, next, gen); err != nil {
		return err
	}
	made := w.counter(Progress{Step: StepCreated, Total: int(g.Cells), Generation: gen})
	err = w.cells.ensure(ctx, next, next.cells(gen), made)
	if err != nil && w.cells.Refresh(ctx) == nil && len(w.cells.Map().gens) > gen {
		return nil // as above: the cells created so far are kept
	}
	return err
}

// ready checks that the cells of a generation belong to the map, and records the map in them. Until then another growth
// that failed to announce its own generation may have taken the cells; after that it cannot. For an unavailable cell
// the process that opens it first does this (tellFirst).
func (w *worker[T]) ready(ctx context.Context, m *Map, gen int) error {
	text, err := m.MarshalJSON()
	if err != nil {
		return err
	}
	return each(ctx, m.cells(gen), func(ctx context.Context, id ID) error {
		for n := 1; ; n++ {
			err := w.cells.create(ctx, m, id)
			if err == nil {
				err = w.cells.putCopy(ctx, id, m.Epoch(), text, true)
			}
			switch {
			case errors.Is(err, ErrUnavailable):
				return nil
			case !errors.Is(err, ErrIdentity) || n == retries: // the other growth took it between the two steps
				return err
			}
			if err := wait(ctx, n); err != nil {
				return err
			}
		}
	})
}

func (w *worker[T]) announce(ctx context.Context, gen int, g Growth) (protocol.Reply, error) {
	r, err := w.change(ctx, func(m *Map) error {
		if len(m.gens) > gen { // another process was faster, and a cell reported its map
			return nil
		}
		next, err := m.grown(g, w.cells.opts.Now())
		if err == nil {
			err = w.cells.swap(ctx, m, next)
		}
		return err
	})
	if m := w.cells.Map(); err == nil && len(m.gens) > gen {
		got := m.spec.Generations[gen]
		if got.Cells != g.Cells || !slices.Equal(got.URLs, g.URLs) {
			return r, m.announced(gen)
		}
		w.progress(Progress{Step: StepAnnounced, Generation: gen, Starts: got.Starts})
	}
	return r, err
}

// wait waits for the start of a generation, and reports the remaining time every minute.
func (w *worker[T]) wait(ctx context.Context, gen int) error {
	starts := w.cells.Map().spec.Generations[gen].Starts
	for {
		left := starts.Sub(w.cells.opts.Now())
		if left <= 0 {
			return nil
		}
		w.progress(Progress{Step: StepWaiting, Generation: gen, Starts: starts, Wait: left})
		if err := delay.For(ctx, min(left, time.Minute)); err != nil {
			return err
		}
	}
}

// publish makes a generation the current one, and reports it also if another process or the maintenance of this one was
// faster.
func (w *worker[T]) publish(ctx context.Context, gen int) (protocol.Reply, error) {
	r, err := w.change(ctx, func(m *Map) error {
		if m.spec.Current >= gen {
			return nil
		}
		if err := w.ready(ctx, m, gen); err != nil {
			return err
		}
		return w.cells.change(ctx, m, func(s *Spec) {
			s.Current = gen
			s.Until = later(s.Until, w.cells.horizon())
		})
	})
	if m := w.cells.Map(); err == nil && m.spec.Current >= gen {
		w.progress(Progress{Step: StepCurrent, Generation: gen, Starts: m.spec.Generations[gen].Starts})
	}
	return r, err
}

func (w *worker[T]) seal(ctx context.Context, r protocol.Request) error {
	return w.all(ctx, StepSealed, int(r.Gen), func(ctx context.Context, id ID) error {
		return w.advance(ctx, id, Sealed, r.Epoch)
	})
}

// advance moves a cell's key state on to at least the given one.
func (w *worker[T]) advance(ctx context.Context, id ID, to KeyState, epoch uint64) error {
	return w.cells.patiently(ctx, id, func(h *home[T]) error {
		var head Head
		if err := h.View(ctx, func(t T) (err error) { head, err = t.Head(ctx); return err }); err != nil {
			return err
		}
		if head.Home != Serving || head.Keys < to {
			if err := h.Exclusive(ctx, func(t T) (err error) {
				if head, err = t.Head(ctx); err != nil {
					return err
				}
				if head.Home != Serving {
					return fmt.Errorf("it is %v: %w", head.Home, ErrMoved)
				}
				head = head.advance(to, epoch)
				return t.SetHead(ctx, head)
			}); err != nil {
				return err
			}
		}
		w.cells.Observe(id, head)
		return nil
	})
}

// all calls do for every cell of a generation, several at a time. An error does not stop the others, so that less
// remains for the next call.
func (w *worker[T]) all(ctx context.Context, step string, gen int, do func(context.Context, ID) error) error {
	ids := w.cells.Map().cells(gen)
	done := w.counter(Progress{Step: step, Total: len(ids), Generation: gen})
	var mu sync.Mutex
	var errs []error
	if err := each(ctx, ids, func(ctx context.Context, id ID) error {
		err := do(ctx, id)
		if err == nil {
			done()
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, err)
		return nil
	}); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// counter returns a function that reports one more finished cell.
func (w *worker[T]) counter(p Progress) func() {
	var mu sync.Mutex
	return func() {
		mu.Lock()
		defer mu.Unlock()
		p.Done++
		w.progress(p)
	}
}
