// SPDX-License-Identifier: Apache-2.0

package rollups

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/rollup"
)

const (
	// readPatience is how long a read waits for a watermark, or for a generation to be built.
	readPatience = 5 * time.Second
	// readPoll is how often it checks.
	readPoll = 3 * time.Millisecond
)

// Query reads groups. The error is rollup.ErrNotFound if the rollup does not exist or, for a query of one group,
// if that group is empty; rollup.ErrBuilding if the rollup has never been complete; rollup.ErrBehind if it did
// not reach the watermark in time; changelog.ErrTrimmed for a watermark of a lost history.
func (h *Handle) Query(ctx context.Context, name string, q Query) (*Answer, error) {
	limit, err := engine.Limit(max(q.Limit, q.Top))
	if err != nil {
		return nil, err
	}
	patience := q.Patience
	if patience == 0 {
		patience = readPatience
	}
	r := &reading{engine: h.engine, name: name, q: q, asked: q.Min, limit: limit}
	r.deadline, r.cancel = context.WithTimeoutCause(ctx, patience, rollup.ErrBehind)
	defer r.cancel()
	if q.Latest {
		tail, err := h.changes.Tail(ctx, nil)
		if err != nil && !q.Partial {
			return nil, err
		}
		r.q.Min = q.Min.Union(tail)
	}
	for id := range r.q.Min {
		if err := h.engine.CheckCell(ctx, id); err != nil {
			return nil, fmt.Errorf("watermark: %w", err)
		}
	}
	for {
		serving, err := h.serving(ctx, r.deadline, name)
		if err != nil {
			return nil, err
		}
		answer, frozenFor, err := r.read(ctx, serving)
		switch {
		case errors.Is(err, rollup.ErrGone):
			// Another generation serves, or a cell was added and does not have this one yet.
			if err := r.wait(err); err != nil {
				return nil, err
			}
		case !frozenFor:
			return answer, err
		}
		if err := h.follow.catalog.refresh(ctx); err != nil {
			return nil, fmt.Errorf("%w: the catalogue of rollups: %w", engine.ErrUnavailable, err)
		}
		// A frozen generation is further back than the one that replaces it, which others may have read.
		if catalog, _ := h.follow.catalog.known(); frozenFor && catalog.Serves(serving.Generation) {
			return answer, err
		}
	}
}

// serving returns the serving version of a rollup. It waits if the rollup is new.
func (h *Handle) serving(ctx, deadline context.Context, name string) (*rollup.Version, error) {
	for fresh := false; ; fresh = true {
		catalog, known := h.follow.catalog.known()
		if !known || fresh {
			if err := h.follow.catalog.refresh(ctx); err != nil {
				return nil, fmt.Errorf("%w: the catalogue of rollups: %w", engine.ErrUnavailable, err)
			}
			catalog, _ = h.follow.catalog.known()
		}
		r, err := catalog.Rollup(name)
		switch {
		case err != nil && fresh:
			return nil, err
		case err == nil && r.Serving != nil:
			return r.Serving, nil
		case err == nil:
			if waitABit(deadline) != nil {
				return nil, fmt.Errorf("rollup %s: %w: see its state", name, rollup.ErrBuilding)
			}
		}
	}
}

func waitABit(ctx context.Context) error {
	engine.Sleep(ctx, readPoll, nil)
	return context.Cause(ctx)
}

type reading struct {
	engine   *engine.Engine
	name     string
	q        Query
	asked    changelog.Watermark // by the caller; Min of q contains it
	limit    int
	deadline context.Context //nolint:containedctx // the end of the patience, beside the caller's context
	cancel   context.CancelFunc
}

func (r *reading) wait(why error) error {
	switch err := waitABit(r.deadline); {
	case err == nil:
		return nil
	case errors.Is(err, rollup.ErrBehind) && errors.Is(why, rollup.ErrGone):
		return fmt.Errorf("rollup %s: %w: %w", r.name, rollup.ErrBuilding, why)
	case errors.Is(err, rollup.ErrBehind):
		return why
	default:
		return fmt.Errorf("%w: %w", problem.ErrOverloaded, err)
	}
}

// read returns the groups of a generation. yields reports that it is frozen for another one in some cell.
func (r *reading) read(ctx context.Context, serving *rollup.Version) (a *Answer, frozenFor bool, err error) {
	d := &serving.Definition
	q := rollup.Query{Generation: serving.Generation, After: r.q.After, Limit: r.limit}
	switch {
	case r.q.Group != nil && len(r.q.Group) != len(d.Group), r.q.After != nil && len(r.q.After) != len(d.Group):
		return nil, false, problem.Invalid("/group", "invalid", "rollup %s groups by %v: want %d values", d.Name, d.Group,
			len(d.Group))
	case r.q.Group != nil:
		q.Keys, q.After = [][]string{r.q.Group}, nil
	case r.q.Top > 0:
		m, known := d.Measure(r.q.By)
		if !known || m.Func != rollup.Count && m.Func != rollup.Sum && m.Func != rollup.Avg {
			return nil, false, problem.Invalid("/by", "invalid", "rollup %s has no count, sum or avg %.64q to order by",
				d.Name, r.q.By)
		}
		q.After, q.Limit, q.Plain = nil, 0, true
	}
	parts, missing, err := r.parts(ctx, q)
	if err != nil {
		return nil, false, err
	}
	a = &Answer{
		Name: d.Name, Definition: *d, Generation: serving.Generation, State: Following, Watermark: changelog.Watermark{},
		Missing: missing,
	}
	if len(missing) > 0 {
		a.State = Partial
	}
	a.stand(parts, r.engine.Now())
	read := make([]*rollup.Part, 0, len(parts))
	for _, p := range parts {
		read = append(read, p)
		frozenFor = frozenFor || p.Standing.FrozenFor != 0
	}
	merged := r.limit
	if r.q.Top > 0 {
		merged = 0
	}
	var more bool
	a.Groups, more = rollup.Merge(d, read, merged)
	switch {
	case r.q.Top > 0:
		a.Groups = rollup.Largest(a.Groups, r.q.By, r.limit)
	case r.q.Group != nil && len(a.Groups) == 0 && len(missing) == 0:
		return nil, frozenFor, fmt.Errorf("rollup %s: group %q: %w", d.Name, r.q.Group, rollup.ErrNotFound)
	case more && len(a.Groups) > 0:
		a.Next = a.Groups[len(a.Groups)-1].Group
	}
	if a.Groups == nil {
		a.Groups = []rollup.Group{}
	}
	return a, frozenFor, nil
}

// stand sets the position and the age of the answer.
func (a *Answer) stand(parts map[cell.ID]*rollup.Part, now time.Time) {
	a.AsOf = now.UTC().Truncate(time.Millisecond)
	first := true
	for id, p := range parts {
		at := p.Standing
		a.Watermark[id] = at.Watermark
		if lag := at.Lag(now); lag >= a.Lag && lag > 0 {
			a.Lag, a.AsOf = lag, at.At
		}
		if at.State == rollup.Failed {
			a.State = Failed
		}
		if first || at.Verified.Before(a.Verified) {
			a.Verified = at.Verified
		}
		first = false
	}
}

// parts reads the cells in parallel, each once it has reached the requested watermark. missing are the unavailable cells
// that the query allows for; it fails if these are all.
func (r *reading) parts(ctx context.Context,
	q rollup.Query) (parts map[cell.ID]*rollup.Part, missing []cell.ID, err error) {
	err = r.engine.Whole(ctx, func(ids []cell.ID) error {
		read, unavailable := make([]*rollup.Part, len(ids)), make([]error, len(ids))
		if err := r.engine.Parallel(ids, func(i int, id cell.ID) (err error) {
			if read[i], err = r.part(ctx, id, q); err != nil {
				err = fmt.Errorf("cell %v: %w", id, err)
			}
			if r.q.Partial && errors.Is(err, cell.ErrUnavailable) {
				unavailable[i], err = err, nil
			}
			return err
		}); err != nil {
			return err
		}
		parts, missing = make(map[cell.ID]*rollup.Part, len(ids)), nil
		for i, id := range ids {
			if unavailable[i] != nil {
				missing = append(missing, id)
			} else {
				parts[id] = read[i]
			}
		}
		if len(parts) == 0 {
			return unavailable[0]
		}
		return nil
	})
	return parts, missing, err
}

func (r *reading) part(ctx context.Context, id cell.ID, q rollup.Query) (*rollup.Part, error) {
	asked := r.asked[id]
	for ; ; asked = 0 {
		p, err := database(r.engine, id).Read(ctx, q, func(tx rollup.Tx) error {
			if asked == 0 {
				return nil
			}
			return changelog.CheckReached(ctx, tx, asked)
		})
		if err != nil {
			return nil, err
		}
		least, at := r.q.Min[id], p.Standing
		switch {
		case at.Watermark >= least:
			return p, nil
		case at.FrozenFor != 0:
			return nil, fmt.Errorf("%w: it is frozen at %d for generation %d", rollup.ErrGone, at.Watermark, at.FrozenFor)
		case at.State == rollup.Failed:
			return nil, fmt.Errorf("%w: it is stalled at %d: %s", rollup.ErrBehind, at.Watermark, at.Reason)
		}
		behind := fmt.Errorf("%w: it is at %d, the requested watermark at %d", rollup.ErrBehind, at.Watermark, least)
		if err := r.wait(behind); err != nil {
			return nil, err
		}
	}
}
