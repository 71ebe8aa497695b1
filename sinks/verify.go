// SPDX-License-Identifier: Apache-2.0

package sinks

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/internal/running"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/storage"
)

// Errors of Verify.
var (
	// ErrUnreadable means that targets of this kind cannot be read.
	ErrUnreadable = problem.Class(problem.ErrConflict,
		"locus: this target cannot be verified: to deliver everything again, delete the sink and create it again")
	// ErrPaused means that a sink is paused, so that nothing is delivered.
	ErrPaused = problem.Class(problem.ErrConflict, "locus: the sink is paused: resume it first")
)

const (
	// caughtUp is how long a sink may take to deliver pending changes before differences are reported anyway.
	caughtUp = 10 * time.Second
	// lookEvery is how often its progress is read.
	lookEvery = 200 * time.Millisecond
)

// Verify compares the target of a sink with the current state of every id, while both change. With repair, differing
// ids are delivered again and compared once more. progress is called now and then, and may be nil. The error is
// ErrNotFound, ErrUnreadable, or ErrPaused if a paused sink is to be repaired.
func (h *Handle) Verify(ctx context.Context, name string, repair bool,
	progress func(compared int64)) (*sink.Verification, error) {
	of, err := h.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	spec, driver, err := h.spec(&of.Definition)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: the target of %s cannot be opened: %w", problem.ErrUnavailable, name, err)
	case driver.Read == nil || of.Feed == Changes:
		return nil, fmt.Errorf("%w: %s", ErrUnreadable, name)
	case repair && of.Paused:
		return nil, fmt.Errorf("%w: %s", ErrPaused, name)
	}
	target, err := driver.Read(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("%w: the target of %s cannot be read: %w", problem.ErrUnavailable, name, err)
	}
	defer func() { _ = target.Close() }() // nothing was written
	v := &sink.Verifying{
		Source: h.changes.Source(), Target: target, Kind: of.Kind, Progress: progress,
		CaughtUp: func(ctx context.Context) (bool, error) { return h.caughtUp(ctx, name) },
	}
	if repair {
		v.Resend = func(ctx context.Context, ids []locality.ID) error { return h.resend(ctx, name, ids) }
	}
	result, err := v.Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: verify %s: %w", problem.ErrUnavailable, name, err)
	}
	return result, nil
}

// resend lets the owner of a sink read IDs and deliver them again.
func (h *Handle) resend(ctx context.Context, name string, ids []locality.ID) error {
	return h.catalog.Update(ctx, func(tx storage.Tx) error {
		if _, err := rows.Get(ctx, tx, name); err != nil {
			return err
		}
		asked, err := running.Read[[]sink.Request](ctx, tx, askedName(name))
		if err != nil {
			return err
		}
		for _, id := range ids {
			asked = append(asked, sink.Request{ID: id, Resend: true})
		}
		return running.Put(ctx, tx, askedName(name), asked)
	})
}

// caughtUp waits until a sink has delivered the requested ids, and everything up to the current ends of the logs. It
// reports whether that happened in time.
func (h *Handle) caughtUp(ctx context.Context, name string) (bool, error) {
	tail, err := h.changes.Source().Tail(ctx)
	if err != nil {
		return false, fmt.Errorf("read where the logs end: %w", err)
	}
	for until := time.Now().Add(caughtUp); ; {
		var s stored
		var asked []sink.Request
		if err := h.catalog.View(ctx, func(tx storage.Tx) (err error) {
			s, _, asked, err = readRows(ctx, tx, name)
			return err
		}); err != nil {
			return false, err
		}
		reached := len(asked) == 0 && len(s.Position.Again) == 0 && s.Position.Installation != ""
		for id, end := range tail {
			if at := s.Position.Cells[id]; reached && (!at.Filled || at.At < end) {
				reached = false
				if at.Filled { // a log may end without a change
					further, err := h.changes.Source().Changes(ctx, id, at.At, 1)
					reached = err == nil && len(further) == 0
				}
			}
		}
		if reached || time.Now().After(until) {
			return reached, nil
		}
		engine.Sleep(ctx, lookEvery, nil)
		if err := ctx.Err(); err != nil {
			return false, err
		}
	}
}
