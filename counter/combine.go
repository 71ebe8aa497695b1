// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"errors"
	"time"
)

// serve counts parts and answers them. If a group fails and nothing of it was applied, each batch is retried
// alone, so that one bad batch does not block the others (R10).
func (c *groupCommitter) serve(parts []*GroupBatch) {
	now := c.opts.Now()
	if !c.opts.Unprepared {
		minute := MinuteOf(now)
		for _, p := range parts {
			for i := range p.items {
				p.items[i].prewarmDraw(minute, c.opts.Rand)
			}
		}
	}
	err := c.count(now, parts)
	if err != nil && !errors.Is(err, ErrCommitUnknown) {
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

// preparedAtOnce is the number of buckets to collect before they are prepared; at the end of a quarter of an hour
// fewer are.
const preparedAtOnce = 128

// prepare creates the buckets that were chosen. Errors are ignored: a hit creates the buckets that it needs.
func (c *groupCommitter) prepare() {
	if c.wanted.len() == 0 {
		return
	}
	_ = c.db.Update(context.Background(), func(tx Tx) error { return c.wanted.prepare(context.Background(), tx) })
	c.wanted = wanted{}
}

// countEach counts batch by batch. After two failures in a row the batches are not the cause, and the others fail
// at once with the same error.
func (c *groupCommitter) countEach(now time.Time, parts []*GroupBatch) {
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

// count counts parts in one transaction. Their results are final when it returns.
func (c *groupCommitter) count(now time.Time, parts []*GroupBatch) error {
	start, g := time.Now(), &c.group
	g.begin(now, parts)
	err := c.db.writer().Count(context.Background(), g)
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

// learn caches the kinds of counted metrics, which never change.
func (p *GroupBatch) learn() {
	for i := range p.items {
		it := &p.items[i]
		if _, known := it.place.known(); !known && it.result == nil {
			it.place.know(it.kind)
		}
	}
}
