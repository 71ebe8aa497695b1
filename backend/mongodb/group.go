// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/rollup"
)

// Groups of rollups are documents of one collection:
//
//	{_id: "g0-3/0000000000000007/19e2c1f0a3b4d5e6/67656172730050617269", w: 4711, v: <body>}
//	       cell generation        fill             key in hex                 watermark
//
// An _id is a string, because those are ordered by their bytes; binary values are ordered by their length
// first. So a space is one range of them, in the order of the keys.
const groupCollection = "rollup_group"

// group is one document.
type group struct {
	ID        string `bson:"_id"`
	Watermark int64  `bson:"w"`
	Body      []byte `bson:"v"`
}

// groups are those of one cell.
type groups struct {
	*Database
	c    *mongo.Collection
	cell string
}

var _ rollup.Documents = (*groups)(nil)

// Groups keeps the groups of the rollups of a cell, whose name may be any text.
func (d *Database) Groups(cell string) rollup.Documents {
	return &groups{d, d.collection(groupCollection), url.PathEscape(cell)}
}

// Home is the database's identity.
func (g *groups) Home() string { return g.Identity() }

// generation is what the _ids of a generation begin with, and space what those of a space do.
func (g *groups) generation(number int64) string {
	return fmt.Sprintf("%s/%016x/", g.cell, uint64(number))
}

func (g *groups) space(s rollup.Space) string {
	return fmt.Sprintf("%s%016x/", g.generation(s.Generation), uint64(s.Fill))
}

// end is what all _ids with a prefix lie below: they go on in hex or with a slash.
func end(prefix string) string { return prefix + "~" }

// key is what an _id says after the prefix of its space.
func key(id, prefix string) ([]byte, error) {
	k, err := hex.DecodeString(strings.TrimPrefix(id, prefix))
	if err != nil {
		err = fmt.Errorf("mongodb: a group under _id %q: %w", id, err)
	}
	return k, err
}

// Documents reads by _id.
func (g *groups) Documents(ctx context.Context, s rollup.Space, keys [][]byte) ([]rollup.Document, error) {
	prefix := g.space(s)
	ids := make([]string, len(keys))
	for i, k := range keys {
		ids[i] = prefix + hex.EncodeToString(k)
	}
	there := make(map[string]group, len(keys))
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	for chunk := range slices.Chunk(slices.Compact(sorted), asked) {
		found, err := find[group](ctx, g.c, bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: chunk}}}}, nil)
		if err != nil {
			return nil, fmt.Errorf("read %d groups: %w", len(chunk), err)
		}
		for _, one := range found {
			there[one.ID] = one
		}
	}
	docs := make([]rollup.Document, len(keys))
	for i, id := range ids {
		if one, ok := there[id]; ok {
			docs[i] = rollup.Document{Key: keys[i], Body: one.Body, Watermark: changelog.Seq(one.Watermark)}
		}
	}
	return docs, nil
}

// Scan reads a part of the range.
func (g *groups) Scan(ctx context.Context, s rollup.Space, after []byte, limit int) ([]rollup.Document, error) {
	prefix := g.space(s)
	from := bson.E{Key: "$gte", Value: prefix}
	if after != nil {
		from = bson.E{Key: "$gt", Value: prefix + hex.EncodeToString(after)}
	}
	found, err := find[group](ctx, g.c, within(from, prefix), options.Find().SetSort(byID).SetLimit(int64(limit)))
	if err != nil {
		return nil, fmt.Errorf("scan groups: %w", err)
	}
	docs := make([]rollup.Document, len(found))
	for i, one := range found {
		docs[i] = rollup.Document{Body: one.Body, Watermark: changelog.Seq(one.Watermark)}
		if docs[i].Key, err = key(one.ID, prefix); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// Drop deletes the first of the generation's range.
func (g *groups) Drop(ctx context.Context, generation int64, limit int) (int, error) {
	prefix := g.generation(generation)
	first := bson.E{Key: "$gte", Value: prefix}
	found, err := find[struct {
		ID string `bson:"_id"`
	}](ctx, g.c, within(first, prefix), options.Find().SetSort(byID).SetLimit(int64(limit)).SetProjection(byID))
	if err != nil || len(found) == 0 {
		return 0, err
	}
	last := bson.E{Key: "$lte", Value: found[len(found)-1].ID}
	done, err := g.c.DeleteMany(ctx, bson.D{{Key: "_id", Value: bson.D{first, last}}})
	if err != nil {
		return 0, fmt.Errorf("drop groups of generation %d: %w", generation, unwritten(err))
	}
	return int(done.DeletedCount), nil
}

var byID = bson.D{{Key: "_id", Value: 1}}

// within is the filter of a range that begins somewhere and ends with a prefix.
func within(from bson.E, prefix string) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{from, {Key: "$lt", Value: end(prefix)}}}}
}

// find reads all documents that meet a filter.
func find[T any](ctx context.Context, c *mongo.Collection, filter bson.D, opts *options.FindOptionsBuilder) ([]T, error) {
	if opts == nil {
		opts = options.Find()
	}
	cursor, err := c.Find(ctx, filter, opts)
	if err != nil {
		return nil, unread(err)
	}
	var all []T
	return all, unread(errors.Join(cursor.All(ctx, &all)))
}
