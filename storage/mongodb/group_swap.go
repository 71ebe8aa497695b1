// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/internal/documents"
)

// write is a swap with the index of its result.
type write struct {
	documents.Swap
	id string
	at int
}

// Swap writes in _id order, because bulks that write the same documents in different orders wait for each other.
func (g *groups) Swap(ctx context.Context, s documents.Namespace, swaps []documents.Swap) ([]bool, error) {
	prefix := g.namespace(s)
	var updates, inserts []write
	for i, swap := range swaps {
		w := write{swap, prefix + hex.EncodeToString(swap.Key), i}
		if swap.Is {
			updates = append(updates, w)
		} else {
			inserts = append(inserts, w)
		}
	}
	done := make([]bool, len(swaps))
	for _, part := range []struct {
		writes []write
		send   func(context.Context, []write, []bool) error
	}{{updates, g.update}, {inserts, g.insert}} {
		slices.SortFunc(part.writes, func(a, b write) int { return cmp.Compare(a.id, b.id) })
		for chunk := range slices.Chunk(part.writes, bulk) {
			if err := part.send(ctx, chunk, done); err != nil {
				return nil, fmt.Errorf("write %d groups: %w", len(chunk), err)
			}
		}
	}
	return done, nil
}

// update writes documents that still have the watermarks that were read.
func (g *groups) update(ctx context.Context, writes []write, done []bool) error {
	models := make([]mongo.WriteModel, len(writes))
	for i, w := range writes {
		models[i] = mongo.NewUpdateOneModel().
			SetFilter(bson.D{{Key: "_id", Value: w.id}, {Key: "w", Value: int64(w.Was)}}).
			SetUpdate(bson.D{{Key: "$set", Value: bson.D{{Key: "w", Value: int64(w.Watermark)}, {Key: "v", Value: body(w)}}}})
	}
	answer, err := g.c.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	if err != nil {
		return unwritten(err)
	}
	if answer.MatchedCount == int64(len(writes)) {
		for _, w := range writes {
			done[w.at] = true
		}
		return nil
	}
	return g.look(ctx, writes, done)
}

// look determines which writes were applied, because a bulk result only counts them: those whose document equals the
// written one. It does not matter if another process wrote the same document, because its contents follow from its
// position in the log.
func (g *groups) look(ctx context.Context, writes []write, done []bool) error {
	ids := make([]string, len(writes))
	for i, w := range writes {
		ids[i] = w.id
	}
	there, err := g.read(ctx, ids)
	if err != nil {
		return err
	}
	for _, w := range writes {
		one, is := there[w.id]
		done[w.at] = is && one.Watermark == int64(w.Watermark) && bytes.Equal(one.Body, w.Body)
	}
	return nil
}

// insert inserts new documents.
func (g *groups) insert(ctx context.Context, writes []write, done []bool) error {
	docs := make([]group, len(writes))
	for i, w := range writes {
		docs[i] = group{w.id, int64(w.Watermark), body(w)}
	}
	_, err := g.c.InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
	there := map[int]bool{}
	if e, ok := errors.AsType[mongo.BulkWriteException](err); ok && e.WriteConcernError == nil {
		err = nil
		for _, one := range e.WriteErrors {
			if !mongo.IsDuplicateKeyError(one) {
				return unwritten(e)
			}
			there[one.Index] = true
		}
	}
	if err != nil {
		return unwritten(err)
	}
	for i, w := range writes {
		done[w.at] = !there[i]
	}
	return nil
}

// body returns the stored form of a body, in which nil is an empty body.
func body(w write) []byte {
	if w.Body == nil {
		return []byte{}
	}
	return w.Body
}
