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
var errAgain = errors.New("counter: another process was first")

// commitGroup is the content of one transaction. Its effect depends only on its fields and the cell, and it may run
// again: it uses no clock, randomness or goroutines (R12).
type commitGroup struct {
	now   time.Time // for hits without a time
	parts []*shardBatch
	// checkOverflow reads totals first, so that only the hits that would overflow are refused.
	checkOverflow bool
	lost          map[ID]bool
	// final reports that some hits have results from an earlier transaction, because each day is written on its
	// own (PerDocumentStore).
	final bool

	// Results of a run.
	horizon int64
	dedup   map[name]*dedupState
	days    map[dayName]*dedupState // of an PerDocumentStore store
	matched []*dedupState           // of one part
	kinds   map[ID]Kind             // of metrics not seen before by this process
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

func (g *commitGroup) begin(now time.Time, parts []*shardBatch) {
	g.now, g.parts, g.checkOverflow, g.final = now, parts, false, false
	clear(g.lost)
}

func (g *commitGroup) reset() {
	if g.dedup == nil {
		g.lost, g.dedup, g.kinds = map[ID]bool{}, map[name]*dedupState{}, map[ID]Kind{}
		g.totals, g.slots, g.days = map[BucketKey]int64{}, map[slot]int{}, map[dayName]*dedupState{}
	}
	clear(g.dedup)
	clear(g.days)
	clear(g.kinds)
	clear(g.totals)
	clear(g.slots)
	g.horizon, g.tallies, g.wanted = math.MinInt64, g.tallies[:0], wanted{}
	g.gauges.reset()
}

// apply counts a group in a transaction and sets the result of each hit, which is valid if the transaction
// commits.
func (g *commitGroup) apply(ctx context.Context, tx Tx) error {
	g.reset()
	for _, step := range []func(context.Context, Tx) error{g.loadDedup, g.loadKinds, g.measure} {
		if err := step(ctx, tx); err != nil {
			return err
		}
	}
	for _, p := range g.parts {
		g.decide(p)
	}
	made, err := g.count(ctx, tx)
	if err != nil {
		return err
	}
	if err := g.ensureMetricRows(ctx, tx, made); err != nil {
		return err
	}
	if apart, ok := tx.(PerDocumentStore); ok {
		return g.putDays(ctx, apart)
	}
	return g.remember(ctx, tx)
}

// measure reads what is needed before hits are added: readings and, if careful, totals of days.
func (g *commitGroup) measure(ctx context.Context, tx Tx) error {
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

func (g *commitGroup) minute(it *item) Minute {
	if it.at.IsZero() {
		return MinuteOf(g.now)
	}
	return MinuteOf(it.at)
}

// decide decides on each hit of a part, and adds up those that count.
func (g *commitGroup) decide(p *shardBatch) {
	g.matched = g.matched[:0]
	var m *dedupState // of the cell, or of the day
	var day BucketKey
	if p.request.once != nil {
		m = g.dedup[p.request.once.name()]
	}
	for i := range p.items {
		it := &p.items[i]
		if it.settled {
			continue
		}
		if m == nil {
			it.result = g.accept(it, false)
			continue
		}
		if len(g.days) > 0 && day != g.day(it) {
			day = g.day(it)
			m = g.days[dayName{p.request.once.name(), day}]
		}
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
	replayed := (len(g.matched) > 0 || p.replayed) && !p.earlier // of a settled part it stays as it is
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
func (g *commitGroup) accept(it *item, once bool) error {
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

func (g *commitGroup) add(id ID, minute Minute, n int64) error {
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
func (g *commitGroup) count(ctx context.Context, tx Tx) (made []BucketKey, err error) {
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
