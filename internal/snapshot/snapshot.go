// SPDX-License-Identifier: Apache-2.0

// Package snapshot reads all cells of an installation as they were at one moment, while writes go on.
package snapshot

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/storage"
)

// attempts is how often snapshots are opened again because other processes have put records that are not resolved.
const attempts = 5

// openPatience is how long all snapshots together may take to open, while writes wait.
const openPatience = 10 * time.Second

// errAgain closes snapshots that show unfinished work.
var errAgain = errors.New("snapshot: records are being resolved")

// Reading are options of Read.
type Reading struct {
	// Still blocks all writes to the cells while their snapshots are opened, including writes of counters and rollups.
	// Without it only the resolution of records waits. It is for a directory, which a single process uses.
	Still bool
	// Opened is called once all snapshots are open, before any is scanned. It may be nil.
	Opened func(*Opened) error
	// Scan reads a cell. Several cells are scanned at once. The transaction sees the cell at the moment when all
	// snapshots were opened.
	Scan func(ctx context.Context, id cell.ID, tx storage.Tx) error
}

// Opened describes snapshots.
type Opened struct {
	// Watermark is the end of each cell's log.
	Watermark changelog.Watermark
	// Waiting is how many records wait for their resolution: 0 unless other processes put records all the time.
	Waiting int
}

// Read opens a snapshot of every cell between two batches, when no record waits for resolution, and scans the snapshots
// while writes continue.
func Read(ctx context.Context, e *engine.Engine, r Reading) (*Opened, error) {
	for n := 1; ; n++ {
		s := &snapshots{Reading: r, engine: e, opened: Opened{Watermark: changelog.Watermark{}}}
		err := s.once(ctx, n == attempts)
		if !errors.Is(err, errAgain) {
			return &s.opened, err
		}
	}
}

// snapshots are read transactions of all cells, opened together.
type snapshots struct {
	Reading
	engine *engine.Engine

	mu     sync.Mutex
	opened Opened
}

// once is one attempt. The error is errAgain if records wait, unless it is the last attempt.
func (s *snapshots) once(ctx context.Context, last bool) error {
	if err := s.engine.Refresh(ctx); err != nil {
		return err
	}
	ids := s.engine.Map().Cells()
	group, ctx := errgroup.WithContext(ctx)
	begin := make(chan struct{})
	open := func() error {
		late := time.NewTimer(openPatience)
		defer late.Stop()
		all := func(do func(id cell.ID, ready chan<- struct{}) error) error {
			return together(ctx, group, ids, late.C, do)
		}
		if s.Still {
			release := make(chan struct{})
			defer close(release)
			if err := all(func(id cell.ID, ready chan<- struct{}) error { return s.hold(ctx, id, ready, release) }); err != nil {
				return err
			}
		}
		if err := all(func(id cell.ID, ready chan<- struct{}) error { return s.one(ctx, id, ready, begin) }); err != nil {
			return err
		}
		if s.opened.Waiting > 0 && !last {
			return errAgain
		}
		return nil
	}
	settled := func() error { return s.engine.Resolver.Settled(ctx, open) }
	if s.engine.Passive {
		settled = open
	}
	err := settled()
	if err == nil && s.Opened != nil {
		err = s.Opened(&s.opened)
	}
	if err != nil {
		group.Go(func() error { return err })
		return group.Wait()
	}
	close(begin)
	return group.Wait()
}

// together starts do for each cell, and returns once all are ready, or too late.
func together(ctx context.Context, group *errgroup.Group, ids []cell.ID, late <-chan time.Time,
	do func(id cell.ID, ready chan<- struct{}) error) error {
	ready := make(chan struct{}, len(ids))
	for _, id := range ids {
		group.Go(func() error { return do(id, ready) })
	}
	for range ids {
		select {
		case <-ready:
		case <-late:
			return fmt.Errorf("%w: the %d cells need a connection each at the same time, and did not get one within %v",
				engine.ErrUnavailable, len(ids), openPatience)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// hold has the write connection of a cell until release is closed, so that nothing is written to the cell.
func (s *snapshots) hold(ctx context.Context, id cell.ID, ready chan<- struct{}, release <-chan struct{}) error {
	held := false
	err := s.engine.Do(ctx, id, func(c storage.Cell) error {
		return c.Read(ctx, func(storage.Tx) error {
			if !held {
				held = true
				ready <- struct{}{}
			}
			select {
			case <-release:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("hold up writes to cell %v: %w", id, err)
	}
	return nil
}

// one opens a snapshot, and scans it when all are open.
func (s *snapshots) one(ctx context.Context, id cell.ID, ready chan<- struct{}, begin <-chan struct{}) error {
	opened := false
	err := s.engine.View(ctx, id, func(tx storage.Tx) error {
		if opened {
			return fmt.Errorf("%w: the connection was lost", engine.ErrUnavailable)
		}
		bounds, err := tx.Bounds(ctx)
		if err != nil {
			return err
		}
		depth, err := tx.RedoDepth(ctx)
		if err != nil {
			return err
		}
		opened = true
		s.mu.Lock()
		s.opened.Watermark[id] = bounds.Last
		s.opened.Waiting += depth
		s.mu.Unlock()
		ready <- struct{}{}
		select {
		case <-begin:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		return s.Scan(ctx, id, tx)
	})
	if err != nil {
		return fmt.Errorf("read cell %v: %w", id, err)
	}
	return nil
}
