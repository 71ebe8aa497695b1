// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// groupCommitter implements group commit for a cell: batches that arrive while a group is written go into the next one
// together.
type groupCommitter struct {
	cell   string
	db     Database
	opts   *Options
	parts  chan *GroupBatch
	stop   chan struct{} // closed when no more parts arrive
	done   chan struct{}
	held   *GroupBatch // came for the previous group, which was full
	expect int         // number of parts in the next group if all callers just answered return
	timer  *time.Timer
	group  CommitGroup
	wanted wanted // requested by the counted groups
	spare  []*GroupBatch
}

func newGroupCommitter(cell string, db Database, opts *Options) *groupCommitter {
	c := &groupCommitter{
		cell: cell, db: db, opts: opts,
		parts: make(chan *GroupBatch, opts.Waiting), stop: make(chan struct{}), done: make(chan struct{}),
		timer: time.NewTimer(time.Hour),
	}
	c.timer.Stop()
	return c
}

// send puts a part into the queue. The context bounds the wait for room; once queued, the part is counted and
// answered.
func (c *groupCommitter) send(ctx context.Context, p *GroupBatch) error {
	select {
	case c.parts <- p:
		return nil
	default:
	}
	select {
	case c.parts <- p:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: wait for a place in the queue of cell %s: %w", ErrOverloaded, c.cell, context.Cause(ctx))
	}
}

func (c *groupCommitter) run() {
	defer close(c.done)
	for {
		first := c.held
		if c.held = nil; first == nil {
			select {
			case first = <-c.parts:
			case <-c.stop:
				c.prepare()
				return
			}
		}
		group := c.gather(first)
		c.serve(group)
		clear(group)
		c.spare = group[:0]
	}
}

// gather collects the queued parts. It lingers briefly for callers that were just answered, so that they share
// the next commit.
func (c *groupCommitter) gather(first *GroupBatch) []*GroupBatch {
	group, hits := append(c.spare, first), len(first.items)
	var since time.Time
	for {
		var p *GroupBatch
		select {
		case p = <-c.parts:
		default:
			if len(group) >= c.expect || hits >= c.opts.Group {
				return group
			}
			if p = c.linger(&since); p == nil {
				return group
			}
		}
		if hits += len(p.items); hits > c.opts.Group {
			c.held = p
			return group
		}
		group = append(group, p)
	}
}

// spins is how often linger polls before it sleeps. A sleep takes far longer than the wait usually does, and
// Gosched lets the callers run.
const spins = 1000

// linger waits for one more part, at most Linger in total.
func (c *groupCommitter) linger(since *time.Time) *GroupBatch {
	if c.opts.Linger < 0 {
		return nil
	}
	if since.IsZero() {
		*since = time.Now()
	}
	for range spins {
		runtime.Gosched()
		select {
		case p := <-c.parts:
			return p
		default:
		}
		if time.Since(*since) >= c.opts.Linger {
			return nil
		}
	}
	c.timer.Reset(c.opts.Linger - time.Since(*since))
	defer c.timer.Stop()
	select {
	case p := <-c.parts:
		return p
	case <-c.timer.C:
		return nil
	}
}
