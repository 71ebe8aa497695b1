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
	"github.com/locus-db/locus/internal/documents"
	"github.com/locus-db/locus/rollup"
)

// Groups of rollups are documents of one collection:
//
//	{_id: "g0-3/0000000000000007/19e2c1f0a3b4d5e6/67656172730050617269", w: 4711, v: <body>}
//	       cell generation        fill             key in hex                 watermark
//
// An _id is a string because strings sort by their bytes, whereas binary values sort by length first. So a space is
// one range of IDs, in key order.
const groupCollection = "rollup_group"

// group is one document.
type group struct {
	ID        string `bson:"_id"`
	Watermark int64  `bson:"w"`
	Body      []byte `bson:"v"`
}

// groups implements documents.Store for one cell.
type groups struct {
	*Database
	c    *mongo.Collection
	home string
	cell string
}

var _ documents.Store = (*groups)(nil)

// Groups returns the groups of the rollups of a cell, whose name may be any text.
func (d *Documents) Groups(cell string) rollup.Elsewhere {
	return documents.Groups{Store: d.groups(cell)}
}

func (d *Documents) groups(cell string) *groups {
	return &groups{d.Database, d.Collection(groupCollection), d.identity, url.PathEscape(cell)}
}

// StoreID returns the database's identity.
func (g *groups) StoreID() string { return g.home }

// generation returns the _id prefix of a generation, and namespace that of a build of it.
func (g *groups) generation(number int64) string {
	return fmt.Sprintf("%s/%016x/", g.cell, uint64(number))
}

func (g *groups) namespace(s documents.Namespace) string {
	return fmt.Sprintf("%s%016x/", g.generation(s.Generation), uint64(s.BuildID))
}

// Documents reads by _id.
func (g *groups) Documents(ctx context.Context, s documents.Namespace, keys [][]byte) ([]documents.Document, error) {
	prefix := g.namespace(s)
	ids := make([]string, len(keys))
	for i, k := range keys {
		ids[i] = prefix + hex.EncodeToString(k)
	}
	there, err := g.read(ctx, ids)
	if err != nil {
		return nil, err
	}
	docs := make([]documents.Document, len(keys))
	for i, id := range ids {
		if one, ok := there[id]; ok {
			docs[i] = documents.Document{Key: keys[i], Body: one.Body, Watermark: changelog.Seq(one.Watermark)}
		}
	}
	return docs, nil
}

// read reads documents by _id.
func (g *groups) read(ctx context.Context, ids []string) (map[string]group, error) {
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	there := make(map[string]group, len(ids))
	if err := findIn(ctx, g.c, slices.Compact(sorted), nil, func(one group) { there[one.ID] = one }); err != nil {
		return nil, fmt.Errorf("read %d groups: %w", len(ids), err)
	}
	return there, nil
}

// Scan reads part of the range.
func (g *groups) Scan(ctx context.Context, s documents.Namespace, after []byte,
	limit int) ([]documents.Document, error) {
	prefix := g.namespace(s)
	from := bson.E{Key: "$gte", Value: prefix}
	if after != nil {
		from = bson.E{Key: "$gt", Value: prefix + hex.EncodeToString(after)}
	}
	var docs []documents.Document
	var wrong error
	err := find(ctx, g.c, within(from, prefix), options.Find().SetSort(byID).SetLimit(int64(limit)), func(one group) {
		k, err := hex.DecodeString(strings.TrimPrefix(one.ID, prefix))
		if err != nil {
			wrong = fmt.Errorf("_id %q: %w", one.ID, err)
		}
		docs = append(docs, documents.Document{Key: k, Body: one.Body, Watermark: changelog.Seq(one.Watermark)})
	})
	if err = errors.Join(err, wrong); err != nil {
		return nil, fmt.Errorf("scan groups: %w", err)
	}
	return docs, nil
}

// Drop deletes the first documents of the generation's range.
func (g *groups) Drop(ctx context.Context, generation int64, limit int) (int, error) {
	prefix := g.generation(generation)
	first := bson.E{Key: "$gte", Value: prefix}
	found := ""
	err := find(ctx, g.c, within(first, prefix), options.Find().SetSort(byID).SetLimit(int64(limit)).SetProjection(byID), func(one group) { found = one.ID })
	if err != nil || found == "" {
		return 0, err
	}
	last := bson.E{Key: "$lte", Value: found}
	done, err := g.c.DeleteMany(ctx, bson.D{{Key: "_id", Value: bson.D{first, last}}})
	if err != nil {
		return 0, fmt.Errorf("drop groups of generation %d: %w", generation, unwritten(err))
	}
	return int(done.DeletedCount), nil
}

var byID = bson.D{{Key: "_id", Value: 1}}

// within returns the filter of a range from a bound to the end of a prefix, after which IDs continue in hex or with
// a slash.
func within(from bson.E, prefix string) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{from, {Key: "$lt", Value: prefix + "~"}}}}
}
