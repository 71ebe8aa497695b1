// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

// The simulator over Apart stores: tasks stop between any two documents that they read or write, days fail one by
// one, and processes compact days and forget records concurrently.

// OpenApart is countertest.NewApart. That package imports this one, so an external test sets it.
var OpenApart func(faults func(SimStep) SimFault) Database

// SimStep is a countertest.Step, and SimFault a countertest.Fault.
type (
	SimStep struct {
		Write bool
		Day   SpanKey
	}
	SimFault int
)

// The faults, with the values of countertest.
const (
	simNone SimFault = iota
	simUnavailable
	simConflict
	simLostRequest
	simLostReply
	simCrash
)

// errSimStep is the error of a step that was not done.
var errSimStep = errors.New("simulated: not written")

type simApart struct {
	w  *simWorld
	db Database
	// had has the records that days were seen to have.
	had    map[dayName]bool
	closed map[SpanKey]bool // days that were compacted
}

func (w *simWorld) openApart() *simApart {
	a := &simApart{w: w, had: map[dayName]bool{}, closed: map[SpanKey]bool{}}
	a.db = OpenApart(a.fault)
	return a
}

func (a *simApart) fault(s SimStep) SimFault {
	w, t := a.w, a.w.running
	if t == nil { // the world itself looks
		return simNone
	}
	if !t.killed && w.rng.IntN(3) == 0 {
		if w.chance(3) {
			t.asleep = w.steps + w.rng.IntN(600)
		}
		if !t.pause() {
			w.counts[sawKilledBefore]++
			if s.Write {
				w.counts[sawKilledAfter]++
			}
		}
	}
	switch {
	case t.killed:
		return simCrash
	case !w.faults || w.rng.IntN(1000) >= w.lossy:
		return simNone
	case !s.Write:
		return simUnavailable
	}
	return simUnavailable + SimFault(w.rng.IntN(int(simCrash)))
}

// watched is the database as processes see it.
func (a *simApart) watched() Database {
	return Database{View: a.db.View, Update: func(ctx context.Context, fn func(Tx) error) error {
		var spy *simSpy
		err := a.db.Update(ctx, func(tx Tx) error {
			was := spy
			spy = &simSpy{Apart: tx.(Apart), of: a, in: map[dayName]bool{}} //nolint:forcetypeassert // it is
			err := fn(spy)
			if was != nil {
				a.w.counts[sawAgain]++
				if spy.floor > was.floor && was.counts {
					a.w.counts[sawFloorRose]++
				}
			}
			return err
		})
		var part *PartError
		var unread *UnreadError
		switch {
		case errors.As(err, &unread):
			a.w.counts[sawUnread]++
			unread.Err = fmt.Errorf("%w: %w", errSimStep, unread.Err)
		case errors.As(err, &part):
			a.note(part)
		case errors.Is(err, ErrUnconfirmed):
			a.w.counts[sawUnconfirmed]++
		case err != nil && !errors.Is(err, ErrOverflow) && !errors.Is(err, ErrForgotten) && !errors.Is(err, errAgain):
			return fmt.Errorf("%w: %w", errSimStep, err)
		case err == nil && spy.dropped > 0:
			a.w.counts[sawForgotten]++
		}
		return err
	}}
}

// note counts the errors of days.
func (a *simApart) note(part *PartError) {
	for day, err := range part.Days {
		switch {
		case errors.Is(err, ErrConflict):
			a.w.counts[sawPart]++
		case errors.Is(err, ErrUnconfirmed):
			a.w.counts[sawUnconfirmed]++
			a.w.counts[sawDayFailed]++
		default:
			a.w.counts[sawDayFailed]++
			part.Days[day] = fmt.Errorf("%w: %w", errSimStep, err)
		}
	}
}

// simSpy observes the results of a transaction.
type simSpy struct {
	Apart
	of      *simApart
	in      map[dayName]bool // what was read, and whether the day has a record of it
	floor   int64
	counts  bool
	dropped int
}

func (s *simSpy) DayBatches(ctx context.Context, of []DayBatch) ([]Remembered, error) {
	all, err := s.Apart.DayBatches(ctx, of)
	for i := range all {
		d := dayName{name{of[i].Key, of[i].Producer}, of[i].Day}
		s.in[d] = all[i].Print != [16]byte{}
		s.of.had[d] = s.of.had[d] || s.in[d]
	}
	return all, err
}

func (s *simSpy) Batches(ctx context.Context, keys []Key) ([]Remembered, error) {
	all, err := s.Apart.Batches(ctx, keys)
	for i := range all {
		s.met(name{key: keys[i]}, &all[i])
	}
	return all, err
}

func (s *simSpy) Producers(ctx context.Context, producers []Producer) ([]Remembered, error) {
	all, err := s.Apart.Producers(ctx, producers)
	for i := range all {
		s.met(name{producer: producers[i]}, &all[i])
	}
	return all, err
}

// met compares the records of days and the summary.
func (s *simSpy) met(n name, whole *Remembered) {
	for d, in := range s.in {
		switch known := whole.Print != [16]byte{}; {
		case d.name != n:
		case in && !known:
			s.of.w.counts[sawInDay]++
		case !in && known && s.of.had[d]:
			s.of.w.counts[sawDayForgot]++
		}
	}
}

func (s *simSpy) AddTallies(ctx context.Context, tallies []Tally) ([]SpanKey, error) {
	s.counts = true
	for _, t := range tallies {
		if s.of.closed[NewSpanKey(t.Minute.Day(), t.ID)] {
			s.of.w.counts[sawClosed]++
		}
	}
	return s.Apart.AddTallies(ctx, tallies)
}

func (s *simSpy) PutClosedDays(ctx context.Context, days []ClosedDay) error {
	for _, d := range days {
		s.of.closed[d.Key] = true
	}
	return s.Apart.PutClosedDays(ctx, days)
}

func (s *simSpy) Floor(ctx context.Context) (int64, error) {
	floor, err := s.Apart.Floor(ctx)
	s.floor = floor
	return floor, err
}

func (s *simSpy) DropBatches(ctx context.Context, below int64, limit int) (int, error) {
	n, err := s.Apart.DropBatches(ctx, below, limit)
	s.dropped += n
	return n, err
}

func (a *simApart) look(fn func(context.Context, Apart) error) {
	was := a.w.running
	a.w.running = nil
	defer func() { a.w.running = was }()
	ctx := context.Background()
	if err := a.db.View(ctx, func(tx Tx) error { return fn(ctx, tx.(Apart)) }); err != nil { //nolint:forcetypeassert // it is
		a.w.fail("%w", err)
	}
}

func (a *simApart) floor() (at int64) {
	a.look(func(ctx context.Context, tx Apart) (err error) {
		at, err = tx.Floor(ctx)
		return err
	})
	return at
}

// counted returns a metric's count in a minute, open and closed.
func (a *simApart) counted(id ID, at Minute) (sum int64) {
	a.look(func(ctx context.Context, tx Apart) error {
		hours, err := tx.Spans(ctx, Hours, []SpanKey{NewSpanKey(at.Hour(), id)})
		quarters, err2 := tx.Spans(ctx, GaugeQuarters, []SpanKey{NewSpanKey(at.QuarterOf(), id)})
		closed, err3 := tx.ClosedDays(ctx, []SpanKey{NewSpanKey(at.Day(), id)})
		metas, err4 := tx.Metrics(ctx, []ID{id})
		if err := errors.Join(err, err2, err3, err4); err != nil {
			return err
		}
		if hours[0] != nil {
			sum += hours[0][at.InHour()]
		}
		if quarters[0] != nil {
			sum += quarters[0][at.InHour()%15*Reading+ReadingSum]
		}
		if closed[0].Key == 0 {
			return nil
		}
		values, err := unpackDay(&closed[0], metas[0].Kind)
		if err != nil {
			return err
		}
		minute := at.HourOfDay()*60 + at.InHour()
		if metas[0].Kind == Gauge {
			minute = minute*Reading + ReadingSum
		}
		sum += values[minute]
		return nil
	})
	return sum
}

func (a *simApart) check() {
	a.look(func(ctx context.Context, tx Apart) error {
		m := newModel()
		metas, err := tx.ListMetrics(ctx, "", "", math.MaxInt)
		for _, is := range metas {
			m.metrics[is.ID] = is
		}
		for _, table := range Tables {
			spans, err2 := tx.FirstSpans(ctx, table, math.MaxInt64, math.MaxInt)
			err = errors.Join(err, err2)
			for _, s := range spans {
				m.spans[table][s.Key] = s.Values
			}
		}
		// An hour prepared by a process whose clock is days behind may appear after its day was compacted.
		maps.DeleteFunc(m.spans[Hours], func(key SpanKey, values []int64) bool {
			return m.spans[Days][NewSpanKey(key.Unit()/24, key.ID())] == nil && slices.Max(values) == 0
		})
		return errors.Join(err, m.check())
	})
}

// remembered returns the largest number of records in a day.
func (a *simApart) remembered() (most int) {
	of := map[SpanKey]int{}
	a.look(func(ctx context.Context, tx Apart) error {
		var ask []DayBatch
		for d := range a.had {
			ask = append(ask, DayBatch{Day: d.day, Key: d.key, Producer: d.producer})
		}
		there, err := tx.DayBatches(ctx, ask)
		for i := range there {
			if there[i].Print != [16]byte{} {
				of[ask[i].Day]++
				most = max(most, of[ask[i].Day])
			}
		}
		return err
	})
	return most
}

// simulateApart runs a seed over Apart stores.
func simulateApart(seed uint64, counts *simCounts) error {
	w := &simWorld{
		rng: rand.New(rand.NewPCG(seed, 3)), now: noon, apart: map[string]*simApart{}, locked: map[string]*simTask{},
		places: map[Metric]Place{}, slots: map[simSlot]int{}, counts: counts, faults: true,
	}
	w.lossy = []int{0, 5, 30}[w.rng.IntN(3)]
	for _, cell := range simCells {
		w.apart[cell] = w.openApart()
	}
	err := w.run(7, 3000, 1500)
	for _, cell := range simCells {
		w.apart[cell].check()
	}
	if err = errors.Join(err, w.wrong); err != nil {
		return fmt.Errorf("seed %d: %w", seed, err)
	}
	return nil
}

// In an Apart store each hit counts once, and each day adds up, whatever is lost, and if processes are killed
// between two days, or between the days and their summary.
func TestP02_SimulationApart(t *testing.T) {
	t.Parallel()
	simulateAll(t, simulateApart, longtest.Sample(8, 8, 120, 200), sawNames[:])
}
