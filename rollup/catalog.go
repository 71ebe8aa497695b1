// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Catalog holds all rollups of an installation as read from the cell that keeps the cell map. It only moves
// forward: a generation that is no longer named is never named again.
type Catalog []Rollup

// Highest returns the highest generation number ever used. A generation with a higher number is newer than this
// catalogue.
func (c Catalog) Highest() int64 {
	var highest int64
	for _, r := range c {
		highest = max(highest, r.Last)
	}
	return highest
}

// Rollup returns a rollup by name, or ErrNotFound if it does not exist or was dropped.
func (c Catalog) Rollup(name string) (Rollup, error) {
	i := slices.IndexFunc(c, func(r Rollup) bool { return r.Name == name && !r.Dropped() })
	if i < 0 {
		return Rollup{}, fmt.Errorf("rollup %.64q: %w", name, ErrNotFound)
	}
	return c[i], nil
}

// Serves reports whether a generation answers reads.
func (c Catalog) Serves(generation int64) bool {
	return slices.ContainsFunc(c, func(r Rollup) bool { return r.Serving != nil && r.Serving.Generation == generation })
}

// versions returns all serving and next versions by generation number.
func (c Catalog) versions() map[int64]Version {
	all := map[int64]Version{}
	for _, r := range c {
		for _, v := range []*Version{r.Serving, r.Next} {
			if v != nil {
				all[v.Generation] = *v
			}
		}
	}
	return all
}

// Define adds a checked definition to the catalogue, in an update of the cell that keeps it. Defining the same
// definition again changes nothing. A different definition under an existing name is built while the old one serves,
// and then replaces it.
func Define(ctx context.Context, s Store, d Definition, now time.Time) (r Rollup, changed bool, err error) {
	return alter(ctx, s, d.Name, now, func(r *Rollup) *Definition {
		if newest := r.Newest(); newest != nil && newest.Definition.Equal(d) {
			return nil
		}
		return &d
	})
}

// Rebuild requests a new generation with the rollup's newest definition. The error is ErrNotFound if the rollup
// does not exist.
func Rebuild(ctx context.Context, s Store, name string, now time.Time) (Rollup, error) {
	found := false
	r, _, err := alter(ctx, s, name, now, func(r *Rollup) *Definition {
		newest := r.Newest()
		if found = newest != nil; !found {
			return nil
		}
		return &newest.Definition
	})
	if err == nil && !found {
		err = fmt.Errorf("rollup %.64q: %w", name, ErrNotFound)
	}
	return r, err
}

// alter adds a next version with the definition that next returns; nil changes nothing.
func alter(ctx context.Context, s Store, name string, now time.Time,
	next func(*Rollup) *Definition) (Rollup, bool, error) {
	all, err := s.Rollups(ctx)
	if err != nil {
		return Rollup{}, false, err
	}
	r := Rollup{Name: name}
	if i := slices.IndexFunc(all, func(r Rollup) bool { return r.Name == name }); i >= 0 {
		r = all[i]
	}
	d := next(&r)
	if d == nil {
		return r, false, nil
	}
	r.Last = Catalog(all).Highest() + 1
	r.Next = &Version{Generation: r.Last, Definition: *d, Since: now.UTC().Truncate(time.Millisecond)}
	return r, true, s.PutRollup(ctx, r)
}

// CutOver makes the next generation of a rollup serve. The generation must be built and caught up in every cell:
// see Freeze. It reports whether the generation was still the next one.
func CutOver(ctx context.Context, s Store, name string, generation int64) (bool, error) {
	all, err := s.Rollups(ctx)
	if err != nil {
		return false, err
	}
	r, err := Catalog(all).Rollup(name)
	if err != nil || r.Next == nil || r.Next.Generation != generation {
		return false, nil //nolint:nilerr // it was dropped in between
	}
	r.Serving, r.Next = r.Next, nil
	return true, s.PutRollup(ctx, r)
}

// Drop removes a rollup but keeps its name and last generation number. The error is ErrNotFound if it does not
// exist.
func Drop(ctx context.Context, s Store, name string) error {
	all, err := s.Rollups(ctx)
	if err != nil {
		return err
	}
	r, err := Catalog(all).Rollup(name)
	if err != nil {
		return err
	}
	r.Serving, r.Next = nil, nil
	return s.PutRollup(ctx, r)
}
