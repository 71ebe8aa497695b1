// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Sizes. Tests reduce them.
var (
	// inAtOnce is the number of documents per query.
	inAtOnce = 1000
	// bulk is the number of documents per bulk write, in _id order: each bulk waits once until a majority has journaled
	// it.
	bulk = 500
)

// findIn reads the documents with the given IDs.
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
func find[D any](ctx context.Context, c *mongo.Collection, filter bson.D, opts *options.FindOptionsBuilder,
	each func(D)) error {
	return findWhile(ctx, c, filter, opts, func(doc D) bool {
		each(doc)
		return true
	})
}

// findWhile reads documents one by one until more returns false.
func findWhile[D any](ctx context.Context, c *mongo.Collection, filter bson.D, opts *options.FindOptionsBuilder,
	more func(D) bool) error {
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

// insertNew inserts documents, skips those whose _id exists, and returns how many it inserted.
func insertNew(ctx context.Context, c *mongo.Collection, docs []any) (int, error) {
	if len(docs) == 0 {
		return 0, nil
	}
	_, err := c.InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
	e, ok := errors.AsType[mongo.BulkWriteException](err)
	if !ok || e.WriteConcernError != nil {
		return len(docs), unwritten(err)
	}
	for _, w := range e.WriteErrors {
		if w.Code != duplicateKey {
			return 0, unwritten(err)
		}
	}
	return len(docs) - len(e.WriteErrors), nil
}

// duplicateKey is the error code of an insert whose _id exists.
const duplicateKey = 11000
