// SPDX-License-Identifier: Apache-2.0

package counter_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance/perdocumenttest"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/perdocument"
)

// simDays is a database that writes each day on its own.
type simDays struct {
	w  *counter.SimWorld
	db perdocument.Database
	// had has the records that days were seen to have.
	had       map[perdocument.DayBatch]bool
	compacted map[counter.BucketKey]bool // days that were compacted
}

func openSimDays(w *counter.SimWorld) counter.SimDatabase {
	return &simDays{
		w: w, had: map[perdocument.DayBatch]bool{}, compacted: map[counter.BucketKey]bool{},
		db: perdocumenttest.NewMemory(func(s perdocumenttest.Step) perdocumenttest.Fault { return perdocumenttest.Fault(w.Fault(s.Write)) }),
	}
}

// The rare states of such databases.
const (
	sawPart        = "of a group a day was not written because of others, and tried again"
	sawInDay       = "a repeat was known in a day, and nowhere else"
	sawDayForgot   = "a day had forgotten what a summary says"
	sawHorizonRose = "the dedup horizon rose while a batch was counted"
	sawDayFailed   = "of a group a day was not written, or not for certain"
	sawUnread      = "of a group something could not be read, and its hits were refused"
	sawCompacted   = "a hit was counted in a day that had been packed"
)

// Database is the database as processes see it.
func (a *simDays) Database() counter.Database {
	return perdocument.Database{View: a.db.View, Update: func(ctx context.Context, fn func(perdocument.Store) error) error {
		var spy *simSpy
		err := a.db.Update(ctx, func(tx perdocument.Store) error {
			was := spy
			spy = &simSpy{Store: tx, of: a, in: map[perdocument.DayBatch]bool{}}
			err := fn(spy)
			if was != nil {
				a.w.Saw(counter.SawAgain)
				if spy.horizon > was.horizon && was.counts {
					a.w.Saw(sawHorizonRose)
				}
			}
			return err
		})
		var part *perdocument.PartialWriteError
		var unread *perdocument.UnreadError
		switch {
		case errors.As(err, &unread):
			a.w.Saw(sawUnread)
			unread.Err = fmt.Errorf("%w: %w", counter.ErrSimStep, unread.Err)
		case errors.As(err, &part):
			a.note(part)
		case errors.Is(err, counter.ErrCommitUnknown):
			a.w.Saw(counter.SawCommitUnknown)
		case err != nil && !errors.Is(err, counter.ErrOverflow) && !errors.Is(err, counter.ErrForgotten) && !errors.Is(err, counter.ErrSimAgain):
			return fmt.Errorf("%w: %w", counter.ErrSimStep, err)
		case err == nil && spy.dropped > 0:
			a.w.Saw(counter.SawForgotten)
		}
		return err
	}}.Counters()
}

// note counts the errors of days.
func (a *simDays) note(part *perdocument.PartialWriteError) {
	for day, err := range part.Days {
		switch {
		case errors.Is(err, counter.ErrConflict):
			a.w.Saw(sawPart)
		case errors.Is(err, counter.ErrCommitUnknown):
			a.w.Saw(counter.SawCommitUnknown)
			a.w.Saw(sawDayFailed)
		default:
			a.w.Saw(sawDayFailed)
			part.Days[day] = fmt.Errorf("%w: %w", counter.ErrSimStep, err)
		}
	}
}

// simSpy observes the results of a transaction.
type simSpy struct {
	perdocument.Store
	of      *simDays
	in      map[perdocument.DayBatch]bool // what was read: for each day, whether it has a record of the batch
	horizon int64
	counts  bool
	dropped int
}

func (s *simSpy) DayBatches(ctx context.Context, of []perdocument.DayBatch) ([]counter.DedupRecord, error) {
	all, err := s.Store.DayBatches(ctx, of)
	for i := range all {
		d := of[i]
		s.in[d] = all[i].Print != [16]byte{}
		s.of.had[d] = s.of.had[d] || s.in[d]
	}
	return all, err
}

func (s *simSpy) Batches(ctx context.Context, keys []counter.Key) ([]counter.DedupRecord, error) {
	all, err := s.Store.Batches(ctx, keys)
	for i := range all {
		s.met(counter.BatchName{Key: keys[i]}, &all[i])
	}
	return all, err
}

func (s *simSpy) Producers(ctx context.Context, producers []counter.Producer) ([]counter.DedupRecord, error) {
	all, err := s.Store.Producers(ctx, producers)
	for i := range all {
		s.met(counter.BatchName{Producer: producers[i]}, &all[i])
	}
	return all, err
}

// met compares the records of days and the summary.
func (s *simSpy) met(n counter.BatchName, whole *counter.DedupRecord) {
	for d, in := range s.in {
		switch known := whole.Print != [16]byte{}; {
		case d.Key != n.Key || d.Producer != n.Producer:
		case in && !known:
			s.of.w.Saw(sawInDay)
		case !in && known && s.of.had[d]:
			s.of.w.Saw(sawDayForgot)
		}
	}
}

func (s *simSpy) AddTallies(ctx context.Context, tallies []counter.Tally) ([]counter.BucketKey, error) {
	s.counts = true
	for _, t := range tallies {
		if s.of.compacted[counter.NewBucketKey(t.Minute.Day(), t.ID)] {
			s.of.w.Saw(sawCompacted)
		}
	}
	return s.Store.AddTallies(ctx, tallies)
}

func (s *simSpy) PutCompactedDays(ctx context.Context, days []counter.CompactedDay) error {
	for _, d := range days {
		s.of.compacted[d.Key] = true
	}
	return s.Store.PutCompactedDays(ctx, days)
}

func (s *simSpy) DedupHorizon(ctx context.Context) (int64, error) {
	horizon, err := s.Store.DedupHorizon(ctx)
	s.horizon = horizon
	return horizon, err
}

func (s *simSpy) DropBatches(ctx context.Context, below int64, limit int) (int, error) {
	n, err := s.Store.DropBatches(ctx, below, limit)
	s.dropped += n
	return n, err
}

func (a *simDays) look(fn func(context.Context, perdocument.Store) error) {
	a.w.Instantly(func() {
		ctx := context.Background()
		if err := a.db.View(ctx, func(tx perdocument.Store) error { return fn(ctx, tx) }); err != nil {
			a.w.Fail(err)
		}
	})
}

// Horizon returns the dedup horizon.
func (a *simDays) Horizon() (at int64) {
	a.look(func(ctx context.Context, tx perdocument.Store) (err error) {
		at, err = tx.DedupHorizon(ctx)
		return err
	})
	return at
}

// Counted returns a metric's count in a minute, open and closed.
func (a *simDays) Counted(id counter.ID, at counter.Minute) (sum int64) {
	a.look(func(ctx context.Context, tx perdocument.Store) error {
		hours, err := tx.Buckets(ctx, counter.Hours, []counter.BucketKey{counter.NewBucketKey(at.Hour(), id)})
		quarters, err2 := tx.Buckets(ctx, counter.GaugeQuarters,
			[]counter.BucketKey{counter.NewBucketKey(at.QuarterOf(), id)})
		compacted, err3 := tx.CompactedDays(ctx, []counter.BucketKey{counter.NewBucketKey(at.Day(), id)})
		metas, err4 := tx.Metrics(ctx, []counter.ID{id})
		if err := errors.Join(err, err2, err3, err4); err != nil {
			return err
		}
		if hours[0] != nil {
			sum += hours[0][at.InHour()]
		}
		if quarters[0] != nil {
			sum += quarters[0][at.InHour()%15*counter.Reading+counter.ReadingSum]
		}
		if compacted[0].Key == 0 {
			return nil
		}
		values, err := counter.SimDecode(&compacted[0], metas[0].Kind)
		if err != nil {
			return err
		}
		minute := at.HourOfDay()*60 + at.InHour()
		if metas[0].Kind == counter.Gauge {
			minute = minute*counter.Reading + counter.ReadingSum
		}
		sum += values[minute]
		return nil
	})
	return sum
}

// Check compares all days with their hours and minutes.
func (a *simDays) Check() {
	a.look(func(ctx context.Context, tx perdocument.Store) error {
		metas, err := tx.ListMetrics(ctx, "", "", math.MaxInt)
		buckets := map[counter.Table][]counter.Bucket{}
		for _, table := range counter.Tables {
			all, err2 := tx.FirstBuckets(ctx, table, math.MaxInt64, math.MaxInt)
			err, buckets[table] = errors.Join(err, err2), all
		}
		return errors.Join(err, counter.SimCheck(metas, buckets))
	})
}

// In a database that writes each day separately, each hit counts once and each day adds up, whatever is lost, and even
// if processes are killed between two days, or between the days and their summary.
func TestP02_SimulationApart(t *testing.T) {
	t.Parallel()
	simulate := func(seed uint64, counts counter.SimCounts) error { return counter.Simulate(seed, counts, openSimDays) }
	saws := []string{sawPart, sawInDay, sawDayForgot, sawHorizonRose, sawDayFailed, sawUnread, sawCompacted}
	counter.SimulateAll(t, simulate, longtest.Sample(8, 8, 120, 200), slices.Concat(counter.SimSaws, saws))
}
