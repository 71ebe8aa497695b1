// SPDX-License-Identifier: Apache-2.0

package perdocument

import (
	"context"
	"errors"

	"github.com/locus-db/locus/counter"
)

// Store is a counter.Store without transactions over several documents: each day of a metric is written atomically, but
// an update of several days may write only some of them. The update then fails with a *PartialWriteError; all days
// not named in it are durable. A day itself is atomic: its minutes, hours, quarters, total, closed part and dedup
// records are written together or not at all.
//
// The dedup record of a batch is therefore stored in each day that the batch was counted in. Batches and
// Producers return the summary record of the whole batch, which is written after its days. The summary allows
// days to forget their own record, and keeps the batch's record until the dedup horizon has passed it.
//
// A read in an update that reaches only some of the documents fails with an *UnreadError. A backend runs
// perdocumenttest.Run to certify itself.
type Store interface {
	counter.Store
	// DayBatches returns the records of batches in days, the zero DedupRecord where there is none. The transaction
	// writes a day read here only if no other transaction has changed its batch records since; otherwise the day's
	// error is counter.ErrConflict.
	DayBatches(ctx context.Context, of []DayBatch) ([]counter.DedupRecord, error)
	// PutDayBatches stores records of batches, each atomically with the transaction's counts of the day.
	PutDayBatches(ctx context.Context, of []DayMemory) error
}

// DayBatch identifies a batch in one day of a metric: by its Key or, if that is empty, by its Producer.
type DayBatch struct {
	Day      counter.BucketKey
	Key      counter.Key
	Producer counter.Producer
}

// DayMemory is a day's record of a batch. Its Results show which hits were counted in the day.
type DayMemory struct {
	DayBatch
	counter.DedupRecord
}

// Covers reports whether the summary of a batch contains everything in a day's record, so that the day may drop
// its own. The summary must also be kept as long as the day's record, so its Newest must not be lower.
func Covers(summary, day counter.DedupRecord) bool {
	switch {
	case summary.Print == [16]byte{} || summary.Newest < day.Newest:
		return false
	case summary.Seq != day.Seq:
		return summary.Seq > day.Seq
	case summary.Print != day.Print:
		return false
	case len(summary.Results) == 0:
		return true
	case len(summary.Results) != len(day.Results):
		return false
	}
	for i, counted := range day.Results {
		if counted&^summary.Results[i] != 0 {
			return false
		}
	}
	return true
}

// Database runs updates and reads of one cell, like counter.Database.
type Database struct {
	Update, View func(ctx context.Context, fn func(Store) error) error
}

// Counters returns the database for a counter.Recorder.
func (d Database) Counters() counter.Database {
	run := func(how func(context.Context, func(Store) error) error) func(context.Context, func(counter.Tx) error) error {
		return func(ctx context.Context, fn func(counter.Tx) error) error {
			return how(ctx, func(tx Store) error { return fn(tx) })
		}
	}
	return counter.Database{Update: run(d.Update), View: run(d.View), Writer: d}
}

// Rewrite implements counter.Writer.
func (d Database) Rewrite(ctx context.Context, fn func(counter.Tx) error) (map[counter.BucketKey]error, error) {
	err := d.Update(ctx, func(tx Store) error { return fn(tx) })
	if part, some := errors.AsType[*PartialWriteError](err); some {
		return part.Days, nil
	}
	return nil, err
}
