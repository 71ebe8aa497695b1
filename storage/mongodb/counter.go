// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/perdocument"
)

// The collections of counters.
const (
	namesName   = "metric_name"   // the number of each name
	metricsName = "metric"        // the metadata of each metric, by number
	daysName    = "counter_day"   // a document per day of a metric
	batchesName = "counter_batch" // summaries of batches
	stateName   = "counter_state" // the dedup horizon, and the last number given out
)

// placeOfMetrics is the name of the only place of metrics in the database.
const placeOfMetrics = "mongodb"

// counters implements counter.Cells for a database. One database is one place: the server distributes its
// documents.
type counters struct{ *Database }

// Metrics returns the counters of the database, for a counter.Recorder.
func (d *Documents) Metrics() counter.Cells { return counters{d.Database} }

// List returns the one place.
func (counters) List() []string { return []string{placeOfMetrics} }

// Cell returns that place.
func (c counters) Cell(string) counter.Database {
	return c.database().Counters()
}

func (c counters) database() perdocument.Database {
	return perdocument.Database{Update: c.update, View: c.view}
}

// prepareCounters creates the indexes, and the documents that are only ever updated.
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
		if _, err := d.Collection(index.collection).Indexes().CreateOne(ctx, mongo.IndexModel{Keys: keys}); err != nil {
			return fmt.Errorf("index %s: %w", index.collection, unread(err))
		}
	}
	for _, doc := range []bson.D{{{Key: "_id", Value: "floor"}, {Key: "at", Value: int64(0)}}, {{Key: "_id", Value: "metric"}, {Key: "last", Value: int64(0)}}} {
		if _, err := d.Collection(stateName).InsertOne(ctx, doc); err != nil && !mongo.IsDuplicateKeyError(err) {
			return fmt.Errorf("insert into %s: %w", stateName, unread(err))
		}
	}
	return nil
}

// Places assigns each metric a permanent number.
func (c counters) Places(ctx context.Context, metrics []counter.Metric, create, _ bool) []counter.Place {
	places := make([]counter.Place, len(metrics))
	numbers, away, err := c.numbers(ctx, metrics)
	if err == nil && create {
		err = c.number(ctx, slices.DeleteFunc(slices.Clone(metrics), func(m counter.Metric) bool { return slices.Contains(away, string(m)) }), numbers)
	}
	for i, m := range metrics {
		switch id := numbers[m]; {
		case id != 0:
			places[i] = counter.Place{Cell: placeOfMetrics, ID: id}
		case slices.Contains(away, string(m)):
			places[i].Err = fmt.Errorf("place of metric %q: %w", m, errAway)
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

// numbers reads the numbers of the metrics that have one, and returns the names of those whose document is away.
func (c counters) numbers(ctx context.Context, metrics []counter.Metric) (numbers map[counter.Metric]counter.ID, away []string, _ error) {
	numbers = make(map[counter.Metric]counter.ID, len(metrics))
	names := make([]string, len(metrics))
	for i, m := range metrics {
		names[i] = string(m)
	}
	away, err := findApart(ctx, c.Database, c.Collection(namesName), names, nil, func(n numbered) {
		numbers[n.Name] = n.ID
	})
	if len(away) == 0 || len(away) == len(names) {
		return numbers, away, err
	}
	others := slices.DeleteFunc(names, func(name string) bool { return slices.Contains(away, name) })
	more, err := findApart(ctx, c.Database, c.Collection(namesName), others, nil, func(n numbered) {
		numbers[n.Name] = n.ID
	})
	return numbers, append(away, more...), err
}

// number assigns numbers to the metrics that have none. If another process assigns one first, that number is used, and
// the one of this process stays unused.
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
	err := c.guard(ctx, c.Collection(stateName), "metric", func(ctx context.Context) error {
		return unread(c.Collection(stateName).FindOneAndUpdate(ctx, bson.D{{Key: "_id", Value: "metric"}},
			bson.D{{Key: "$inc", Value: bson.D{{Key: "last", Value: int64(len(absent))}}}},
			options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&last))
	})
	if err != nil {
		return err // numbers that are lost stay unused
	}
	docs := make([]any, len(absent))
	for i, m := range absent {
		docs[i] = numbered{m, counter.ID(last.Last - int64(i))}
	}
	if _, err := insertNew(ctx, c.Collection(namesName), docs); err != nil {
		// even if they were assigned, nothing was counted
		return fmt.Errorf("%w: give numbers: %s", cell.ErrUnavailable, err.Error())
	}
	found, away, err := c.numbers(ctx, absent)
	maps.Copy(numbers, found)
	if err == nil && len(away) > 0 {
		err = errAway
	}
	return err
}
