// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/mirror"
)

// Mirror is a collection with a document per ID, whose _id is the ID as Binary of subtype 4. It may be sharded by
// _id; the mirror needs no other index and never shards the collection. A second collection, NAME.mirror, records
// the progress. Attributes are data, so their names are values.
type Mirror struct {
	docs, control *mongo.Collection
}

var _ mirror.Target = (*Mirror)(nil)

// Mirror returns the mirror in a collection of the named database, by default that of the URI.
func (d *Database) Mirror(database, collection string) *Mirror {
	db := d.client.Database(cmp.Or(database, d.db.Name()))
	return &Mirror{docs: db.Collection(collection), control: db.Collection(collection + ".mirror")}
}

// Held implements mirror.Target. It reads at majority, so that no failover undoes what it returns.
func (m *Mirror) Held(ctx context.Context, ids []locality.ID) ([]mirror.Held, error) {
	held, at := make([]mirror.Held, len(ids)), make(map[locality.ID]int, len(ids))
	for i, id := range ids {
		held[i].ID, at[id] = id, i
	}
	fields := bson.D{{Key: "state", Value: 1}, {Key: "to", Value: 1}, {Key: "stamp", Value: 1}, {Key: "version", Value: 1}}
	err := findIn(ctx, m.docs, ids, fields, func(doc entityDoc) {
		h := &held[at[doc.ID]]
		h.Version, h.Kind, h.Stamp = doc.Version, doc.State, string(doc.State)
		switch doc.State {
		case mirror.Entity:
			h.Stamp = doc.Stamp
		case mirror.Redirect:
			h.Stamp = doc.To.String()
		}
	})
	return held, err
}

// Write implements mirror.Target. Documents of version 1 are inserted; all others replace the preceding version.
func (m *Mirror) Write(ctx context.Context, docs []mirror.Document) (written int, err error) {
	for part := range slices.Chunk(docs, bulk) {
		var fresh []any
		var others []mongo.WriteModel
		for i := range part {
			doc := newEntityDoc(&part[i])
			if doc.Version == 1 {
				fresh = append(fresh, doc)
				continue
			}
			filter := bson.D{{Key: "_id", Value: doc.ID}, {Key: "version", Value: doc.Version - 1}}
			others = append(others, mongo.NewReplaceOneModel().SetFilter(filter).SetReplacement(doc))
		}
		inserted, err := insertNew(ctx, m.docs, fresh)
		if err != nil {
			return written, err
		}
		written += inserted
		if len(others) == 0 {
			continue
		}
		result, err := m.docs.BulkWrite(ctx, others, options.BulkWrite().SetOrdered(false))
		if err != nil {
			return written, unwritten(err)
		}
		written += int(result.MatchedCount)
	}
	return written, nil
}

// Documents implements mirror.Target.
func (m *Mirror) Documents(ctx context.Context, ids []locality.ID) (docs []mirror.Document, err error) {
	err = findIn(ctx, m.docs, ids, nil, func(doc entityDoc) { docs = append(docs, doc.document()) })
	slices.SortFunc(docs, func(a, b mirror.Document) int { return a.ID.Compare(b.ID) })
	return docs, err
}

// Scan implements mirror.Target. Binary values of equal length sort by their bytes. Documents with any other _id
// were not written by a mirror and are ignored.
func (m *Mirror) Scan(ctx context.Context, after locality.ID, limit int) (docs []mirror.Document, err error) {
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: after}, {Key: "$lte", Value: locality.Max()}}}}
	opts := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(int64(limit))
	err = find(ctx, m.docs, filter, opts, func(doc entityDoc) { docs = append(docs, doc.document()) })
	return docs, err
}

// Fill implements mirror.Target.
func (m *Mirror) Fill(ctx context.Context) (mirror.Fill, error) {
	var doc fillDoc
	err := m.control.FindOne(ctx, bson.D{{Key: "_id", Value: fillID}}).Decode(&doc)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return mirror.Fill{}, nil
	}
	if err != nil {
		return mirror.Fill{}, unread(err)
	}
	return doc.fill()
}

// PutFill implements mirror.Target.
func (m *Mirror) PutFill(ctx context.Context, was, is mirror.Fill) (bool, error) {
	return m.put(ctx, was.Name == "", newFillDoc(is), bson.D{{Key: "_id", Value: fillID}, {Key: "name", Value: was.Name}})
}

// Controls implements mirror.Target.
func (m *Mirror) Controls(ctx context.Context) (controls []mirror.Control, err error) {
	var wrong error
	opts := options.Find().SetSort(bson.D{{Key: "_id", Value: 1}})
	err = find(ctx, m.control, bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: "g"}, {Key: "$lt", Value: "h"}}}}, opts, func(doc controlDoc) {
		c, err := doc.control()
		controls, wrong = append(controls, c), cmp.Or(wrong, err)
	})
	return controls, cmp.Or(err, wrong)
}

// PutControl implements mirror.Target.
func (m *Mirror) PutControl(ctx context.Context, was, is mirror.Control) (bool, error) {
	doc := newControlDoc(is)
	return m.put(ctx, was.Version == 0, doc, bson.D{
		{Key: "_id", Value: doc.ID}, {Key: "fill", Value: was.Fill}, {Key: "version", Value: was.Version},
	})
}

// put inserts a control document, or replaces the one that matches the filter, and reports whether it did.
func (m *Mirror) put(ctx context.Context, insert bool, doc any, filter bson.D) (bool, error) {
	if insert {
		n, err := insertNew(ctx, m.control, []any{doc})
		return n == 1 && err == nil, err
	}
	result, err := m.control.ReplaceOne(ctx, filter, doc)
	if err != nil {
		return false, unwritten(err)
	}
	return result.MatchedCount == 1, nil
}
