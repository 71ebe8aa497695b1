// SPDX-License-Identifier: Apache-2.0

package mongotest_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/locus-db/locus/internal/mongotest"
)

// Of a bulk of 500 with an error in the middle, an ordered one executes what comes before, an unordered one
// everything else; errors and upserts have the indexes of the whole bulk.
func TestURI_DoesBulks(t *testing.T) {
	t.Parallel()
	const size, bad = 500, 256
	for _, ordered := range []bool{true, false} {
		done := size - 1
		if ordered {
			done = bad
		}
		t.Run(fmt.Sprintf("inserts, ordered %v", ordered), func(t *testing.T) {
			t.Parallel()
			c := connect(t, mongotest.URI(t)).Collection("bulk")
			var docs []any
			for i := range size {
				docs = append(docs, d("_id", int64(i)))
			}
			docs[bad] = d("_id", int64(bad-1))
			_, err := c.InsertMany(t.Context(), docs, options.InsertMany().SetOrdered(ordered))
			wrong(t, err, bad, true)
			count(t, c, d(), done)
		})
		t.Run(fmt.Sprintf("updates, ordered %v", ordered), func(t *testing.T) {
			t.Parallel()
			c := connect(t, mongotest.URI(t)).Collection("bulk")
			if _, err := c.InsertOne(t.Context(), d("_id", int64(bad), "n", "no number")); err != nil {
				t.Fatal(err)
			}
			var models []mongo.WriteModel
			for i := range size {
				models = append(models, mongo.NewUpdateOneModel().SetFilter(d("_id", int64(i))).
					SetUpdate(d("$inc", d("n", int64(1)))).SetUpsert(i%2 == 0 || i == bad))
			}
			r, err := c.BulkWrite(t.Context(), models, options.BulkWrite().SetOrdered(ordered))
			wrong(t, err, bad, false)
			made := map[int64]any{}
			for i := range int64(done + 1) {
				if i%2 == 0 && i != bad && (!ordered || i < bad) {
					made[i] = i
				}
			}
			count(t, c, d("n", int64(1)), len(made))
			if ordered {
				return // the driver does not report which operations were executed before an error
			}
			if diff := cmp.Diff(made, r.UpsertedIDs); diff != "" {
				t.Errorf("upserted (-want +got):\n%s", diff)
			}
		})
		t.Run(fmt.Sprintf("deletes, ordered %v", ordered), func(t *testing.T) {
			t.Parallel()
			c := connect(t, mongotest.URI(t)).Collection("bulk")
			var docs []any
			var models []mongo.WriteModel
			for i := range size {
				docs = append(docs, d("_id", int64(i)))
				models = append(models, mongo.NewDeleteOneModel().SetFilter(d("_id", int64(i))))
			}
			if _, err := c.InsertMany(t.Context(), docs); err != nil {
				t.Fatal(err)
			}
			models[bad] = mongo.NewDeleteOneModel().SetFilter(d("$none", 1))
			_, err := c.BulkWrite(t.Context(), models, options.BulkWrite().SetOrdered(ordered))
			wrong(t, err, bad, false)
			count(t, c, d(), size-done)
		})
	}
}

// wrong requires exactly one error of a bulk, at an index.
func wrong(t *testing.T, err error, index int, duplicate bool) {
	t.Helper()
	e, ok := errors.AsType[mongo.BulkWriteException](err)
	if !ok || len(e.WriteErrors) != 1 || e.WriteErrors[0].Index != index || mongo.IsDuplicateKeyError(err) != duplicate {
		t.Errorf("got %v, want one error at %d, of a duplicate key: %v", err, index, duplicate)
	}
}

func count(t *testing.T, c *mongo.Collection, filter bson.D, want int) {
	t.Helper()
	if got, err := c.CountDocuments(t.Context(), filter); err != nil || got != int64(want) {
		t.Errorf("%v: %d documents, %v, want %d", filter, got, err, want)
	}
}

// A successful bulk is counted as a whole.
func TestURI_CountsWhatABulkDid(t *testing.T) {
	t.Parallel()
	c := connect(t, mongotest.URI(t)).Collection("bulk")
	var models []mongo.WriteModel
	for i := range 120 {
		models = append(models, mongo.NewUpdateOneModel().SetFilter(d("_id", int64(i%100))).SetUpdate(d("$inc", d("n", int64(1)))).SetUpsert(true))
	}
	for i := range 60 {
		models = append(models, mongo.NewInsertOneModel().SetDocument(d("_id", int64(1000+i))))
	}
	for i := range 70 {
		models = append(models, mongo.NewDeleteOneModel().SetFilter(d("_id", int64(i+50))))
	}
	r, err := c.BulkWrite(t.Context(), models, options.BulkWrite().SetOrdered(true))
	if err != nil {
		t.Fatal(err)
	}
	got := [5]int64{r.InsertedCount, r.MatchedCount, r.ModifiedCount, r.UpsertedCount, r.DeletedCount}
	if want := [5]int64{60, 20, 20, 100, 50}; got != want {
		t.Errorf("inserted, matched, modified, upserted, deleted: %v, want %v", got, want)
	}
}

// A client that wants no reply gets none, and the next reply belongs to the next command.
func TestURI_DoesWritesWithoutAnswers(t *testing.T) {
	t.Parallel()
	db := connect(t, mongotest.URI(t), options.Client().SetMaxPoolSize(1))
	c := db.Collection("silent", options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
	for i := range 10 {
		if _, err := c.InsertOne(t.Context(), d("_id", int64(i))); err != nil {
			t.Fatal(err)
		}
		if _, err := c.FindOne(t.Context(), d("_id", int64(i))).Raw(); err != nil {
			t.Errorf("document %d: %v", i, err)
		}
	}
}

// Single-document commands behave as MongoDB documents them.
func TestURI_DoesWhatLocusAsksFor(t *testing.T) {
	t.Parallel()
	c := connect(t, mongotest.URI(t)).Collection("docs")
	if _, err := c.InsertOne(t.Context(), d("_id", "x", "s", int64(5), "h", "me")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.InsertOne(t.Context(), d("_id", "x")); !mongo.IsDuplicateKeyError(err) {
		t.Errorf("a second document of one key: %v", err)
	}
	after := options.FindOneAndUpdate().SetReturnDocument(options.After)
	free := d("_id", "x", "$or", bson.A{d("h", "me"), d("s", d("$lt", int64(1)))})
	var got bson.D
	if err := c.FindOneAndUpdate(t.Context(), free, d("$inc", d("s", int64(1)), "$set", d("h", "you")), after).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d("_id", "x", "s", int64(6), "h", "you"), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := c.FindOneAndUpdate(t.Context(), free, d("$set", d("h", "nobody")), after).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
		t.Errorf("a condition that does not hold: %v", err)
	}
	late := d("_id", "x", "s", d("$lt", int64(6)))
	if r, err := c.ReplaceOne(t.Context(), late, d("s", int64(0))); err != nil || r.MatchedCount != 0 {
		t.Errorf("replaced by what is older: %+v, %v", r, err)
	}
	if _, err := c.ReplaceOne(t.Context(), late, d("s", int64(0)), options.Replace().SetUpsert(true)); !mongo.IsDuplicateKeyError(err) {
		t.Errorf("upserted by what is older: %v", err)
	}
	if r, err := c.ReplaceOne(t.Context(), d("_id", "x", "s", d("$lt", int64(7))), d("s", int64(7))); err != nil || r.ModifiedCount != 1 {
		t.Errorf("replaced by what is newer: %+v, %v", r, err)
	}
	if _, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: d("s", 1)}); err != nil {
		t.Error(err)
	}
	count(t, c, d("s", int64(7)), 1)
	if err := c.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	count(t, c, d(), 0)
	if _, err := c.InsertOne(t.Context(), d("_id", "x")); err != nil {
		t.Errorf("after the collection was dropped: %v", err)
	}
}
