// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/locus-db/locus/internal/problem"
)

// PerDocumentStore is a Store without transactions over several documents: each day of a metric is written atomically, but
// an update of several days may write only some of them. The update then fails with a *PartialWriteError; all days not
// named in it are durable. A day itself is atomic: its minutes, hours, quarters, total, closed part and dedup
// records are written together or not at all.
//
// The dedup record of a batch is therefore stored in each day that the batch was counted in. Batches and
// Producers return the summary record of the whole batch, which is written after its days. The summary allows
// days to forget their own record, and keeps the batch's record until the dedup horizon has passed it.
//
// To find out whether a batch was counted, read in this order: the days, because a day forgets its record only
// after the summary was written; then the summary, because it is only dropped after the dedup horizon has risen; then the
// floor.
//
// A read in an update that reaches only some of the documents fails with an *UnreadError.
type PerDocumentStore interface {
	Store
	// DayBatches returns the records that days have of batches, the zero DedupRecord where there is none. The
	// transaction writes a day read here only if no other transaction has changed its batch records since;
	// otherwise the day's error is ErrConflict.
	DayBatches(ctx context.Context, of []DayBatch) ([]DedupRecord, error)
	// PutDayBatches stores records of batches, each atomically with what the transaction counts in the day.
	PutDayBatches(ctx context.Context, of []DayMemory) error
}

// DayBatch identifies a batch in one day of a metric: by its Key or, if that is empty, by its Producer.
type DayBatch struct {
	Day      BucketKey
	Key      Key
	Producer Producer
}

// DayMemory is a day's record of a batch. Its Results show which hits were counted in the day.
type DayMemory struct {
	DayBatch
	DedupRecord
}

// Covers reports whether the summary of a batch contains everything in a day's record, so that the day may drop
// its own. The summary must also be kept as long as the day's record, so its Newest must not be lower.
func (r *DedupRecord) Covers(day DedupRecord) bool {
	switch {
	case r.Print == [16]byte{} || r.Newest < day.Newest:
		return false
	case r.Seq != day.Seq:
		return r.Seq > day.Seq
	case r.Print != day.Print:
		return false
	case len(r.Results) == 0:
		return true
	case len(r.Results) != len(day.Results):
		return false
	}
	for i, counted := range day.Results {
		if counted&^r.Results[i] != 0 {
			return false
		}
	}
	return true
}

// ErrConflict means that another transaction wrote the same day of a metric concurrently. Nothing of the day was
// written.
var ErrConflict = problem.Class(problem.ErrUnavailable, "counter: another transaction wrote the day at the same time")

// PartialWriteError names the days that an update of an PerDocumentStore store did not write, or whose outcome is unknown; in that
// case the day's error wraps ErrCommitUnknown. All other days were written.
type PartialWriteError struct{ Days map[BucketKey]error }

// Error describes one of the days and gives their number.
func (e *PartialWriteError) Error() string {
	for day, err := range e.Days {
		return fmt.Sprintf("counter: %d days were not written, or not for certain: %s of metric %d: %v", len(e.Days), dayBegin(day.Unit()).Format(time.DateOnly), day.ID(), err)
	}
	return "counter: some days were not written"
}

// Unwrap returns the errors of the days.
func (e *PartialWriteError) Unwrap() []error {
	errs := make([]error, 0, len(e.Days))
	for _, err := range e.Days {
		errs = append(errs, err)
	}
	return errs
}

// Conflicts reports whether all errors are conflicts with other writers.
func (e *PartialWriteError) Conflicts() bool {
	for _, err := range e.Days {
		if !errors.Is(err, ErrConflict) {
			return false
		}
	}
	return true
}

// settle records the results of hits whose days were written or failed for good, and reports whether no hit is
// left to retry.
func (g *commitGroup) settle(e *PartialWriteError) bool {
	g.final = true
	for _, p := range g.parts {
		p.earlier = p.earlier || p.some
	}
	return g.each(func(it *item) bool {
		err := e.Days[g.day(it)]
		if it.result == nil && errors.Is(err, ErrConflict) {
			return false
		}
		if it.result == nil {
			it.result = err
		}
		return true
	})
}

// giveUp sets the results of the hits that are not settled. They were not counted, unless the error of their day
// is ErrCommitUnknown.
func (g *commitGroup) giveUp(err error) {
	part, some := errors.AsType[*PartialWriteError](err)
	g.each(func(it *item) bool {
		if it.result = err; some {
			it.result = part.Days[g.day(it)]
		}
		return true
	})
	g.wanted = wanted{} // their metrics may not exist
}

// each settles the hits for which done returns true, and reports whether all are settled.
func (g *commitGroup) each(done func(*item) bool) bool {
	all := true
	for _, p := range g.parts {
		for i := range p.items {
			if it := &p.items[i]; !it.settled {
				it.settled = done(it)
				all = all && it.settled
			}
		}
	}
	return all
}

func (g *commitGroup) day(it *item) BucketKey { return NewBucketKey(g.minute(it).Day(), it.place.id) }

type dayName struct {
	name
	day BucketKey
}

// loadDayDedup reads the days' records of the group's batches.
func (g *commitGroup) loadDayDedup(ctx context.Context, tx Tx) error {
	var of []DayBatch
	for _, p := range g.parts {
		if p.request.once == nil {
			continue
		}
		n := p.request.once.name()
		for i := range p.items {
			if p.items[i].settled {
				continue
			}
			d := dayName{n, g.day(&p.items[i])}
			if _, asked := g.days[d]; !asked {
				g.days[d] = nil
				of = append(of, DayBatch{Day: d.day, Key: n.key, Producer: n.producer})
			}
		}
	}
	there, err := tx.(PerDocumentStore).DayBatches(ctx, of)
	for i := range there {
		g.days[dayName{name{of[i].Key, of[i].Producer}, of[i].Day}] = newDedupState(there[i])
	}
	return err
}

// rememberDays gives days that have no record of a batch, or one of an earlier batch of its producer, the record
// from the summary.
func (g *commitGroup) rememberDays() {
	for d, m := range g.days {
		if whole := g.dedup[d.name]; whole.known && (!m.known || m.Seq < whole.Seq) {
			is := newDedupState(whole.DedupRecord)
			if m.known {
				is.Newest = max(is.Newest, m.Newest) // the day may know of hits that the summary does not
			}
			g.days[d] = is
		}
	}
}

// putDays writes the records of counted batches atomically with their days (R4).
func (g *commitGroup) putDays(ctx context.Context, tx PerDocumentStore) error {
	var put []DayMemory
	for d, m := range g.days {
		if m.changed {
			put = append(put, DayMemory{DayBatch{d.day, d.key, d.producer}, m.DedupRecord})
		}
	}
	if len(put) == 0 {
		return nil
	}
	slices.SortFunc(put, func(a, b DayMemory) int { return cmp.Compare(a.Day, b.Day) })
	return tx.PutDayBatches(ctx, put)
}

// summarise writes the summaries of a group's batches after its days. If it fails, the days still have their
// records.
func (g *commitGroup) summarise(ctx context.Context, db Database) {
	if len(g.days) == 0 {
		return
	}
	_ = db.Update(ctx, func(tx Tx) error {
		clear(g.dedup)
		if err := g.loadBatchDedup(ctx, tx); err != nil {
			return err
		}
		for _, p := range g.parts {
			if p.request.once != nil && !p.unread {
				g.summary(p)
			}
		}
		return g.remember(ctx, tx)
	})
}

// summary adds the counted hits of a part to the summary of its batch.
func (g *commitGroup) summary(p *shardBatch) {
	o := p.request.once
	m := g.dedup[o.name()]
	c, _, err := m.match(o)
	if err != nil {
		return
	}
	newest, more := m.Newest, false
	for i := range p.items {
		if it := &p.items[i]; it.result == nil && !c.has(it.index) {
			c.set(it.index)
			newest, more = max(newest, it.at.UnixMilli()), true
		}
	}
	if more {
		m.keep(o, c, newest)
	}
}
