// SPDX-License-Identifier: Apache-2.0

package mongodb_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.uber.org/goleak"

	"github.com/locus-db/locus/internal/mongotest"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/sink/mongodb"
	"github.com/locus-db/locus/sink/sinktest"
	storage "github.com/locus-db/locus/storage/mongodb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(mongotest.Main(m)) }

func open(t *testing.T, uri string) (*mongodb.Sink, error) {
	t.Helper()
	s, err := mongodb.Open(t.Context(), uri, "golden", mongodb.Options{UnsafeDurability: !mongotest.On(t).Durable})
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

func must(t *testing.T, uri string) *mongodb.Sink {
	t.Helper()
	s, err := open(t, uri)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// database opens the database of a sink as its readers do.
func database(t *testing.T, uri string) *storage.Database {
	t.Helper()
	d, err := storage.Open(t.Context(), uri, &storage.Options{UnsafeDurability: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close(context.Background()) })
	return d
}

// get returns the document of an ID as an event.
func get(ctx context.Context, c *mongo.Collection, id locality.ID) (e sink.Event, err error) {
	var doc struct {
		ID          locality.ID `bson:"_id"`
		Rev         int64
		Op          sink.Op
		Kind, At    string
		Into        locality.ID
		Records     []string
		View        map[string]any
		Unexpected_ bson.M `bson:",inline"` //nolint:revive // what no event has
	}
	err = c.FindOne(ctx, bson.D{{Key: "_id", Value: id}}).Decode(&doc)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return e, nil
	}
	if len(doc.Unexpected_) > 0 {
		err = errors.Join(err, errors.New("the document has other fields"))
	}
	if list, ok := doc.View["phones"].(bson.A); ok {
		texts := []string{}
		for _, one := range list {
			texts = append(texts, one.(string))
		}
		doc.View["phones"] = texts
	}
	return sink.Event{ID: doc.ID, Rev: doc.Rev, Op: doc.Op, Kind: doc.Kind, Into: doc.Into, At: doc.At,
		Records: doc.Records, View: doc.View}, err
}

func TestConformance(t *testing.T) {
	t.Parallel()
	sinktest.Run(t, func(t *testing.T) sinktest.Target {
		uri := mongotest.URI(t)
		c := database(t, uri).Collection("golden")
		return sinktest.Target{Sink: must(t, uri), Get: func(ctx context.Context, id locality.ID) (sink.Event, error) { return get(ctx, c, id) }}
	})
}

func event(n byte, token, count int64, view map[string]any) sink.Event {
	return sink.Event{ID: locality.ID{0: n, 15: 1}, Rev: sinktest.Rev(token, count), Op: sink.Upsert, Kind: "place",
		Records: []string{"a:1"}, View: view}
}

func at(base int64) *sink.Position { return &sink.Position{Installation: "x", Base: base} }

// An owner that is paused between the steps of a delivery loses by its revs, and stores no position.
func TestP17_PausedOwnersLose(t *testing.T) {
	t.Parallel()
	uri := mongotest.URI(t)
	former, current := must(t, uri), must(t, uri)
	if err := former.Deliver(t.Context(), sink.Batch{Token: 5, Position: at(1), Events: []sink.Event{event(1, 5, 1, nil)}}); err != nil {
		t.Fatal(err)
	}
	if err := former.Claim(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	newer := []sink.Event{event(1, 6, 1, nil), event(2, 6, 2, nil)}
	if err := current.Deliver(t.Context(), sink.Batch{Token: 6, Position: at(2), Events: newer}); err != nil {
		t.Fatal(err)
	}
	if err := former.Write(t.Context(), event(1, 5, 2, nil), event(2, 5, 3, nil)); err != nil {
		t.Fatal(err)
	}
	if err := former.Store(t.Context(), 5, at(9)); !errors.Is(err, sink.ErrFenced) {
		t.Errorf("a paused owner stores its position: %v", err)
	}
	if err := former.Deliver(t.Context(), sink.Batch{Token: 5, Position: at(9), Events: []sink.Event{event(3, 5, 4, nil)}}); !errors.Is(err, sink.ErrFenced) {
		t.Errorf("a former owner gets %v", err)
	}
	c := database(t, uri).Collection("golden")
	for _, want := range newer {
		if e, err := get(t.Context(), c, want.ID); err != nil || e.Rev != want.Rev {
			t.Errorf("the collection has %+v, %v", e, err)
		}
	}
	if got, err := current.Position(t.Context()); err != nil || got.Base != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A document that MongoDB does not take is a dead letter, the others are delivered, and the position passes it.
func TestDeliver_RejectsWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	uri := mongotest.URI(t)
	s := must(t, uri)
	large := event(2, 1, 2, map[string]any{"name": strings.Repeat("x", 17<<20)})
	err := s.Deliver(t.Context(), sink.Batch{Token: 1, Position: at(7),
		Events: []sink.Event{event(1, 1, 1, nil), large, event(3, 1, 3, nil)}})
	rejected, ok := errors.AsType[*sink.RejectedError](err)
	if !ok || len(rejected.Events) != 1 || rejected.Events[0].ID != large.ID {
		t.Fatal(err)
	}
	n, err := database(t, uri).Collection("golden").CountDocuments(t.Context(), bson.D{})
	if got, _ := s.Position(t.Context()); err != nil || n != 2 || got.Base != 7 {
		t.Errorf("%d documents at %+v, %v", n, got, err)
	}
}

// The collection of another program is not touched.
func TestOpen_LeavesTheCollectionsOfOthers(t *testing.T) {
	t.Parallel()
	uri := mongotest.URI(t)
	if _, err := database(t, uri).Collection("golden").InsertOne(t.Context(), bson.D{{Key: "_id", Value: "customer"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, uri); !errors.Is(err, sink.ErrStop) {
		t.Error(err)
	}
}

func TestDriver_RefusesOtherURLs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"mongodb://h/?collection=a": "no database", "mongodb://h/db": "no collection",
		"mongodb://h/db?collection=a$b":          "no collection",
		"mongodb://h/db?collection=system.users": "no collection", "mongodb://h/db?collection=locus_sink": "no collection",
		"mongodb://h/db?collection=a&w=1":        `parameter "w"`,
		"mongodb://h/db?collection=a&tls=false":  `parameter "tls"`,
		"mongodb://ann:hidden@h/db?collection=a": "has a password",
	} {
		if _, _, err := sink.ParseURL(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, _, err := sink.ParseURL("mongodb://a:27017,b:27017/db?collection=golden"); err != nil {
		t.Error(err)
	}
}

// In a batch of new and known IDs, the new ones are inserted, and known ones are replaced if they have a lower rev.
func TestDeliver_NewAndKnown(t *testing.T) {
	t.Parallel()
	uri := mongotest.URI(t)
	s := must(t, uri)
	want := map[int]int64{}
	for round, ids := range [][2]int{{0, 30}, {15, 50}, {0, 50}} {
		var events []sink.Event
		for n := ids[0]; n < ids[1]; n++ {
			e := event(1, 1, int64(1000*round+n+1), nil)
			e.ID[2] = byte(n)
			if round == 2 && n%3 > 0 { // late
				e.Rev = sinktest.Rev(1, 1)
			}
			events, want[n] = append(events, e), max(want[n], e.Rev)
		}
		if err := s.Deliver(t.Context(), sink.Batch{Token: 1, Position: at(1), Events: events}); err != nil {
			t.Fatal(err)
		}
	}
	cursor, err := database(t, uri).Collection("golden").Find(t.Context(), bson.D{})
	if err != nil {
		t.Fatal(err)
	}
	var docs []struct {
		ID  locality.ID `bson:"_id"`
		Rev int64
	}
	if err := cursor.All(t.Context(), &docs); err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		if n := int(d.ID[2]); d.Rev != want[n] {
			t.Errorf("%d has rev %d, want %d", n, d.Rev, want[n])
		}
	}
	if len(docs) != len(want) {
		t.Errorf("%d documents, want %d", len(docs), len(want))
	}
}
