// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/rollup"
)

// DefineRollup makes a rollup, or gives one another definition, which is built beside the one that serves
// and then takes its place. changed is false if that is the definition already. The error is a
// *rollup.InvalidError with everything that is wrong.
func (s *Service) DefineRollup(ctx context.Context, d rollup.Definition) (status *RollupStatus, changed bool, err error) {
	schema := s.Schema(d.Kind)
	if schema == nil {
		schema = s.Schema("") // whose name the definition is told
	}
	kind := rollup.Kind{Name: schema.Kind, Many: map[string]bool{}}
	for _, a := range schema.Attributes {
		kind.Many[a.Name] = a.Many
	}
	if d, err = d.Check(kind); err != nil {
		return nil, false, err
	}
	if d.Store == rollup.InMongoDB && s.opts.Documents == nil {
		return nil, false, &rollup.InvalidError{Problems: []rollup.Problem{{
			Field: "store", Text: "this installation has no MongoDB: start Locus with --mongodb, or leave store: mongodb out",
		}}}
	}
	r, err := s.alterCatalog(ctx, func(tx rollup.Tx) (r rollup.Rollup, err error) {
		r, changed, err = rollup.Define(ctx, tx, d, s.opts.Now())
		return r, err
	})
	if err != nil {
		return nil, false, fmt.Errorf("define rollup %s: %w", d.Name, err)
	}
	return s.statusOf(ctx, r), changed, nil
}

// RebuildRollup counts a rollup anew, beside the generation that serves, and has the new one take its place.
// It returns once that is under way; Rollup tells how far it is. The error is rollup.ErrNotFound.
func (s *Service) RebuildRollup(ctx context.Context, name string) (*RollupStatus, error) {
	r, err := s.alterCatalog(ctx, func(tx rollup.Tx) (rollup.Rollup, error) {
		return rollup.Rebuild(ctx, tx, name, s.opts.Now())
	})
	if err != nil {
		return nil, err
	}
	return s.statusOf(ctx, r), nil
}

// DropRollup removes a rollup. The error is rollup.ErrNotFound.
func (s *Service) DropRollup(ctx context.Context, name string) error {
	_, err := s.alterCatalog(ctx, func(tx rollup.Tx) (rollup.Rollup, error) {
		return rollup.Rollup{}, rollup.Drop(ctx, tx, name)
	})
	return err
}

// alterCatalog changes the catalogue, and has everybody in this process know.
func (s *Service) alterCatalog(ctx context.Context, change func(rollup.Tx) (rollup.Rollup, error)) (r rollup.Rollup, err error) {
	if err := s.changes(); err != nil {
		return r, err
	}
	err = s.rollups(s.Map().Authority()).Update(ctx, func(tx rollup.Tx) error {
		r, err = change(tx)
		return err
	})
	if err != nil {
		return r, err
	}
	if err := s.follow.refresh(ctx); err == nil {
		s.follow.poke()
	}
	poke(s.follow.wake)
	return r, nil
}

// VerifyRollup recomputes a rollup in every cell, one after the other, while everything goes on, and hands
// what it found to each. counted, if it is not nil, is told how far it is in a cell.
func (s *Service) VerifyRollup(ctx context.Context, name string, each func(RollupVerification) error, counted func(cell.ID, int)) error {
	return s.verify(ctx, name, !s.passive(), each, counted)
}

// verify is VerifyRollup that notes in cells where nothing differs that this is so, if it is to.
func (s *Service) verify(ctx context.Context, name string, note bool, each func(RollupVerification) error, counted func(cell.ID, int)) error {
	// Whoever was told just now that another generation serves means that one.
	if err := s.follow.refresh(ctx); err != nil {
		return err
	}
	for _, id := range s.Map().Cells() {
		v, err := s.verifyServing(ctx, id, name, note, counted)
		if err != nil {
			return fmt.Errorf("verify rollup %s in cell %v: %w", name, id, err)
		}
		if err := each(RollupVerification{id, v}); err != nil {
			return err
		}
	}
	return nil
}

// verifyServing verifies the generation that serves; if another one takes its place meanwhile, that one.
func (s *Service) verifyServing(ctx context.Context, id cell.ID, name string, note bool, counted func(cell.ID, int)) (*rollup.Verification, error) {
	deadline, cancel := context.WithTimeoutCause(ctx, readPatience, rollup.ErrBehind)
	defer cancel()
	for {
		serving, err := s.serving(ctx, deadline, name)
		if err != nil {
			return nil, err
		}
		v, err := s.verifyCell(ctx, id, serving.Generation, note, counted)
		if !errors.Is(err, rollup.ErrGone) || s.waitABit(deadline) != nil {
			return v, err
		}
		if err := s.follow.refresh(ctx); err != nil {
			return nil, err
		}
	}
}

// verifyCell recomputes a generation in one cell, and notes that it is right if it is.
func (s *Service) verifyCell(ctx context.Context, id cell.ID, generation int64, note bool, counted func(cell.ID, int)) (v *rollup.Verification, err error) {
	v, err = s.rollups(id).Verify(ctx, generation, func(n int) {
		if counted != nil {
			counted(id, n)
		}
	})
	if err != nil {
		return nil, err
	}
	if v.Differs > 0 {
		s.opts.Logger.Error("a rollup differs from its recomputation", "cell", id, "generation", generation, "rows", v.Differs)
		return v, nil
	}
	if !note {
		return v, nil
	}
	return v, s.rollups(id).Update(ctx, func(tx rollup.Tx) error {
		return rollup.Verified(ctx, tx, generation, s.opts.Now())
	})
}

// ExplainRollup answers with the latest changes that touched a group, as far as the log goes back, at most
// limit of each cell, the latest last.
func (s *Service) ExplainRollup(ctx context.Context, name string, group []string, limit int) ([]RollupEffect, error) {
	limit, err := checkLimit(limit)
	if err != nil {
		return nil, err
	}
	catalog, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	r, err := catalog.Rollup(name)
	if err != nil {
		return nil, err
	}
	version := r.Serving
	if version == nil {
		version = r.Next
	}
	d := &version.Definition
	if len(group) != len(d.Group) {
		return nil, &InvalidError{[]Problem{{"/group", "invalid", fmt.Sprintf("rollup %s groups by %v: want %d values", name, d.Group, len(d.Group))}}}
	}
	ids := s.Map().Cells()
	effects, errs := make([][]rollup.Effect, len(ids)), make([]error, len(ids))
	abreast(len(ids), func(i int) { effects[i], errs[i] = s.explainCell(ctx, ids[i], d, group, limit) })
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var all []RollupEffect
	for i, of := range effects {
		for _, e := range of {
			all = append(all, RollupEffect{ids[i], e})
		}
	}
	slices.SortStableFunc(all, func(a, b RollupEffect) int { return a.Time.Compare(b.Time) })
	return all, nil
}

// explainCell reads the log of a cell from its end, a portion at a time, until there are enough effects.
func (s *Service) explainCell(ctx context.Context, id cell.ID, d *rollup.Definition, group []string, limit int) (latest []rollup.Effect, err error) {
	before := changelog.Seq(0)
	for more := true; more && len(latest) < limit; {
		var page []rollup.Effect
		if err := s.rollups(id).View(ctx, func(tx rollup.Tx) (err error) {
			page, before, more, err = rollup.Explain(ctx, tx, d, group, before)
			return err
		}); err != nil {
			return nil, fmt.Errorf("explain rollup %s in cell %v: %w", d.Name, id, err)
		}
		latest = append(page, latest...)
	}
	return latest[max(0, len(latest)-limit):], nil
}
