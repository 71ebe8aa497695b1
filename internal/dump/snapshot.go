// SPDX-License-Identifier: Apache-2.0

package dump

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
var errAgain = errors.New("dump: records are being resolved")

// snapshots are read transactions of all cells, opened together.
type snapshots struct {
	engine *engine.Engine
	scan   func(ctx context.Context, id cell.ID, tx storage.Tx) error

	mu        sync.Mutex
	watermark changelog.Watermark
	waiting   int // records in the redo sets
}

// read opens a snapshot of every cell between two batches, when no record waits for its resolution, and scans all of
// them while writes go on. It reports how many records were waiting all the same.
func (s *snapshots) read(ctx context.Context) (waiting int, err error) {
	for n := 1; ; n++ {
		err := s.once(ctx, n == attempts)
		if !errors.Is(err, errAgain) {
			return s.waiting, err
		}
	}
}

// once is one attempt. The error is errAgain if records wait, unless it is the last attempt.
func (s *snapshots) once(ctx context.Context, last bool) error {
	if err := s.engine.Refresh(ctx); err != nil {
		return err
	}
	ids := s.engine.Map().Cells()
	s.watermark, s.waiting = changelog.Watermark{}, 0
	group, ctx := errgroup.WithContext(ctx)
	ready, begin := make(chan struct{}, len(ids)), make(chan struct{})
	open := func() error {
		late := time.NewTimer(openPatience)
		defer late.Stop()
		for _, id := range ids {
			group.Go(func() error { return s.one(ctx, id, ready, begin) })
		}
		for range ids {
			select {
			case <-ready:
			case <-late.C:
				return fmt.Errorf("%w: the %d cells need a connection each at the same time, and did not get one within %v", engine.ErrUnavailable, len(ids), openPatience)
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if s.waiting > 0 && !last {
			return errAgain
		}
		return nil
	}
	settled := func() error { return s.engine.Resolver.Settled(ctx, open) }
	if s.engine.Passive {
		settled = open
	}
	if err := settled(); err != nil {
		group.Go(func() error { return err })
		return group.Wait()
	}
	close(begin)
	return group.Wait()
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
		s.watermark[id] = bounds.Last
		s.waiting += depth
		s.mu.Unlock()
		ready <- struct{}{}
		select {
		case <-begin:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		return s.scan(ctx, id, tx)
	})
	if err != nil {
		return fmt.Errorf("dump cell %v: %w", id, err)
	}
	return nil
}
