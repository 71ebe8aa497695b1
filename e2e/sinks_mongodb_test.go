// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/storage/mongodb"
)

// A collection has the states of all ids in the end, however often the server is killed while it delivers.
func TestP17_KilledServerDeliversToMongoDB(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	uri := mongotest.URI(t)
	db, err := mongodb.Open(t.Context(), uri, &mongodb.Options{UnsafeDurability: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.Background()) })
	texts := func() map[string]string {
		found, err := db.Collection("golden").Find(t.Context(), bson.D{})
		if mongo.IsTimeout(err) {
			return nil // a busy machine: it is asked again
		}
		if err != nil {
			t.Fatal(err)
		}
		var docs []struct {
			ID      locality.ID `bson:"_id"`
			Op      sink.Op
			Into    locality.ID
			Records []string
		}
		if err := found.All(t.Context(), &docs); mongo.IsTimeout(err) {
			return nil
		} else if err != nil {
			t.Fatal(err)
		}
		events := map[string]sink.Event{}
		for _, d := range docs {
			events[d.ID.String()] = sink.Event{ID: d.ID, Op: d.Op, Into: d.Into, Records: d.Records}
		}
		return textsOf(events)
	}
	var flags []string
	if !mongotest.On(t).Durable {
		flags = append(flags, "--unsafe-durability")
	}
	to, _, _ := strings.Cut(uri, "?")
	killedWhileDelivering(t, int64(longtest.Times(100, 1000)),
		map[string]delivered{"golden": {to + "?collection=golden", texts}}, flags...)
}
