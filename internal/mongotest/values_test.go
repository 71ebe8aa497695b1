// SPDX-License-Identifier: Apache-2.0

package mongotest_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/internal/mongotest"
)

// values are edge cases of the values that Locus stores.
var values = map[string]any{
	"empty string":   "",
	"dots":           "a.b..c",
	"dollar":         "$inc",
	"U+0000":         "a\x00b",
	"U+0000 alone":   "\x00",
	"quotes":         `'"\`,
	"beyond U+FFFF":  "\U0001F600",
	"0":              int64(0),
	"2^53 + 1":       int64(1<<53 + 1),
	"-(2^53 + 1)":    -int64(1<<53 + 1),
	"least int64":    int64(math.MinInt64),
	"largest int64":  int64(math.MaxInt64),
	"int32":          int32(7),
	"double":         0.1,
	"Binary 0":       bson.Binary{Data: []byte{0, 1, 254, 255}},
	"Binary 0 empty": bson.Binary{Data: []byte{}},
	"Binary 4":       bson.Binary{Subtype: 4, Data: []byte("0123456789abcdef")},
	"boolean":        true,
	"null":           nil,
	"time":           bson.DateTime(1_700_000_000_123),
	"ObjectID":       bson.ObjectID{1, 2, 3, 11: 4},
	"document":       d("07", d("42", int64(1)), "", "empty name"),
}

// Values are returned byte for byte, and found by value, as a field, nested, and as the key.
func TestURI_KeepsValues(t *testing.T) {
	t.Parallel()
	db := connect(t, mongotest.URI(t))
	for name, value := range values {
		for place, doc := range map[string]bson.D{
			"v":      d("_id", "x", "v", value),
			"m.07.v": d("_id", "x", "m", d("07", d("v", value))),
			"_id":    d("_id", value),
		} {
			t.Run(name+" as "+place, func(t *testing.T) {
				t.Parallel()
				c := db.Collection(strings.ReplaceAll(t.Name(), "$", ""))
				want, err := bson.Marshal(doc)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.InsertOne(t.Context(), doc); err != nil {
					t.Fatal(err)
				}
				got, err := c.FindOne(t.Context(), d(place, value)).Raw()
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("got %v, want %v", got, bson.Raw(want))
				}
				changed, err := c.UpdateOne(t.Context(), d(place, value), d("$set", d("w", value)))
				if err != nil || changed.ModifiedCount != 1 {
					t.Errorf("updated by its value: %+v, %v", changed, err)
				}
				gone, err := c.DeleteMany(t.Context(), d(place, value))
				if err != nil || gone.DeletedCount != 1 {
					t.Errorf("deleted by its value: %+v, %v", gone, err)
				}
			})
		}
	}
}

// Keys come back in BSON order, completely and in part: strings by their bytes, numbers by their exact value,
// binaries by length, then subtype, then bytes.
func TestURI_SortsKeys(t *testing.T) {
	t.Parallel()
	db := connect(t, mongotest.URI(t))
	binary := func(subtype byte, data ...byte) any { return bson.Binary{Subtype: subtype, Data: data} }
	for name, sorted := range map[string][]any{
		"strings": {"", "\x00", "$a", "10", "9", "A", "a", "a\x00", "a\x00b", "a.b", "ab", "b", "é", "\uffff", "\U0001F600"},
		"numbers": {
			int64(math.MinInt64), -int64(1<<53 + 1), -int64(1 << 53), int64(-5), int64(0), int64(9), int64(10),
			int64(1 << 53), int64(1<<53 + 1), int64(math.MaxInt64 - 1), int64(math.MaxInt64),
		},
		"binaries": {
			binary(0), binary(0, 1), binary(0, 255), binary(0, 0, 0),
			binary(0, []byte("0000000000000002")...), binary(4, []byte("0000000000000001")...),
			binary(4, []byte("0000000000000003")...),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := db.Collection(name)
			var docs []any
			for i, key := range slices.Backward(sorted) {
				docs = append(docs, d("_id", key, "n", int64(i), "v", key))
			}
			if _, err := c.InsertMany(t.Context(), docs); err != nil {
				t.Fatal(err)
			}
			for text, q := range map[string]struct {
				filter bson.D
				sort   bson.D
				want   []any
			}{
				"all":              {d(), d("_id", 1), sorted},
				"by another field": {d(), d("v", 1), sorted},
				"range":            {d("_id", d("$gte", sorted[1], "$lt", sorted[4])), d("_id", 1), sorted[1:4]},
				"from":             {d("_id", d("$gt", sorted[2])), d("_id", 1), sorted[3:]},
				"some": {d("_id", d("$in", bson.A{sorted[3], sorted[1], "none"})), d("_id", 1),
					[]any{sorted[1], sorted[3]}},
				"of another field": {d("v", d("$gt", sorted[2])), d("n", 1), sorted[3:]},
			} {
				if diff := cmp.Diff(q.want, keys(t, c, q.filter, q.sort)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", text, diff)
				}
			}
		})
	}
}

// keys returns the keys of the documents that a query finds, read in several batches.
func keys(t *testing.T, c *mongo.Collection, filter, sort bson.D) []any {
	t.Helper()
	cursor, err := c.Find(t.Context(), filter, options.Find().SetSort(sort).SetBatchSize(2))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cursor.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	var found []any
	for cursor.Next(t.Context()) {
		var doc struct {
			ID any `bson:"_id"`
		}
		if err := cursor.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		found = append(found, doc.ID)
	}
	if err := cursor.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

// Numbers beyond the precision of a double are added exactly, and an overflow is refused.
func TestURI_AddsExactly(t *testing.T) {
	t.Parallel()
	c := connect(t, mongotest.URI(t)).Collection("sums")
	if _, err := c.InsertOne(t.Context(), d("_id", "x", "m", d("07", d("1", int64(1<<53), "2", int64(math.MaxInt64-1))))); err != nil {
		t.Fatal(err)
	}
	update := d("$inc", d("m.07.1", int64(1), "m.07.2", int64(1), "m.08.1", int64(-1)), "$max", d("hi", int64(1<<53+1)),
		"$min", d("lo", int64(-5)), "$set", d("w", int64(1)))
	if _, err := c.UpdateByID(t.Context(), "x", update); err != nil {
		t.Fatal(err)
	}
	if _, err := c.UpdateByID(t.Context(), "x", d("$inc", d("m.07.1", int64(1), "m.07.2", int64(1)))); err == nil {
		t.Error("the largest number was added to")
	}
	if r, err := c.UpdateOne(t.Context(), d("_id", "x", "w", int64(2)), d("$set", d("w", int64(3)))); err != nil || r.MatchedCount != 0 {
		t.Errorf("a filter that does not fit: %+v, %v", r, err)
	}
	if _, err := c.UpdateOne(t.Context(), d("_id", "x", "w", int64(1)), d("$unset", d("m.08", "", "none.09", ""), "$max", d("hi", int64(1<<53)))); err != nil {
		t.Fatal(err)
	}
	want := d("_id", "x", "m", d("07", d("1", int64(1<<53+1), "2", int64(math.MaxInt64))), "hi", int64(1<<53+1), "lo",
		int64(-5), "w", int64(1))
	var got bson.D
	if err := c.FindOne(t.Context(), d("_id", "x")).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
