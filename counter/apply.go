// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"
)

// errAgain means that a concurrent transaction created the same row first; the next run finds it.
var errAgain = errors.New("counter: concurrent write")

// CommitGroup is the content of one transaction: hits of several batches that arrived at about the same time. Its
// effect depends only on its fields and the cell, and it may run again: it uses no clock, randomness or goroutines
// (R12).
type CommitGroup struct {
	now   time.Time // for hits without a time
	parts []*GroupBatch
	// checkOverflow reads totals first, so that only the hits that would overflow are refused.
	checkOverflow bool
	lost          map[ID]bool
	cell          cellDedup
	names         []BatchName // of cell, to be used again

	// Results of a run.
	horizon int64
	matched []*DedupState // of one part
	kinds   map[ID]Kind   // of metrics not seen before by this process
	totals  map[BucketKey]int64
	tallies []Tally
	slots   map[slot]int // index in tallies
	gauges  gauges
	wanted  wanted
}

type slot struct {
	id     ID
	minute Minute
}

func (g *CommitGroup) begin(now time.Time, parts []*GroupBatch) {
	g.now, g.parts, g.checkOverflow = now, parts, false
	clear(g.lost)
}

func (g *CommitGroup) reset() {
	if g.kinds == nil {
		g.lost, g.kinds, g.totals, g.slots = map[ID]bool{}, map[ID]Kind{}, map[BucketKey]int64{}, map[slot]int{}
	}
	clear(g.kinds)
	clear(g.totals)
	clear(g.slots)
	g.horizon, g.tallies, g.wanted = math.MinInt64, g.tallies[:0], wanted{}
	g.gauges.reset()
}

// Apply counts the hits that are not settled, in a transaction, and sets the result of each, which is valid if the
// transaction commits. It may run again after an error for which Learn returns true.
func (g *CommitGroup) Apply(ctx context.Context, tx Tx, dedup Dedup) (err error) {
	g.reset()
	if g.horizon, err = dedup.Load(ctx, tx, g); err != nil {
		return err
	}
	for _, step := range []func(context.Context, Tx) error{g.loadKinds, g.measure} {
		if err := step(ctx, tx); err != nil {
			return err
		}
	}
	for _, p := range g.parts {
		g.decide(p, dedup)
	}
	made, err := g.count(ctx, tx)
	if err != nil {
		return err
	}
	if err := g.ensureMetricRows(ctx, tx, made); err != nil {
		return err
	}
	return dedup.Save(ctx, tx)
}

// measure reads the values needed before hits are added: readings and, if careful, totals of days.
func (g *CommitGroup) measure(ctx context.Context, tx Tx) error {
	var days []BucketKey
	for _, p := range g.parts {
		for i := range p.items {
			switch it := &p.items[i]; {
			case it.settled:
			case it.kind == Gauge:
				g.gauges.want(it.place.id, g.minute(it))
			case g.checkOverflow:
				days = append(days, g.day(it))
			}
		}
	}
	if len(days) > 0 {
		slices.Sort(days)
		days = slices.Compact(days)
		buckets, err := tx.Buckets(ctx, Days, days)
		if err != nil {
			return err
		}
		for i, values := range buckets {
			if values != nil {
				g.totals[days[i]] = values[DayTotal]
			}
		}
	}
	return g.gauges.read(ctx, tx)
}

func (g *CommitGroup) day(it *item) BucketKey { return NewBucketKey(g.minute(it).Day(), it.place.id) }

func (g *CommitGroup) minute(it *item) Minute {
	if it.at.IsZero() {
		return MinuteOf(g.now)
	}
	return MinuteOf(it.at)
}

// decide decides on each hit of a part, and adds up those that count.
func (g *CommitGroup) decide(p *GroupBatch, dedup Dedup) {
	g.matched = g.matched[:0]
	for i := range p.items {
		it := &p.items[i]
		if it.settled {
			continue
		}
		if p.request.once == nil {
			it.result = g.accept(it, false)
			continue
		}
		m := dedup.State(p, g.day(it))
		if m.part != p {
			m.meet(p)
			g.matched = append(g.matched, m)
		}
		if it.result = m.refusal; m.refusal != nil || m.counting.has(it.index) {
			continue
		}
		if it.result = g.accept(it, true); it.result != nil {
			continue
		}
		m.some = true
		m.counting.set(it.index)
		m.latest = max(m.latest, it.at.UnixMilli())
	}
	p.some = false
	replayed := (len(g.matched) > 0 || p.replayed) && !p.earlier // the results of a settled part do not change
	for _, m := range g.matched {
		replayed = replayed && m.repeated
		if m.some {
			p.some = true
			m.keep(p.request.once, m.counting, m.latest)
		}
	}
	p.replayed = replayed && !p.some
}

// accept adds up a hit, or returns why it does not count.
func (g *CommitGroup) accept(it *item, once bool) error {
	id, minute := it.place.id, g.minute(it)
	kind, known := it.place.known()
	if !known {
		kind, known = g.kinds[id]
	}
	switch {
	case it.refused != nil:
		return it.refused
	case once && it.at.UnixMilli() < g.horizon:
		return ErrTooOld
	case !it.fresh && (!known || g.lost[id]):
		return ErrForgotten
	case known && kind != it.kind:
		return ErrKind
	}
	if it.kind == Gauge {
		if err := g.gauges.add(id, minute, it.n); err != nil {
			return err
		}
	} else if err := g.add(id, minute, it.n); err != nil {
		return err
	}
	if !known {
		g.kinds[id] = it.kind
	}
	g.want(it, minute)
	return nil
}

func (g *CommitGroup) add(id ID, minute Minute, n int64) error {
	if g.checkOverflow {
		day := NewBucketKey(minute.Day(), id)
		if g.totals[day] > math.MaxInt64-n {
			return ErrOverflow
		}
		g.totals[day] += n
	}
	at := slot{id, minute}
	if i, ok := g.slots[at]; ok {
		g.tallies[i].N += n
		return nil
	}
	g.slots[at] = len(g.tallies)
	g.tallies = append(g.tallies, Tally{ID: id, Minute: minute, N: n})
	return nil
}

// count writes the sums and returns the days that it created.
func (g *CommitGroup) count(ctx context.Context, tx Tx) (made []BucketKey, err error) {
	if made, err = g.gauges.write(ctx, tx); err != nil || len(g.tallies) == 0 {
		return made, err
	}
	// In storage order. The indexes in slots are no longer used.
	slices.SortFunc(g.tallies, func(a, b Tally) int {
		return cmp.Or(cmp.Compare(a.Minute.Hour(), b.Minute.Hour()), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Minute, b.Minute))
	})
	days, err := tx.AddTallies(ctx, g.tallies)
	return append(made, days...), err
}
