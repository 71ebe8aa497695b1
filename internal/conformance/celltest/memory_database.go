// SPDX-License-Identifier: Apache-2.0

package celltest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/locus-db/locus/cell"
)

// database is the stored database. Writing transactions run one at a time, first come first served; reading ones see a
// snapshot.
type database struct {
	url   string
	write *semaphore.Weighted
	now   atomic.Pointer[state]
}

// state is the content of a database. It is immutable; changes are made in copies.
type state struct {
	id     *cell.Identity
	head   cell.Head
	used   uint64 // allocated puids
	rows   *rows
	maps   []version
	filter []byte
	pulses map[cell.ID]cell.Pulse // of other cells
	mark   string
	// commits counts the transactions that made a lasting change.
	commits uint64
}

type version struct {
	epoch uint64
	text  []byte
}

type opened struct {
	memory *Memory
	db     *database
	mu     sync.Mutex
	closed bool
	users  sync.WaitGroup
	id     atomic.Pointer[cell.Identity] // as which it was identified; nil before
}

func (o *opened) Update(ctx context.Context, fn func(cell.Store) error) error {
	return o.run(ctx, "update", fn)
}

func (o *opened) Exclusive(ctx context.Context, fn func(cell.Store) error) error {
	return o.run(ctx, "exclusive", fn)
}

func (o *opened) View(ctx context.Context, fn func(cell.Store) error) error {
	return o.run(ctx, "view", fn)
}

func (o *opened) Read(ctx context.Context, fn func(cell.Store) error) error {
	return o.run(ctx, "view", fn)
}

// enter counts a user of the database.
func (o *opened) enter() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return fmt.Errorf("%s: %w: it was closed", o.db.url, cell.ErrUnavailable)
	}
	o.users.Add(1)
	return nil
}

func (o *opened) run(ctx context.Context, do string, fn func(cell.Store) error) error {
	if err := o.enter(); err != nil {
		return err
	}
	defer o.users.Done()
	step := Step{o.db.url, do, Begins}
	if err := o.memory.step(ctx, step); err != nil {
		return err
	}
	if do != "view" {
		if err := o.db.write.Acquire(ctx, 1); err != nil {
			return err
		}
		defer o.db.write.Release(1)
	}
	t := &tx{state: *o.db.now.Load(), do: do, opened: o}
	if err := t.begin(); err != nil {
		return fmt.Errorf("%s: %w", o.db.url, err)
	}
	err := fn(t)
	if err == nil {
		err = t.failed
	}
	t.failed = errOver
	if do == "view" || err != nil {
		return err
	}
	step.When = Commits
	if err := o.memory.step(ctx, step); err != nil {
		return err
	}
	if t.lasting {
		t.commits++
	}
	o.db.now.Store(&t.state)
	step.When = Replies
	if err := o.memory.step(ctx, step); err != nil {
		return fmt.Errorf("%w: %w", cell.ErrCommitUnknown, err)
	}
	return nil
}

// Identify runs in a transaction of its own.
func (o *opened) Identify(ctx context.Context, id cell.Identity) error {
	if err := o.enter(); err != nil {
		return err
	}
	defer o.users.Done()
	if err := o.memory.step(ctx, Step{o.db.url, "identify", Begins}); err != nil {
		return err
	}
	if err := o.db.write.Acquire(ctx, 1); err != nil {
		return err
	}
	defer o.db.write.Release(1)
	s := *o.db.now.Load()
	switch {
	case s.id == nil:
		s.id, s.head, s.commits = &id, cell.Head{Incarnation: 1}, 0
	case id.Takes(*s.id, s.head, s.used):
		s.id = &id
	default:
		if err := id.Check(*s.id, o.db.url); err != nil {
			return err
		}
	}
	o.db.now.Store(&s)
	o.id.Store(&id)
	return nil
}

func (o *opened) Stats(ctx context.Context) (stats cell.Stats, err error) {
	err = o.View(ctx, func(s cell.Store) error {
		t := s.(*tx)
		if t.id == nil {
			return errNobody
		}
		stats = cell.Stats{
			Cell: t.id.Cell, URL: o.db.url, Head: t.head, Filter: t.filter != nil,
			PUIDs: t.used, PUIDRoom: uint64(t.id.Hi - t.id.Lo),
		}
		return nil
	})
	return stats, err
}

// Writable returns nil while the database is up.
func (o *opened) Writable(ctx context.Context) error {
	return o.View(ctx, func(cell.Store) error { return nil })
}

// Pulse returns the pulse of Latest.
func (o *opened) Pulse(ctx context.Context) (cell.Pulse, error) {
	p, _ := o.Latest()
	return p, ctx.Err()
}

// Latest returns a pulse that counts every commit.
func (o *opened) Latest() (cell.Pulse, bool) {
	s := o.db.now.Load()
	return cell.Pulse{Incarnation: s.head.Incarnation, Commits: s.commits}, false
}

// Vacuum does nothing: deleted content is gone already.
func (o *opened) Vacuum(ctx context.Context) error { return ctx.Err() }

// Tidy does nothing: reads are maps.
func (o *opened) Tidy(ctx context.Context) (bool, error) { return false, ctx.Err() }

// Close waits for the transactions in flight.
func (o *opened) Close() error {
	o.mu.Lock()
	was := o.closed
	o.closed = true
	o.mu.Unlock()
	if !was {
		o.users.Wait()
		o.memory.opened.Add(-1)
	}
	return nil
}
