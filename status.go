// SPDX-License-Identifier: Apache-2.0

package locus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve"
)

// absent turns "there is nothing at this address" into no error.
func absent(err error) error {
	if errors.Is(err, entity.ErrNotFound) || errors.Is(err, entity.ErrErased) {
		return nil
	}
	return err
}

// kindStatus says how each kind is resolved.
func (s *Service) kindStatus() []KindStatus {
	var kinds []KindStatus
	for _, k := range s.resolver.Rules().Kinds() {
		schema := k.Matcher.Schema()
		kinds = append(kinds, KindStatus{schema.Kind, schema.Version, fmt.Sprintf("%016x", k.Matcher.Pack().Hash())})
	}
	return kinds
}

// Status asks every cell. The others are reported though one does not answer; the installation is not
// ready then if it is one process's, for all of its cells are on one machine. One that is shared goes on
// without some of its cells: it is ready until none answers. Cells that take no writes are named; an installation
// in which none does is not ready.
func (s *Service) Status(ctx context.Context) (*Status, error) {
	m := s.Map()
	ids := m.Cells()
	status := &Status{
		Ready: true, Rules: Rules, Kinds: s.kindStatus(), Documents: s.Documents(),
		Epoch: m.Epoch(), Generation: m.Current(), Generations: m.Generations(), Floor: m.Floor(), Until: m.Until(),
		Cells: make([]CellStatus, len(ids)),
	}
	if s.queue != nil {
		status.Queue = s.queue.Waiting()
	}
	if c := s.resolver.Rules().Change(); c != nil {
		status.Switching, status.Switched = c.Kind, c.Records()
	}
	errs := make([]error, len(ids))
	abreast(len(ids), func(i int) {
		// One that is cut off from the network must not use up the time of the others.
		ctx, cancel := context.WithTimeout(ctx, cellPatience)
		defer cancel()
		status.Cells[i], errs[i] = s.CellStatus(ctx, ids[i])
	})
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	}
	silent, unwritable := 0, 0
	for i, c := range status.Cells {
		status.Counts = status.Counts.Add(c.Counts)
		status.Redo += c.Redo
		if errs[i] == nil && !c.Writes {
			unwritable++
			status.Reason = fmt.Sprintf("cell %v takes no writes", ids[i])
		}
		if errs[i] != nil {
			silent++
			status.Down = append(status.Down, ids[i])
			status.Reason = fmt.Sprintf("cell %v does not answer", ids[i])
			s.opts.Logger.Warn("cell does not answer", "cell", ids[i], "err", errs[i])
		}
	}
	switch {
	case silent > 1:
		status.Reason = fmt.Sprintf("%d of %d cells do not answer", silent, len(ids))
	case silent == 0 && unwritable > 1:
		status.Reason = fmt.Sprintf("%d of %d cells take no writes", unwritable, len(ids))
	}
	status.Ready = (silent == 0 || silent < len(ids) && !s.cells.Alone()) && silent+unwritable < len(ids)
	return status, nil
}

const (
	// cellsAbreast is how many cells are asked at the same time.
	cellsAbreast = 8
	// cellPatience is how long one of them may take to say how it is.
	cellPatience = 2 * time.Second
)

// abreast runs fn for 0 to n-1, several at a time.
func abreast(n int, fn func(i int)) {
	var g errgroup.Group
	g.SetLimit(cellsAbreast)
	for i := range n {
		g.Go(func() error { fn(i); return nil })
	}
	_ = g.Wait()
}

// CellStatus asks one cell. With an error it says no more than which cell, and where it is; the error
// is cell.ErrNoCell if the cell map does not list it.
func (s *Service) CellStatus(ctx context.Context, id cell.ID) (CellStatus, error) {
	if !s.Map().Has(id) {
		return CellStatus{}, fmt.Errorf("cell %v: %w", id, cell.ErrNoCell)
	}
	nothing := CellStatus{Stats: cell.Stats{Cell: id, URL: cell.Redact(s.Map().URL(id))}, Down: true}
	stats, err := s.cells.Stats(ctx, id)
	if err != nil {
		return nothing, err
	}
	c := CellStatus{Stats: stats}
	if err := s.view(ctx, id, func(tx resolve.Tx) (err error) {
		if c.Counts, err = tx.Counts(ctx); err != nil {
			return err
		}
		if c.Redo, err = tx.RedoDepth(ctx); err == nil && stats.Head.Unsettled() {
			c.Redo++ // what it lost is not worked off
		}
		return err
	}); err != nil {
		return nothing, err
	}
	err = s.cells.Writable(ctx, id)
	if c.Writes = err == nil || errors.Is(err, cell.ErrMoved); !c.Writes {
		s.opts.Logger.Warn("cell takes no writes", "cell", id, "err", err)
	}
	return c, nil
}
