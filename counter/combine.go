// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"errors"
	"time"
)

// serve counts parts and answers them. If a group fails and nothing of it was applied, each batch is tried
// once more alone, so that one of them cannot keep the others from being counted (R10).
func (c *combiner) serve(parts []*share) {
	now := c.opts.Now()
	if !c.opts.Unprepared {
		minute := MinuteOf(now)
		for _, p := range parts {
			for i := range p.items {
				p.items[i].lots(minute, c.opts.Rand)
			}
		}
	}
	err := c.count(now, parts)
	if err != nil && !errors.Is(err, ErrUnconfirmed) {
		c.countEach(now, parts)
	}
	c.expect = len(c.parts) + len(parts)
	for _, p := range parts {
		p.answered()
	}
	if c.wanted.len() >= preparedAtOnce || MinuteOf(now).InHour()%15 == 14 {
		c.prepare()
	}
}

// preparedAtOnce is how many spans gather before they are prepared, unless a quarter of an hour ends.
const preparedAtOnce = 128

// prepare makes the spans that are wanted next. What fails is made when it is hit.
func (c *combiner) prepare() {
	if c.wanted.len() == 0 {
		return
	}
	_ = c.db.Update(context.Background(), func(tx Tx) error { return c.wanted.prepare(context.Background(), tx) })
	c.wanted = wanted{}
}

// countEach counts batch by batch. Two in a row that fail say that it is not the batches: then the others
// need not wait for as many failures.
func (c *combiner) countEach(now time.Time, parts []*share) {
	row := 0
	for i := range parts {
		if err := c.count(now, parts[i:i+1]); err == nil {
			row = 0
		} else if row++; row == 2 {
			for _, p := range parts[i+1:] {
				p.fail(err)
			}
			return
		}
	}
}

// count counts parts in one transaction. Their results are true when it returns.
func (c *combiner) count(now time.Time, parts []*share) error {
	start, g := time.Now(), &c.group
	g.begin(now, parts)
	err := g.commit(context.Background(), c.db)
	if err == nil {
		c.wanted.add(&g.wanted)
	}
	hits := 0
	for _, p := range parts {
		hits += len(p.items)
		if err != nil {
			p.fail(err)
			continue
		}
		p.learn()
	}
	if c.opts.OnGroup != nil {
		c.opts.OnGroup(Group{Cell: c.cell, Batches: len(parts), Hits: hits, Took: time.Since(start), Err: err})
	}
	return err
}

// learn remembers the kinds of metrics of which something was counted: they stay for ever.
func (p *share) learn() {
	for i := range p.items {
		it := &p.items[i]
		if _, known := it.place.known(); !known && it.result == nil {
			it.place.know(it.kind)
		}
	}
}

// again is how often a transaction is run again because of what it found out, and contended because others
// wrote the same days.
const (
	again     = 4
	contended = 100
)

// commit applies a group, with more care if it has to be. Whatever the error, nothing was applied, unless it
// wraps ErrUnconfirmed.
func (g *group) commit(ctx context.Context, db Database) (err error) {
	conflicts := 0
	for n := 0; n < again; n++ {
		err = db.Update(ctx, func(tx Tx) error { return g.apply(ctx, tx) })
		part, some := errors.AsType[*PartError](err)
		without, left := g.without(err)
		switch {
		case err == nil:
			g.summarise(ctx, db)
			return nil
		case some && g.settle(part) || without && !left:
			g.summarise(ctx, db)
			return nil
		case without:
			n--
		case some && conflicts < contended:
			conflicts++
			n--
		case some || errors.Is(err, ErrUnconfirmed):
			n = again
		case errors.Is(err, ErrOverflow) && !g.careful:
			g.careful = true
		case errors.Is(err, ErrForgotten) || errors.Is(err, errAgain): // by what the group knows now
		default:
			n = again
		}
	}
	if !g.settled {
		return err
	}
	g.giveUp(err)
	g.summarise(ctx, db)
	return nil
}
