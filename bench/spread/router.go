// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// router talks to a mongos. It needs only commands and a database of its own.
type router struct {
	database string
	// run sends a command to a database and decodes the reply.
	run func(ctx context.Context, database string, command bson.D, answer any) error
}

// batch is the number of documents per insert.
const batch = 1000

// shards returns the names of the cluster's shards in order, except those that are being drained.
func (r router) shards(ctx context.Context) (names []string, err error) {
	var answer struct {
		Shards []struct {
			ID       string `bson:"_id"`
			Draining bool   `bson:"draining"`
		} `bson:"shards"`
	}
	if err := r.run(ctx, "admin", bson.D{{Key: "listShards", Value: 1}}, &answer); err != nil {
		return nil, fmt.Errorf("list the shards: %w", err)
	}
	for _, s := range answer.Shards {
		if !s.Draining {
			names = append(names, s.ID)
		}
	}
	slices.Sort(names)
	return names, nil
}

// measureKind writes documents, in the order of their minutes, into a new collection whose ranges are placed
// beforehand, and returns the shares of the shards.
func (r router) measureKind(ctx context.Context, k kind, names []string, ranges []placed,
	documents iter.Seq[document]) (*spread, error) {
	if err := r.place(ctx, k, names, ranges); err != nil {
		return nil, err
	}
	s := newSpread(k, len(names))
	before, err := r.counts(ctx, k, names)
	if err != nil {
		return nil, err
	}
	// end counts the writes of a minute, after its last documents.
	end := func(minute int, rest []any) error {
		for part := range slices.Chunk(rest, batch) {
			if err := r.insert(ctx, k, part); err != nil {
				return err
			}
		}
		now, err := r.counts(ctx, k, names)
		if err != nil {
			return err
		}
		total := 0
		for i := range now {
			s.writes[minute][i] = now[i] - before[i]
			total += now[i] - before[i]
		}
		if total != len(rest) || slices.Min(s.writes[minute]) < 0 {
			return fmt.Errorf("%d documents were inserted, and the numbers of the shards %v grew by %v: something else moves or writes documents", len(rest), names, s.writes[minute])
		}
		before = now
		return nil
	}
	minute := 0
	var waiting []any
	for d := range documents {
		if d.minute != minute {
			if err := end(minute, waiting); err != nil {
				return nil, err
			}
			minute, waiting = d.minute, waiting[:0]
		}
		waiting = append(waiting, bson.D{{Key: "_id", Value: k.value(d.key)}})
	}
	return s, end(minute, waiting)
}

// place shards a collection on _id, switches its balancer off and moves each range to its shard.
func (r router) place(ctx context.Context, k kind, names []string, ranges []placed) error {
	space := r.database + "." + k.name
	admin := func(what string, command bson.D) error {
		if err := r.run(ctx, "admin", command, &bson.Raw{}); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}
	// Required before MongoDB 6.0, harmless later.
	if err := admin("let the database be sharded", bson.D{{Key: "enableSharding", Value: r.database}}); err != nil {
		return err
	}
	err := admin("shard the collection",
		bson.D{{Key: "shardCollection", Value: space}, {Key: "key", Value: bson.D{{Key: "_id", Value: 1}}}})
	if err != nil {
		return err
	}
	if err := r.still(ctx, space); err != nil {
		return err
	}
	for _, at := range ranges[1:] {
		err := admin("split a range", bson.D{{Key: "split", Value: space},
			{Key: "middle", Value: bson.D{{Key: "_id", Value: k.value(at.low)}}}})
		if err != nil {
			return err
		}
	}
	for i, at := range ranges {
		var low, high any = bson.MinKey{}, bson.MaxKey{}
		if i > 0 {
			low = k.value(at.low)
		}
		if i+1 < len(ranges) {
			high = k.value(ranges[i+1].low)
		}
		err := admin("move a range to "+names[at.shard], bson.D{
			{Key: "moveChunk", Value: space},
			{Key: "bounds", Value: bson.A{bson.D{{Key: "_id", Value: low}}, bson.D{{Key: "_id", Value: high}}}},
			{Key: "to", Value: names[at.shard]},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// still switches the balancer off for a collection. The command exists since MongoDB 8.1; before,
// sh.disableBalancing makes the write that is made here.
func (r router) still(ctx context.Context, space string) error {
	command := r.run(ctx, "admin", bson.D{{Key: "configureCollectionBalancing", Value: space},
		{Key: "enableBalancing", Value: false}}, &bson.Raw{})
	if command == nil {
		return nil
	}
	var answer struct {
		N int `bson:"n"`
	}
	err := r.run(ctx, "config", bson.D{
		{Key: "update", Value: "collections"},
		{Key: "updates", Value: bson.A{bson.D{
			{Key: "q", Value: bson.D{{Key: "_id", Value: space}}},
			{Key: "u", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "noBalance", Value: true}}}}},
		}}},
		{Key: "writeConcern", Value: bson.D{{Key: "w", Value: "majority"}}},
	}, &answer)
	if err != nil || answer.N != 1 {
		return fmt.Errorf("switch the balancer off for %s: %w", space, errors.Join(command, err))
	}
	return nil
}

// insert writes documents.
func (r router) insert(ctx context.Context, k kind, documents []any) error {
	var answer struct {
		N int `bson:"n"`
	}
	err := r.run(ctx, r.database, bson.D{
		{Key: "insert", Value: k.name}, {Key: "documents", Value: bson.A(documents)}, {Key: "ordered", Value: false},
	}, &answer)
	if err == nil && answer.N != len(documents) {
		err = fmt.Errorf("%d of %d were taken", answer.N, len(documents))
	}
	if err != nil {
		return fmt.Errorf("insert documents: %w", err)
	}
	return nil
}

// counts returns the number of documents per shard. A shard without a range is missing in the reply.
func (r router) counts(ctx context.Context, k kind, names []string) ([]int, error) {
	var answer struct {
		Cursor struct {
			FirstBatch []struct {
				Shard string `bson:"shard"`
				Count int    `bson:"count"`
			} `bson:"firstBatch"`
		} `bson:"cursor"`
	}
	err := r.run(ctx, r.database, bson.D{
		{Key: "aggregate", Value: k.name},
		{Key: "pipeline", Value: bson.A{bson.D{{Key: "$collStats", Value: bson.D{{Key: "count", Value: bson.D{}}}}}}},
		{Key: "cursor", Value: bson.D{{Key: "batchSize", Value: batch}}},
	}, &answer)
	if err != nil {
		return nil, fmt.Errorf("count the documents of each shard: %w", err)
	}
	all := make([]int, len(names))
	for _, c := range answer.Cursor.FirstBatch {
		i := slices.Index(names, c.Shard)
		if i < 0 {
			return nil, fmt.Errorf("count the documents of each shard: %q is none of %v", c.Shard, names)
		}
		all[i] = c.Count
	}
	return all, nil
}

// drop drops the database.
func (r router) drop(ctx context.Context) error {
	if err := r.run(ctx, r.database, bson.D{{Key: "dropDatabase", Value: 1}}, &bson.Raw{}); err != nil {
		return fmt.Errorf("drop %s, which is left behind: %w", r.database, err)
	}
	return nil
}
