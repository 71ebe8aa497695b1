// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus/internal/delay"
	"github.com/locus-db/locus/lease"
)

// moveLease is the lease, in the cell itself, of the process that moves it. It keeps a second mover from starting; the
// mark keeps a mover that lost the lease from writing.
const moveLease = "move"

// nextMark returns the mark of an attempt. A mark is Head.Move: MOVE.ATTEMPT, both random. Attempts at moving a cell
// out of one database share MOVE, so that one may empty a target that an earlier one has partly filled.
func nextMark(before, attempt string) string {
	move, _, ok := strings.Cut(before, ".")
	if !ok {
		move = attempt
	}
	return move + "." + attempt
}

// sameMove reports whether two marks are of attempts at one move.
func sameMove(a, b string) bool {
	move, _, ok := strings.Cut(a, ".")
	return ok && strings.HasPrefix(b, move+".")
}

// errTaken means that another attempt has taken the move over.
var errTaken = errors.New("another process took over the move")

// enter rejects a second move of a cell by one process.
func (m *mover[T]) enter() (leave func(), err error) {
	c := m.cells
	c.mu.Lock()
	defer c.mu.Unlock()
	if to, moving := c.moving[m.id]; moving {
		return nil, fmt.Errorf("%w: this process is moving it to %s: wait until that is done", ErrConflict, Redact(to))
	}
	c.moving[m.id] = m.to.URL
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.moving, m.id)
	}, nil
}

// own acquires the lease of the move and renews it until release. The returned context is cancelled when another
// process has taken the lease. The error is ErrConflict if another process holds it and is alive.
func (m *mover[T]) own(ctx context.Context) (owned context.Context, release func() error, err error) {
	ttl := m.cells.opts.MovePatience
	if m.cells.opts.Alone {
		ttl = 0 // any previous holder is gone
	}
	now := m.cells.opts.Now
	m.owner = fmt.Sprintf("%s, to %s, since %s (%.6s)", m.opts.Owner, Redact(m.to.URL),
		now().UTC().Format(time.RFC3339), m.attempt)
	h := lease.NewHolder(lease.Options{
		Name: moveLease, Owner: m.owner, TTL: ttl, Now: now,
		View: func(ctx context.Context, fn func(lease.Store) error) error {
			return m.from.View(ctx, func(t T) error { return fn(m.opts.Leases(t)) })
		},
		Update: func(ctx context.Context, fn func(lease.Store) error) error {
			do := func(t T) error { return fn(m.opts.Leases(t)) }
			err := m.from.Update(ctx, do)
			if errors.Is(err, ErrMoved) { // the previous mover was about to switch, or was stopped there
				err = m.from.Exclusive(ctx, do)
			}
			return err
		},
	})
	for first := (lease.Lease{}); ; {
		mine, err := h.Try(ctx, 0)
		if err != nil {
			return nil, nil, err
		}
		if mine {
			break
		}
		seen := h.Seen()
		if first.Owner == "" {
			first = seen
		}
		if seen.Token != first.Token || seen.Beat != first.Beat {
			return nil, nil, fmt.Errorf("%w: it is being moved by %s: wait until that is done, or stop it", ErrConflict, seen.Owner)
		}
		if err := delay.For(ctx, max(ttl/50, time.Millisecond)); err != nil {
			return nil, nil, err
		}
	}
	owned, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ttl > 0 && delay.For(owned, ttl/3) == nil {
			if mine, _ := h.Take(owned, 0); !mine {
				cancel(errTaken)
			}
		}
	}()
	return owned, func() error {
		cancel(nil)
		<-done
		if err := h.Give(context.WithoutCancel(ctx)); !errors.Is(err, lease.ErrLost) {
			return err
		}
		return nil
	}, nil
}

// begin marks the source, makes sure that an earlier attempt can no longer switch, and turns the journal of the source
// on.
func (m *mover[T]) begin(ctx context.Context) error {
	if err := m.alone(ctx, func(t T, head *Head) error {
		switch l, err := m.opts.Leases(t).Lease(ctx, moveLease); {
		case err != nil:
			return err
		case l.Owner != m.owner:
			return errTaken
		case head.Home == Moved:
			return fmt.Errorf("%w: it has just been moved: look at the cell map, then ask again", ErrConflict)
		}
		m.before, m.mark = *head, nextMark(head.Move, m.attempt)
		head.Move = m.mark
		return nil
	}); err != nil {
		return err
	}
	if err := m.outrun(ctx); err != nil {
		return err
	}
	return m.alone(ctx, func(t T, head *Head) error {
		if head.Move != m.mark {
			return errTaken
		}
		head.Home = Serving // a move was interrupted while writers waited
		rows := m.opts.Copier(t)
		m.tables = slices.DeleteFunc(slices.Clone(rows.Tables()), func(t Table) bool { return t.Name == Total })
		return errors.Join(rows.Journal(ctx, false), rows.Journal(ctx, true))
	})
}

// alone changes the head of the source in an Exclusive.
func (m *mover[T]) alone(ctx context.Context, change func(t T, head *Head) error) error {
	return m.from.Exclusive(ctx, func(t T) error {
		head, err := t.Head(ctx)
		if err != nil {
			return err
		}
		was := head
		if err := change(t, &head); err != nil || head == was {
			return err
		}
		return t.SetHead(ctx, head)
	})
}

// outrun changes the epoch of the cell map if there was an earlier attempt. That attempt may have been stopped just
// before it swaps the map: it has read the map, and after that, for the last time, the mark of the source. Now its swap
// fails, or it was first, and the cell has moved. The authority itself does not need this: there, mark and map are in
// one database.
func (m *mover[T]) outrun(ctx context.Context) error {
	if m.before.Move == "" || m.cells.Map().spec.Authority == m.id {
		return nil
	}
	m.doubt = true
	if err := m.cells.retry(ctx, func(cmap *Map) error { return m.cells.change(ctx, cmap, func(*Spec) {}) }); err != nil {
		return fmt.Errorf("end the previous move: %w", err)
	}
	if m.doubt = false; m.switched(m.cells.Map()) {
		return fmt.Errorf("%w: it has just been moved to %s", ErrConflict, Redact(m.cells.Map().URL(m.id)))
	}
	return nil
}
