// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/perdocument"
)

// several is the number of concurrent writes that each need their own result.
const several = 32

// daysWriter writes days separately and collects the failures.
type daysWriter struct {
	counters
	mu     sync.Mutex
	failed map[counter.BucketKey]error
}

// writeDays writes the days of a transaction and returns their number. The error is errAgain if none was written
// because of concurrent writes, else a *perdocument.PartialWriteError.
func (t *counterTx) writeDays(ctx context.Context) (int, error) {
	var begun, compared, remembering, added []*day
	for _, d := range sorted(t.days) {
		increments := len(d.tallies)+len(d.prepared[counter.Hours])+len(d.prepared[counter.Days]) > 0
		if !d.rewritten && !d.remembers && !increments {
			continue
		}
		switch {
		case !d.there:
			begun = append(begun, d)
		case d.rewritten || d.remembers || d.compared:
			t.forget(d)
			if !d.rewritten && slices.ContainsFunc(d.memory, func(e entry) bool { return e.fresh }) {
				remembering = append(remembering, d)
			} else {
				compared = append(compared, d)
			}
		default:
			added = append(added, d)
		}
	}
	w := &daysWriter{counters: t.counters, failed: map[counter.BucketKey]error{}}
	w.begin(ctx, begun)
	w.compare(ctx, compared)
	w.remember(ctx, remembering)
	w.add(ctx, added)
	n := len(begun) + len(compared) + len(remembering) + len(added)
	if len(w.failed) == 0 {
		return n, nil
	}
	part := &perdocument.PartialWriteError{Days: w.failed}
	if len(w.failed) == n && part.Conflicts() {
		return 0, errAgain
	}
	return 0, part
}

func (w *daysWriter) fail(d *day, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed[d.key] = err
}

// begin inserts new days. On a duplicate key the day is a conflict: it is read again and retried.
func (w *daysWriter) begin(ctx context.Context, days []*day) {
	c := w.Collection(daysName)
	for chunk := range slices.Chunk(days, bulk) {
		docs := make([]any, len(chunk))
		for i, d := range chunk {
			if !d.whole { // there is nothing to read
				d.whole = true
				d.again()
			}
			docs[i] = d.doc()
		}
		_, err := c.InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
		w.note(chunk, err)
	}
}

// compare writes days on the condition that they are unchanged. Each write needs its own result.
func (w *daysWriter) compare(ctx context.Context, days []*day) {
	var g errgroup.Group
	g.SetLimit(several)
	for _, d := range days {
		g.Go(func() error {
			if err := w.swap(ctx, d); err != nil {
				w.fail(d, err)
			}
			return nil
		})
	}
	_ = g.Wait()
}

func (w *daysWriter) swap(ctx context.Context, d *day) error {
	c := w.Collection(daysName)
	filter := bson.D{{Key: "_id", Value: idOf(d.key)}, {Key: "v", Value: d.v}}
	var result *mongo.UpdateResult
	var err error
	if d.rewritten {
		// Counts added by others since are not in the document: then the total differs.
		result, err = c.ReplaceOne(ctx, append(filter, bson.E{Key: "n", Value: d.n}), d.doc())
	} else {
		result, err = c.UpdateOne(ctx, filter, d.update())
	}
	switch {
	case err != nil:
		return outcome(err)
	case result.MatchedCount == 0:
		return counter.ErrConflict
	}
	return nil
}

// remember writes, in bulks, days that are compared and remember batches. The result of a bulk says how many
// matched, but not which: then the days are read again.
func (w *daysWriter) remember(ctx context.Context, days []*day) {
	c := w.Collection(daysName)
	for chunk := range slices.Chunk(days, bulk) {
		models := make([]mongo.WriteModel, len(chunk))
		for i, d := range chunk {
			models[i] = mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: idOf(d.key)}, {Key: "v", Value: d.v}}).SetUpdate(d.update())
		}
		result, err := c.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
		w.note(chunk, err)
		open := slices.DeleteFunc(slices.Clone(chunk), func(d *day) bool { return w.failed[d.key] != nil })
		if len(open) > 0 && (result == nil || result.MatchedCount < int64(len(open))) {
			w.look(ctx, open)
		}
	}
}

// look determines which days were written, by the mark that each write leaves with its version. If a day has
// advanced by more than one version, the outcome is unknown.
func (w *daysWriter) look(ctx context.Context, days []*day) {
	ids := make([]string, len(days))
	for i, d := range days {
		ids[i] = idOf(d.key)
	}
	there := map[counter.BucketKey]dayDoc{}
	err := findIn(ctx, w.Collection(daysName), ids, headFields, func(doc dayDoc) { there[doc.key()] = doc })
	for _, d := range days {
		switch is := there[d.key]; {
		case err != nil:
			w.fail(d, fmt.Errorf("%w: %w", counter.ErrCommitUnknown, err))
		case is.V == d.v+1 && is.By == d.by:
		case is.V <= d.v+1:
			w.fail(d, counter.ErrConflict)
		default:
			w.fail(d, fmt.Errorf("%w: others have written the day several times since", counter.ErrCommitUnknown))
		}
	}
}

// update returns the update of a day that is compared but not replaced.
func (d *day) update() bson.D {
	inc := append(bson.D{{Key: "v", Value: int64(1)}}, d.increments()...)
	update := bson.D{{Key: "$inc", Value: inc}}
	d.by = rand.Int64()
	set := append(bson.D{{Key: "by", Value: d.by}}, d.opens()...)
	if d.remembers {
		memory := d.memory
		if memory == nil {
			memory = []entry{}
		}
		set = append(set, bson.E{Key: "k", Value: memory})
	}
	return append(update, bson.E{Key: "$set", Value: set})
}

// opens marks a day as open if something is counted in it.
func (d *day) opens() bson.D {
	if len(d.tallies)+len(d.prepared[counter.Days]) > 0 {
		return bson.D{{Key: "open", Value: 1}}
	}
	return nil
}

// add increments days, regardless of concurrent increments.
func (w *daysWriter) add(ctx context.Context, days []*day) {
	c := w.Collection(daysName)
	for chunk := range slices.Chunk(days, bulk) {
		models := make([]mongo.WriteModel, len(chunk))
		for i, d := range chunk {
			// A day that was compacted since is opened again.
			update := bson.D{{Key: "$inc", Value: d.increments()}, {Key: "$set", Value: d.opens()}}
			models[i] = mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: idOf(d.key)}}).SetUpdate(update)
		}
		result, err := c.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
		if err == nil && result.MatchedCount < int64(len(chunk)) {
			err = fmt.Errorf("%w: some of %d days are not there any more: were documents of %s deleted?",
				counter.ErrCommitUnknown, len(chunk), daysName)
		}
		w.note(chunk, err)
	}
}

// note records the failures of a bulk.
func (w *daysWriter) note(days []*day, err error) {
	e, listed := errors.AsType[mongo.BulkWriteException](err)
	switch {
	case err == nil:
	case listed && e.WriteConcernError == nil && len(e.WriteErrors) > 0:
		for _, one := range e.WriteErrors {
			w.fail(days[one.Index], outcome(one.WriteError))
		}
	default:
		err = outcome(err)
		for _, d := range days {
			w.fail(d, err)
		}
	}
}

// outcome wraps the error of a write to a day in the sentinels of package counter.
func outcome(err error) error {
	if hasCode(err, duplicateKey) || hasCode(err, badValue) { // the next read finds the cause
		return fmt.Errorf("%w: %w", counter.ErrConflict, err)
	}
	err = unwritten(err)
	if errors.Is(err, cell.ErrCommitUnknown) {
		return fmt.Errorf("%w: %w", counter.ErrCommitUnknown, err)
	}
	return err
}

func hasCode(err error, code int) bool {
	if e, ok := errors.AsType[mongo.WriteError](err); ok {
		return e.Code == code
	}
	e, ok := errors.AsType[mongo.ServerError](err)
	return ok && e.HasErrorCode(code)
}

// badValue is the error code of an increment that overflows.
const badValue = 2
