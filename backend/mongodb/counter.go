// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/counter"
)

// The collections of counters.
const (
	namesName   = "metric_name"   // the number of each name
	metricsName = "metric"        // what is known of each metric, by its number
	daysName    = "counter_day"   // a document for each day of a metric
	batchesName = "counter_batch" // what is remembered of batches as a whole
	stateName   = "counter_state" // the floor, and the number given last
)

// placeOfMetrics is what the place of all metrics in the database is called.
const placeOfMetrics = "mongodb"

// counters are the metrics of a database. One database is one place: the server spreads its documents.
type counters struct{ *Database }

// Metrics are the counters of the database, as package counter needs them. Make a counter.Recorder of them.
func (d *Database) Metrics() counter.Cells { return counters{d} }

// List names the one place there is.
func (counters) List() []string { return []string{placeOfMetrics} }

// Cell is that place.
func (c counters) Cell(string) counter.Database {
	return counter.Database{Update: c.update, View: c.view}
}

// prepareCounters makes what counters find in their collections: indexes, and the documents that are only
// ever changed.
func (d *Database) prepareCounters(ctx context.Context) error {
	for _, index := range []struct {
		collection string
		fields     []string
	}{
		{metricsName, []string{"name"}},
		{daysName, []string{"open", "_id"}},
		{daysName, []string{"gauge", "_id"}},
		{daysName, []string{"closed.detail", "_id"}},
		{batchesName, []string{"producer", "newest"}},
	} {
		keys := bson.D{}
		for _, f := range index.fields {
			keys = append(keys, bson.E{Key: f, Value: 1})
		}
		if _, err := d.collection(index.collection).Indexes().CreateOne(ctx, mongo.IndexModel{Keys: keys}); err != nil {
			return fmt.Errorf("index %s: %w", index.collection, unread(err))
		}
	}
	for _, doc := range []bson.D{{{Key: "_id", Value: "floor"}, {Key: "at", Value: int64(0)}}, {{Key: "_id", Value: "metric"}, {Key: "last", Value: int64(0)}}} {
		if _, err := d.collection(stateName).InsertOne(ctx, doc); err != nil && !mongo.IsDuplicateKeyError(err) {
			return fmt.Errorf("insert into %s: %w", stateName, unread(err))
		}
	}
	return nil
}

// Places gives each metric a number, which it keeps for ever.
func (c counters) Places(ctx context.Context, metrics []counter.Metric, create, _ bool) []counter.Place {
	places := make([]counter.Place, len(metrics))
	numbers, err := c.numbers(ctx, metrics)
	if err == nil && create {
		err = c.number(ctx, metrics, numbers)
	}
	for i, m := range metrics {
		switch id := numbers[m]; {
		case id != 0:
			places[i] = counter.Place{Cell: placeOfMetrics, ID: id}
		case err != nil:
			places[i].Err = fmt.Errorf("place of the metric: %w", err)
		}
	}
	return places
}

type numbered struct {
	Name counter.Metric `bson:"_id"`
	ID   counter.ID     `bson:"id"`
}

// numbers reads the numbers of those metrics that have one.
func (c counters) numbers(ctx context.Context, metrics []counter.Metric) (map[counter.Metric]counter.ID, error) {
	numbers := make(map[counter.Metric]counter.ID, len(metrics))
	return numbers, findIn(ctx, c.collection(namesName), metrics, nil, func(n numbered) { numbers[n.Name] = n.ID })
}

// number gives numbers to those that have none. Numbers that somebody else's replace are used by nobody.
func (c counters) number(ctx context.Context, metrics []counter.Metric, numbers map[counter.Metric]counter.ID) error {
	var absent []counter.Metric
	for _, m := range metrics {
		if _, there := numbers[m]; !there {
			numbers[m] = 0
			absent = append(absent, m)
		}
	}
	if len(absent) == 0 {
		return nil
	}
	var last struct {
		Last int64 `bson:"last"`
	}
	err := c.collection(stateName).FindOneAndUpdate(ctx, bson.D{{Key: "_id", Value: "metric"}},
		bson.D{{Key: "$inc", Value: bson.D{{Key: "last", Value: int64(len(absent))}}}},
		options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&last)
	if err != nil {
		return unread(err) // numbers that are lost are used by nobody
	}
	docs := make([]any, len(absent))
	for i, m := range absent {
		docs[i] = numbered{m, counter.ID(last.Last - int64(i))}
	}
	if err := c.insert(ctx, namesName, docs); err != nil {
		return unread(err) // a number may have been given, which counts nothing
	}
	found, err := c.numbers(ctx, absent)
	maps.Copy(numbers, found)
	return err
}

// insert inserts documents; those whose _id is there already are passed over.
func (d *Database) insert(ctx context.Context, collection string, docs []any) error {
	if len(docs) == 0 {
		return nil
	}
	_, err := d.collection(collection).InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
	if e, ok := errors.AsType[mongo.BulkWriteException](err); ok && e.WriteConcernError == nil {
		for _, w := range e.WriteErrors {
			if w.Code != duplicateKey {
				return err
			}
		}
		return nil
	}
	return err
}

// duplicateKey is the code of an insertion whose _id is there already.
const duplicateKey = 11000

// inAtOnce is how many documents are asked for at once.
const inAtOnce = 1000

// findIn reads the documents that have one of some ids.
func findIn[K comparable, D any](ctx context.Context, c *mongo.Collection, ids []K, fields bson.D, each func(D)) error {
	for len(ids) > 0 {
		n := min(len(ids), inAtOnce)
		filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids[:n]}}}}
		if n == 1 {
			filter = bson.D{{Key: "_id", Value: ids[0]}}
		}
		opts := options.Find()
		if fields != nil {
			opts.SetProjection(fields)
		}
		if err := find(ctx, c, filter, opts, each); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

// find reads documents one by one.
func find[D any](ctx context.Context, c *mongo.Collection, filter bson.D, opts *options.FindOptionsBuilder, each func(D)) error {
	return findWhile(ctx, c, filter, opts, func(doc D) bool {
		each(doc)
		return true
	})
}

// findWhile reads documents one by one, as long as more says so.
func findWhile[D any](ctx context.Context, c *mongo.Collection, filter bson.D, opts *options.FindOptionsBuilder, more func(D) bool) error {
	cursor, err := c.Find(ctx, filter, opts)
	if err != nil {
		return unread(err)
	}
	defer cursor.Close(context.WithoutCancel(ctx))
	for cursor.Next(ctx) {
		var doc D
		if err := cursor.Decode(&doc); err != nil {
			return fmt.Errorf("document of %s: %w", c.Name(), err)
		}
		if !more(doc) {
			return nil
		}
	}
	return unread(cursor.Err())
}
