// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/locus-db/locus/internal/protocol"
)

// Growth describes a generation of cells to add.
type Growth struct {
	// Cells is the number of cells: a multiple of the newest generation's.
	Cells uint64
	// URLs are the locations of the cells, as in Generation.URLs. Defaults to the URLs of the newest generation.
	URLs []string
}

// Progress is the progress of a Grow or Compact.
type Progress struct {
	// Step is one of the constants below.
	Step string `json:"step"`
	// Done of Total cells; for StepPostings and StepCopied, Done rows.
	Done  int `json:"done"`
	Total int `json:"total,omitempty"`
	// Generation that the step is about.
	Generation int `json:"generation"`
	// Starts is when the generation begins to take IDs, and Wait how long that is from now.
	Starts time.Time     `json:"starts,omitzero"`
	Wait   time.Duration `json:"wait_ns,omitempty"`
	// PerSecond is how many rows are copied per second.
	PerSecond float64 `json:"per_second,omitempty"`
}

// The steps of Grow and Compact.
const (
	StepCreated   = "created"   // databases of the new cells
	StepAnnounced = "announced" // the map lists the new generation
	StepWaiting   = "waiting"   // for its start
	StepCurrent   = "current"   // it takes new keys
	StepSealed    = "sealed"    // older cells take no more keys
	StepFilters   = "filters"   // older cells have filters
	StepPostings  = "postings"  // of older cells, copied into current ones (package resolve)
	StepCopied    = "copied"    // keys of older cells, into current ones
	StepFloor     = "floor"     // older cells are no longer searched for keys
	StepRetired   = "retired"   // older cells are marked retired
	StepDropped   = "dropped"   // older cells have deleted their keys
)

// String returns a short text such as "created 12/48 databases".
func (p Progress) String() string {
	switch p.Step {
	case StepCreated:
		return fmt.Sprintf("created %d/%d databases", p.Done, p.Total)
	case StepWaiting:
		return fmt.Sprintf("starts in %v", p.Wait.Round(time.Second))
	case StepAnnounced:
		return fmt.Sprintf("announced generation %d, starts at %v", p.Generation, p.Starts.Format(time.RFC3339))
	case StepCurrent:
		return fmt.Sprintf("generation %d is current", p.Generation)
	case StepFloor:
		return fmt.Sprintf("keys are looked up from generation %d on", p.Generation)
	case StepPostings:
		return fmt.Sprintf("copied %d postings, %.0f a second", p.Done, p.PerSecond)
	case StepCopied:
		return fmt.Sprintf("copied %d keys, %.0f a second", p.Done, p.PerSecond)
	}
	return fmt.Sprintf("%s %d/%d cells of generation %d", p.Step, p.Done, p.Total, p.Generation)
}

// Grow adds a generation of cells without interrupting reads or writes: no row moves, and a writer waits at most for
// the seal of its cell. It creates the databases, announces the generation, waits until it starts, makes it the current
// one, seals all older cells and builds their filters. It can be interrupted at any point, also by a crash; repeating
// the call, in any process, resumes it, and concurrent calls do the work once. A generation with the same number of
// cells at the same places is resumed. The error is ErrMap if there can be no such generation; PlanGrowth gives the
// reason and valid numbers. It is ErrConflict if another growth was announced first; the next growth takes over the
// cells that this one has created.
func Grow[T Store](ctx context.Context, c *Cells[T], g Growth, progress func(Progress)) error {
	if progress == nil {
		progress = func(Progress) {}
	}
	// Growths in one process create and announce one at a time, so that the second sees the announcement of the first.
	select {
	case c.making <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("grow: wait for another growth: %w", context.Cause(ctx))
	}
	announced := sync.OnceFunc(func() { <-c.making })
	defer announced()
	if err := c.Refresh(ctx); err != nil {
		return fmt.Errorf("grow: %w", err)
	}
	m := c.Map()
	next, g, err := m.growing(g, c.opts.Now())
	if err != nil {
		return fmt.Errorf("grow to %d cells: %w", g.Cells, err)
	}
	w := &worker[T]{cells: c, progress: progress}
	a := protocol.NewRollout(next.Generations()-1, m.view())
	for a.Next().Do != protocol.ActionDone {
		if do := a.Next().Do; do != protocol.ActionMake && do != protocol.ActionAnnounce {
			announced()
		}
		r, err := w.activate(ctx, a.Next(), g)
		if err != nil {
			return fmt.Errorf("grow to %d cells: %w", g.Cells, err)
		}
		a = a.Step(r)
	}
	return nil
}

// growing returns the map whose newest generation is the requested one: m itself, or the version after it.
func (m *Map) growing(g Growth, now time.Time) (next *Map, filled Growth, err error) {
	last := len(m.gens) - 1
	newest := m.spec.Generations[last]
	same := newest.Cells == g.Cells && (len(g.URLs) == 0 || slices.Equal(newest.URLs, g.URLs))
	if len(g.URLs) == 0 {
		g.URLs = newest.URLs
	}
	switch {
	case same && last > 0:
		return m, g, nil
	case last > m.spec.Current:
		return nil, g, m.announced(last)
	}
	next, err = m.grown(g, now)
	return next, g, err
}

// announced returns the error that another growth has announced a generation.
func (m *Map) announced(gen int) error {
	g := m.spec.Generations[gen]
	return fmt.Errorf("%w: another growth announced generation %d of %d cells at %v: finish that one first", ErrConflict,
		gen, g.Cells, g.URLs)
}

func (m *Map) grown(g Growth, now time.Time) (*Map, error) {
	if m.until == 0 {
		return nil, fmt.Errorf("%w: a map without until cannot grow: ids of any time may have been routed with it", ErrMap)
	}
	return m.successor(func(s *Spec) {
		s.Generations = append(s.Generations,
			Generation{Cells: g.Cells, URLs: g.URLs, Starts: later(wholeSecond(s.Until), wholeSecond(now))})
	})
}

// patiently calls do for a cell and retries while the cell moves or the outcome is unknown. do must be idempotent.
func (c *Cells[T]) patiently(ctx context.Context, id ID, do func(h *home[T]) error) error {
	for n := 1; ; n++ {
		h, err := c.home(id)
		if err == nil {
			err = do(h)
		}
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrMoved) && !errors.Is(err, ErrCommitUnknown) || n == retries {
			return fmt.Errorf("cell %v: %w", id, err)
		}
		if err := errors.Join(wait(ctx, n), c.Refresh(ctx)); err != nil {
			return fmt.Errorf("cell %v: %w", id, err)
		}
	}
}

func (m *Map) cells(gen int) []ID {
	ids := make([]ID, m.gens[gen].cells)
	for i := range ids {
		ids[i] = ID{Gen: uint16(gen), Index: uint32(i)}
	}
	return ids
}
