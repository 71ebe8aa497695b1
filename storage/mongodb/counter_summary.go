// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/perdocument"
)

// summary is the dedup record of a whole batch.
type summary struct {
	there   bool
	v       int64
	newest  int64 // as read
	is      counter.DedupRecord
	changed bool
	gone    bool // and dropped
}

type summaryDoc struct {
	Name     string `bson:"_id"`
	V        int64  `bson:"v"`
	Producer bool   `bson:"producer"`
	Seq      int64  `bson:"seq"`
	Newest   int64  `bson:"newest"`
	Print    []byte `bson:"print"`
	Results  []byte `bson:"results"`
}

// Batches reads the summaries of batches with keys.
func (t *counterTx) Batches(ctx context.Context, keys []counter.Key) ([]counter.DedupRecord, error) {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = nameOf(key, counter.Producer{})
	}
	return t.recall(ctx, names)
}

// Producers reads the summaries of the last batches of producers.
func (t *counterTx) Producers(ctx context.Context, producers []counter.Producer) ([]counter.DedupRecord, error) {
	names := make([]string, len(producers))
	for i, p := range producers {
		names[i] = nameOf("", p)
	}
	return t.recall(ctx, names)
}

func (t *counterTx) recall(ctx context.Context, names []string) ([]counter.DedupRecord, error) {
	if err := t.loadSummaries(ctx, names); err != nil {
		return nil, err
	}
	all := make([]counter.DedupRecord, len(names))
	for i, name := range names {
		all[i] = t.summaries[name].is
	}
	return all, nil
}

// loadSummaries reads summaries that were not read before, and those of batches seen in days.
func (t *counterTx) loadSummaries(ctx context.Context, names []string) error {
	if t.over {
		return errOver
	}
	var absent []string
	want := func(name string) {
		if t.summaries[name] == nil {
			t.summaries[name] = &summary{}
			absent = append(absent, name)
		}
	}
	for _, name := range names {
		want(name)
	}
	for name := range t.seen {
		want(name)
	}
	clear(t.seen)
	slices.Sort(absent)
	lost, err := findOf(t, batchesName, absent, nil, func(doc summaryDoc) {
		s := t.summaries[doc.Name]
		s.there, s.v, s.newest = true, doc.V, doc.Newest
		e := entry{Seq: doc.Seq, Newest: doc.Newest, Print: doc.Print, Results: doc.Results}
		s.is = e.dedup()
	})
	if len(lost) == 0 {
		return err
	}
	for _, name := range absent {
		delete(t.summaries, name)
	}
	lost = slices.DeleteFunc(lost, func(name string) bool { return !slices.Contains(names, name) })
	if len(lost) == 0 { // days keep the batches that were found in them
		return t.loadSummaries(ctx, names)
	}
	return unreadBatches(lost)
}

// unreadBatches returns the error for batches whose summaries are away.
func unreadBatches(names []string) error {
	unread := &perdocument.UnreadError{Err: errAway}
	for _, name := range names {
		if key, is := strings.CutPrefix(name, "k"); is {
			unread.Keys = append(unread.Keys, counter.Key(key))
			continue
		}
		var producer counter.Producer
		_, _ = hex.Decode(producer[:], []byte(name[1:]))
		unread.Producers = append(unread.Producers, producer)
	}
	return unread
}

// PutBatches writes the summaries of batches with keys.
func (t *counterTx) PutBatches(ctx context.Context, batches []counter.KeyedBatch) error {
	names, of := make([]string, len(batches)), make([]counter.DedupRecord, len(batches))
	for i := range batches {
		names[i], of[i] = nameOf(batches[i].Key, counter.Producer{}), batches[i].DedupRecord
	}
	return t.summarise(ctx, names, of)
}

// PutProducers writes the summaries of the last batches of producers.
func (t *counterTx) PutProducers(ctx context.Context, batches []counter.ProducedBatch) error {
	names, of := make([]string, len(batches)), make([]counter.DedupRecord, len(batches))
	for i := range batches {
		names[i], of[i] = nameOf("", batches[i].Producer), batches[i].DedupRecord
	}
	return t.summarise(ctx, names, of)
}

func (t *counterTx) summarise(ctx context.Context, names []string, of []counter.DedupRecord) error {
	if err := t.writes(); err != nil {
		return err
	}
	if err := t.loadSummaries(ctx, names); err != nil {
		return err
	}
	for i, name := range names {
		s := t.summaries[name]
		s.is, s.changed, s.gone = of[i], true, false
	}
	return nil
}

// DropBatches drops batches below a time.
func (t *counterTx) DropBatches(ctx context.Context, below int64, limit int) (int, error) {
	return t.drop(ctx, false, below, limit)
}

// DropProducers drops producers below a time.
func (t *counterTx) DropProducers(ctx context.Context, below int64, limit int) (int, error) {
	return t.drop(ctx, true, below, limit)
}

func (t *counterTx) drop(ctx context.Context, producers bool, below int64, limit int) (int, error) {
	if err := t.writes(); err != nil {
		return 0, err
	}
	old := map[string]bool{}
	for name, s := range t.summaries {
		if name[0] == 'p' == producers && s.changed && !s.gone && s.is.Newest < below {
			old[name] = true
		}
	}
	filter := bson.D{{Key: "producer", Value: producers}, {Key: "newest", Value: bson.D{{Key: "$lt", Value: below}}}}
	opts := options.Find().SetLimit(int64(limit + len(t.summaries))).SetSort(bson.D{{Key: "newest", Value: 1}})
	err := find(t.session, t.Collection(batchesName), filter, opts, func(doc summaryDoc) {
		if s := t.summaries[doc.Name]; s == nil || !s.changed {
			if s == nil {
				s = &summary{there: true, v: doc.V, newest: doc.Newest}
				t.summaries[doc.Name] = s
			}
			if !s.gone {
				old[doc.Name] = true
			}
		}
	})
	if err != nil {
		return 0, fmt.Errorf("look for batches that are old: %w", err)
	}
	n := 0
	for name := range old {
		if n == limit {
			break
		}
		s := t.summaries[name]
		s.is, s.changed, s.gone = counter.DedupRecord{}, true, true
		n++
	}
	return n, ctx.Err()
}

// writeSummaries writes the summaries, each only if it is unchanged since it was read.
func (t *counterTx) writeSummaries(ctx context.Context) error {
	c := t.Collection(batchesName)
	for name, s := range t.summaries {
		if !s.changed || s.gone && !s.there {
			continue
		}
		e := newEntry(name, s.is)
		doc := summaryDoc{
			Name: name, V: s.v + 1, Producer: name[0] == 'p', Seq: e.Seq, Newest: e.Newest, Print: e.Print,
			Results: e.Results,
		}
		// A summary that was dropped and re-created may have the same version, but has a later time.
		filter := bson.D{{Key: "_id", Value: name}, {Key: "v", Value: s.v}, {Key: "newest", Value: s.newest}}
		var matched int64
		var err error
		switch {
		case s.gone:
			var result *mongo.DeleteResult
			if result, err = c.DeleteOne(ctx, filter); err == nil {
				matched = result.DeletedCount
			}
		case s.there:
			var result *mongo.UpdateResult
			if result, err = c.ReplaceOne(ctx, filter, doc); err == nil {
				matched = result.MatchedCount
			}
		default:
			if _, err = c.InsertOne(ctx, doc); err == nil {
				matched = 1
			} else if mongo.IsDuplicateKeyError(err) {
				err = nil
			}
		}
		switch {
		case err != nil:
			return outcome(err)
		case matched == 0 && !s.gone:
			return errAgain
		}
	}
	return nil
}
