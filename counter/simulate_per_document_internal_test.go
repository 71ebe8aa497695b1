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

// The simulator over PerDocumentStore stores: tasks stop between any two documents that they read or write, days fail one by
// one, and processes compact days and forget records concurrently.

// OpenPerDocument is countertest.NewApart. That package imports this one, so an external test sets it.
var OpenPerDocument func(faults func(SimStep) SimFault) Database

// SimStep is a countertest.Step, and SimFault a countertest.Fault.
type (
	SimStep struct {
		Write bool
		Day   BucketKey
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
	had       map[dayName]bool
	compacted map[BucketKey]bool // days that were compacted
}

func (w *simWorld) openApart() *simApart {
	a := &simApart{w: w, had: map[dayName]bool{}, compacted: map[BucketKey]bool{}}
	a.db = OpenPerDocument(a.fault)
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
			spy = &simSpy{PerDocumentStore: tx.(PerDocumentStore), of: a, in: map[dayName]bool{}} //nolint:forcetypeassert // it is
			err := fn(spy)
			if was != nil {
				a.w.counts[sawAgain]++
				if spy.horizon > was.horizon && was.counts {
					a.w.counts[sawHorizonRose]++
				}
			}
			return err
		})
		var part *PartialWriteError
		var unread *UnreadError
		switch {
		case errors.As(err, &unread):
			a.w.counts[sawUnread]++
			unread.Err = fmt.Errorf("%w: %w", errSimStep, unread.Err)
		case errors.As(err, &part):
			a.note(part)
		case errors.Is(err, ErrCommitUnknown):
			a.w.counts[sawCommitUnknown]++
		case err != nil && !errors.Is(err, ErrOverflow) && !errors.Is(err, ErrForgotten) && !errors.Is(err, errAgain):
			return fmt.Errorf("%w: %w", errSimStep, err)
		case err == nil && spy.dropped > 0:
			a.w.counts[sawForgotten]++
		}
		return err
	}}
}

// note counts the errors of days.
func (a *simApart) note(part *PartialWriteError) {
	for day, err := range part.Days {
		switch {
		case errors.Is(err, ErrConflict):
			a.w.counts[sawPart]++
		case errors.Is(err, ErrCommitUnknown):
			a.w.counts[sawCommitUnknown]++
			a.w.counts[sawDayFailed]++
		default:
			a.w.counts[sawDayFailed]++
			part.Days[day] = fmt.Errorf("%w: %w", errSimStep, err)
		}
	}
}

// simSpy observes the results of a transaction.
type simSpy struct {
	PerDocumentStore
	of      *simApart
	in      map[dayName]bool // what was read, and whether the day has a record of it
	horizon int64
	counts  bool
	dropped int
}

func (s *simSpy) DayBatches(ctx context.Context, of []DayBatch) ([]DedupRecord, error) {
	all, err := s.PerDocumentStore.DayBatches(ctx, of)
	for i := range all {
		d := dayName{name{of[i].Key, of[i].Producer}, of[i].Day}
		s.in[d] = all[i].Print != [16]byte{}
		s.of.had[d] = s.of.had[d] || s.in[d]
	}
	return all, err
}

func (s *simSpy) Batches(ctx context.Context, keys []Key) ([]DedupRecord, error) {
	all, err := s.PerDocumentStore.Batches(ctx, keys)
	for i := range all {
		s.met(name{key: keys[i]}, &all[i])
	}
	return all, err
}

func (s *simSpy) Producers(ctx context.Context, producers []Producer) ([]DedupRecord, error) {
	all, err := s.PerDocumentStore.Producers(ctx, producers)
	for i := range all {
		s.met(name{producer: producers[i]}, &all[i])
	}
	return all, err
}

// met compares the records of days and the summary.
func (s *simSpy) met(n name, whole *DedupRecord) {
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

func (s *simSpy) AddTallies(ctx context.Context, tallies []Tally) ([]BucketKey, error) {
	s.counts = true
	for _, t := range tallies {
		if s.of.compacted[NewBucketKey(t.Minute.Day(), t.ID)] {
			s.of.w.counts[sawCompacted]++
		}
	}
	return s.PerDocumentStore.AddTallies(ctx, tallies)
}

func (s *simSpy) PutCompactedDays(ctx context.Context, days []CompactedDay) error {
	for _, d := range days {
		s.of.compacted[d.Key] = true
	}
	return s.PerDocumentStore.PutCompactedDays(ctx, days)
}

func (s *simSpy) DedupHorizon(ctx context.Context) (int64, error) {
	horizon, err := s.PerDocumentStore.DedupHorizon(ctx)
	s.horizon = horizon
	return horizon, err
}

func (s *simSpy) DropBatches(ctx context.Context, below int64, limit int) (int, error) {
	n, err := s.PerDocumentStore.DropBatches(ctx, below, limit)
	s.dropped += n
	return n, err
}

func (a *simApart) look(fn func(context.Context, PerDocumentStore) error) {
	was := a.w.running
	a.w.running = nil
	defer func() { a.w.running = was }()
	ctx := context.Background()
	if err := a.db.View(ctx, func(tx Tx) error { return fn(ctx, tx.(PerDocumentStore)) }); err != nil { //nolint:forcetypeassert // it is
		a.w.fail("%w", err)
	}
}

func (a *simApart) horizon() (at int64) {
	a.look(func(ctx context.Context, tx PerDocumentStore) (err error) {
		at, err = tx.DedupHorizon(ctx)
		return err
	})
	return at
}

// counted returns a metric's count in a minute, open and closed.
func (a *simApart) counted(id ID, at Minute) (sum int64) {
	a.look(func(ctx context.Context, tx PerDocumentStore) error {
		hours, err := tx.Buckets(ctx, Hours, []BucketKey{NewBucketKey(at.Hour(), id)})
		quarters, err2 := tx.Buckets(ctx, GaugeQuarters, []BucketKey{NewBucketKey(at.QuarterOf(), id)})
		compacted, err3 := tx.CompactedDays(ctx, []BucketKey{NewBucketKey(at.Day(), id)})
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
		if compacted[0].Key == 0 {
			return nil
		}
		values, err := decodeDay(&compacted[0], metas[0].Kind)
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
	a.look(func(ctx context.Context, tx PerDocumentStore) error {
		m := newModel()
		metas, err := tx.ListMetrics(ctx, "", "", math.MaxInt)
		for _, is := range metas {
			m.metrics[is.ID] = is
		}
		for _, table := range Tables {
			buckets, err2 := tx.FirstBuckets(ctx, table, math.MaxInt64, math.MaxInt)
			err = errors.Join(err, err2)
			for _, s := range buckets {
				m.buckets[table][s.Key] = s.Values
			}
		}
		// An hour prepared by a process whose clock is days behind may appear after its day was compacted.
		maps.DeleteFunc(m.buckets[Hours], func(key BucketKey, values []int64) bool {
			return m.buckets[Days][NewBucketKey(key.Unit()/24, key.ID())] == nil && slices.Max(values) == 0
		})
		return errors.Join(err, m.check())
	})
}

// dedup returns the largest number of records in a day.
func (a *simApart) dedup() (most int) {
	of := map[BucketKey]int{}
	a.look(func(ctx context.Context, tx PerDocumentStore) error {
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

// simulateApart runs a seed over PerDocumentStore stores.
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

// In an PerDocumentStore store each hit counts once, and each day adds up, whatever is lost, and if processes are killed
// between two days, or between the days and their summary.
func TestP02_SimulationApart(t *testing.T) {
	t.Parallel()
	simulateAll(t, simulateApart, longtest.Sample(8, 8, 120, 200), sawNames[:])
}
