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

// errAgain means that somebody else made at the same time what a transaction wanted to make: the next run
// finds it.
var errAgain = errors.New("counter: another process was first")

// group is what one transaction counts. What it does depends on its fields and on the cell alone, and it may
// run again: there is no clock in it, no chance and no goroutine (R12).
type group struct {
	now   time.Time // of hits that bring no time
	parts []*share
	// careful has totals read first, so that hits which do not fit are refused alone.
	careful bool
	// lost are metrics that the cell turned out not to know.
	lost map[ID]bool
	// settled says that some hits have their results from an earlier transaction, since each day is written
	// by itself (Apart).
	settled bool

	// What a run finds out.
	floor    int64
	memories map[name]*memory
	days     map[dayName]*memory // of a Store that is Apart
	met      []*memory           // those of one part
	kinds    map[ID]Kind         // of metrics that this process has not seen before
	totals   map[SpanKey]int64
	tallies  []Tally
	slots    map[slot]int // where in tallies
	gauges   gauges
	wanted   wanted
}

type slot struct {
	id     ID
	minute Minute
}

func (g *group) begin(now time.Time, parts []*share) {
	g.now, g.parts, g.careful, g.settled = now, parts, false, false
	clear(g.lost)
}

func (g *group) reset() {
	if g.memories == nil {
		g.lost, g.memories, g.kinds = map[ID]bool{}, map[name]*memory{}, map[ID]Kind{}
		g.totals, g.slots, g.days = map[SpanKey]int64{}, map[slot]int{}, map[dayName]*memory{}
	}
	clear(g.memories)
	clear(g.days)
	clear(g.kinds)
	clear(g.totals)
	clear(g.slots)
	g.floor, g.tallies, g.wanted = math.MinInt64, g.tallies[:0], wanted{}
	g.gauges.reset()
}

// apply counts a group in a transaction and says what became of each hit, which is true if it commits.
func (g *group) apply(ctx context.Context, tx Tx) error {
	g.reset()
	for _, step := range []func(context.Context, Tx) error{g.recall, g.meet, g.measure} {
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
	if err := g.enter(ctx, tx, made); err != nil {
		return err
	}
	if apart, ok := tx.(Apart); ok {
		return g.putDays(ctx, apart)
	}
	return g.remember(ctx, tx)
}

// measure reads what has to be known before a hit is added: readings, and totals of days if care is taken.
func (g *group) measure(ctx context.Context, tx Tx) error {
	var days []SpanKey
	for _, p := range g.parts {
		for i := range p.items {
			switch it := &p.items[i]; {
			case it.settled:
			case it.kind == Gauge:
				g.gauges.want(it.place.id, g.minute(it))
			case g.careful:
				days = append(days, g.day(it))
			}
		}
	}
	if len(days) > 0 {
		slices.Sort(days)
		days = slices.Compact(days)
		spans, err := tx.Spans(ctx, Days, days)
		if err != nil {
			return err
		}
		for i, values := range spans {
			if values != nil {
				g.totals[days[i]] = values[DayTotal]
			}
		}
	}
	return g.gauges.read(ctx, tx)
}

func (g *group) minute(it *item) Minute {
	if it.at.IsZero() {
		return MinuteOf(g.now)
	}
	return MinuteOf(it.at)
}

// decide says what becomes of each hit of a part, and adds up those that count.
func (g *group) decide(p *share) {
	g.met = g.met[:0]
	var m *memory // of the cell, or of the day
	var day SpanKey
	if p.call.once != nil {
		m = g.memories[p.call.once.name()]
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
			m = g.days[dayName{p.call.once.name(), day}]
		}
		if m.part != p {
			m.meet(p)
			g.met = append(g.met, m)
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
	replayed := (len(g.met) > 0 || p.replayed) && !p.earlier // of a part that is settled it stands
	for _, m := range g.met {
		replayed = replayed && m.repeated
		if m.some {
			p.some = true
			m.keep(p.call.once, m.counting, m.latest)
		}
	}
	p.replayed = replayed && !p.some
}

// accept adds up a hit, or says why it does not count.
func (g *group) accept(it *item, once bool) error {
	id, minute := it.place.id, g.minute(it)
	kind, known := it.place.known()
	if !known {
		kind, known = g.kinds[id]
	}
	switch {
	case it.refused != nil:
		return it.refused
	case once && it.at.UnixMilli() < g.floor:
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

// add adds up a hit of a counter.
func (g *group) add(id ID, minute Minute, n int64) error {
	if g.careful {
		day := NewSpanKey(minute.Day(), id)
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

// count writes what was added up, and answers with the days that were not there.
func (g *group) count(ctx context.Context, tx Tx) (made []SpanKey, err error) {
	if made, err = g.gauges.write(ctx, tx); err != nil || len(g.tallies) == 0 {
		return made, err
	}
	// As spans lie. The places in tallies are not needed any more.
	slices.SortFunc(g.tallies, func(a, b Tally) int {
		return cmp.Or(cmp.Compare(a.Minute.Hour(), b.Minute.Hour()), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Minute, b.Minute))
	})
	days, err := tx.AddTallies(ctx, g.tallies)
	return append(made, days...), err
}
