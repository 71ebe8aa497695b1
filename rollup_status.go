// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/rollup"
)

// Rollups answers with all rollups in the order of their names.
func (s *Service) Rollups(ctx context.Context) ([]RollupStatus, error) {
	catalog, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]RollupStatus, len(catalog))
	for i, r := range catalog {
		all[i] = *s.statusOf(ctx, r)
	}
	return all, nil
}

// Rollup answers with one. The error is rollup.ErrNotFound.
func (s *Service) Rollup(ctx context.Context, name string) (*RollupStatus, error) {
	catalog, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	r, err := catalog.Rollup(name)
	if err != nil {
		return nil, err
	}
	return s.statusOf(ctx, r), nil
}

// statusOf asks all cells how a rollup stands.
func (s *Service) statusOf(ctx context.Context, r rollup.Rollup) *RollupStatus {
	st := &RollupStatus{Name: r.Name, State: RollupFollowing, Watermark: Watermark{}}
	shown := r.Serving
	if shown == nil {
		shown = r.Next
		st.State = RollupBuilding
	} else {
		st.Generation = shown.Generation
	}
	if r.Next != nil {
		st.Building = r.Next.Generation
	}
	st.Definition = shown.Definition
	ids := s.Map().Cells()
	st.Cells = make([]RollupCell, len(ids))
	abreast(len(ids), func(i int) { st.Cells[i] = s.rollupCell(ctx, ids[i], shown.Generation) })
	s.buildingOf(ctx, r, st)
	for i := range st.Cells {
		c := &st.Cells[i]
		st.Groups += c.Groups
		st.Lag = max(st.Lag, c.Lag)
		if c.State == rollup.Following || c.State == rollup.Failed {
			st.Watermark[c.Cell] = c.Watermark
		}
		if i == 0 || c.Verified.Before(st.Verified) {
			st.Verified = c.Verified
		}
		switch {
		case c.State == rollup.Failed:
			st.State = RollupFailed
		case c.Reason != "" && st.State != RollupFailed:
			st.State = RollupPartial
		}
	}
	return st
}

// buildingOf adds how far the next generation is.
func (s *Service) buildingOf(ctx context.Context, r rollup.Rollup, st *RollupStatus) {
	if r.Next == nil {
		return
	}
	cells := st.Cells
	if r.Serving != nil {
		cells = make([]RollupCell, len(st.Cells))
		abreast(len(cells), func(i int) { cells[i] = s.rollupCell(ctx, st.Cells[i].Cell, r.Next.Generation) })
	}
	for _, c := range cells {
		switch c.State {
		case rollup.Following:
			st.Built++
		case rollup.Failed:
			st.Trouble = cmp.Or(st.Trouble, c.Reason)
		}
	}
}

func (s *Service) rollupCell(ctx context.Context, id cell.ID, generation int64) RollupCell {
	ctx, cancel := context.WithTimeout(ctx, cellPatience)
	defer cancel()
	c := RollupCell{Cell: id}
	err := s.rollups(id).View(ctx, func(tx rollup.Tx) error {
		at, err := rollup.StandingOf(ctx, tx, generation)
		if errors.Is(err, rollup.ErrGone) {
			return nil // not built there yet
		}
		if err == nil {
			c = RollupCell{
				Cell: id, State: at.State, Watermark: at.Watermark, Last: at.Last, Lag: at.Lag(s.opts.Now()), Groups: at.Groups,
				Owner: at.Owner, Token: at.Token, Verified: at.Verified, Reason: at.Reason,
			}
		}
		return err
	})
	if err != nil {
		c.Reason = "the cell does not answer"
		s.opts.Logger.Warn("cell does not answer", "cell", id, "err", err)
	}
	return c
}

// current reads the catalogue anew.
func (s *Service) current(ctx context.Context) (rollup.Catalog, error) {
	catalog, err := s.follow.readCatalog(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: the catalogue of rollups: %w", ErrUnavailable, err)
	}
	return slices.DeleteFunc(catalog, func(r rollup.Rollup) bool { return r.Dropped() }), nil
}

// Applied is how many changes the followers in this process have counted since it started.
func (s *Service) Applied() int64 { return s.follow.applied.Load() }
