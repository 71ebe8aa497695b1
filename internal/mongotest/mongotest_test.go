// SPDX-License-Identifier: Apache-2.0

package mongotest_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.uber.org/goleak"

	"github.com/locus-db/locus/internal/mongotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(mongotest.Main(m)) }

// connect connects to the database of a URI.
func connect(t *testing.T, uri string, more ...*options.ClientOptions) *mongo.Database {
	t.Helper()
	client, err := mongo.Connect(append([]*options.ClientOptions{options.Client().ApplyURI(uri)}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Disconnect(context.Background()); err != nil {
			t.Error(err)
		}
	})
	_, name, _ := strings.Cut(uri, "/locus_test_")
	name, _, _ = strings.Cut(name, "?")
	return client.Database("locus_test_" + name)
}

// d returns a document of names and values.
func d(pairs ...any) bson.D {
	doc := bson.D{}
	for i := 0; i < len(pairs); i += 2 {
		doc = append(doc, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return doc
}

// Concurrent increments of one document lose nothing: guaranteed by MongoDB, and on the stand-in because writes are
// serialised.
func TestURI_AddsUpExactly(t *testing.T) {
	t.Parallel()
	c := connect(t, mongotest.URI(t)).Collection("sums")
	if _, err := c.InsertOne(t.Context(), d("_id", "x", "n", int64(0))); err != nil {
		t.Fatal(err)
	}
	const workers, each = 8, 100
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range each {
				if _, err := c.UpdateByID(t.Context(), "x", d("$inc", d("n", int64(1), "m.07.42", int64(2)))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	var got bson.D
	if err := c.FindOne(t.Context(), d("_id", "x")).Decode(&got); err != nil {
		t.Fatal(err)
	}
	want := d("_id", "x", "n", int64(workers*each), "m", d("07", d("42", int64(2*workers*each))))
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
