// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Catalog is all rollups of an installation, as the cell that keeps the cell map had them at one moment.
// It only moves forward: a generation that it once named and names no more never comes back.
type Catalog []Rollup

// Highest is the highest number that a generation ever had. A generation with a higher one is younger
// than this catalogue.
func (c Catalog) Highest() int64 {
	var highest int64
	for _, r := range c {
		highest = max(highest, r.Last)
	}
	return highest
}

// Rollup answers with a rollup by its name; the error is ErrNotFound if there is none, or none any more.
func (c Catalog) Rollup(name string) (Rollup, error) {
	i := slices.IndexFunc(c, func(r Rollup) bool { return r.Name == name && !r.Dropped() })
	if i < 0 {
		return Rollup{}, fmt.Errorf("rollup %.64q: %w", name, ErrNotFound)
	}
	return c[i], nil
}

// Serves tells whether a generation answers reads.
func (c Catalog) Serves(generation int64) bool {
	return slices.ContainsFunc(c, func(r Rollup) bool { return r.Serving != nil && r.Serving.Generation == generation })
}

// versions are all generations that there are to be.
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

// Define enters a checked definition, in an update of the cell that keeps the catalogue. The same definition
// again changes nothing; another one under the same name is built beside the one that serves, and then
// takes its place.
func Define(ctx context.Context, s Store, d Definition, now time.Time) (r Rollup, changed bool, err error) {
	return alter(ctx, s, d.Name, now, func(r *Rollup) *Definition {
		newest := r.Serving
		if r.Next != nil {
			newest = r.Next
		}
		if newest != nil && newest.Definition.Equal(d) {
			return nil
		}
		return &d
	})
}

// Rebuild has a rollup built anew by its newest definition. The error is ErrNotFound if there is none.
func Rebuild(ctx context.Context, s Store, name string, now time.Time) (Rollup, error) {
	found := false
	r, _, err := alter(ctx, s, name, now, func(r *Rollup) *Definition {
		switch found = true; {
		case r.Next != nil:
			return &r.Next.Definition
		case r.Serving != nil:
			return &r.Serving.Definition
		}
		found = false
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("rollup %.64q: %w", name, ErrNotFound)
	}
	return r, err
}

// alter gives a rollup the next version that next answers with, if any.
func alter(ctx context.Context, s Store, name string, now time.Time, next func(*Rollup) *Definition) (Rollup, bool, error) {
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

// Promote has the next generation of a rollup serve, which is built in every cell and not behind there:
// see Yield. It answers whether that generation was still the next one.
func Promote(ctx context.Context, s Store, name string, generation int64) (bool, error) {
	all, err := s.Rollups(ctx)
	if err != nil {
		return false, err
	}
	r, err := Catalog(all).Rollup(name)
	if err != nil || r.Next == nil || r.Next.Generation != generation {
		return false, nil //nolint:nilerr // it was dropped meanwhile
	}
	r.Serving, r.Next = r.Next, nil
	return true, s.PutRollup(ctx, r)
}

// Drop removes a rollup; its name and numbers stay known. The error is ErrNotFound if there is none.
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
