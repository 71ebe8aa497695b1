// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/mongotest"
)

// givenTo returns the server that the tests run on. The runs are too short to measure anything.
func givenTo(t *testing.T) mongoServer {
	t.Helper()
	uri := mongotest.URI(t)
	begin := strings.LastIndex(uri, "/locus_test_") + 1
	name, _, _ := strings.Cut(uri[begin:], "?")
	return mongoServer{uri: strings.Replace(uri, name, "", 1), text: mongotest.On(t).Text,
		unsafe: !mongotest.On(t).Durable}
}

// A short run on MongoDB, if one is given.
func TestMeasure_LittleOnMongoDB(t *testing.T) {
	t.Parallel()
	o := Options{Metrics: 4, Batch: 3, Tx: 1, Every: 360, Shuffle: true, Round: 1, Seconds: 0.01, Callers: 8,
		Parts: []string{"day", "callers"}}
	for _, w := range mongoDays {
		o.Methods = append(o.Methods, w.key)
	}
	given := givenTo(t)
	r := measure(t, o, given)
	for _, w := range mongoDays {
		d := r.day(w.key)
		if d == nil || len(d.Dots) != 4 || d.Size <= 0 || d.Shuffled != (w.key != "growing-mongodb") {
			t.Errorf("%s: %+v", w.key, d)
		}
	}
	for _, w := range mongoCallers {
		if len(loads([]Report{*r}, w.key)) != 2 {
			t.Errorf("%s: %+v", w.key, r.Runs)
		}
	}
	if r.MongoDB != given.text {
		t.Errorf("measured on %q", r.MongoDB)
	}
	for _, part := range []string{tables([]Report{*r}), csv([]Report{*r}), picture([]Report{*r})} {
		if strings.Contains(part, given.uri) {
			t.Error("the URI, which may hold a password, is printed")
		}
	}
}

// Hits that were lost or counted twice are detected, at every level.
func TestSums_OnMongoDB(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		open       func(context.Context, *bench, setting) (target, error)
		collection string
		twice      [][]string
	}{
		"growing": {openMongoDB(growing), "daily_hits",
			[][]string{{"daily"}, {"hourly.07"}, {"minute.0442"}, {"daily", "hourly.07", "minute.0442"}}},
		"flat": {openMongoDB(flat), "daily_hits",
			[][]string{{"daily"}, {"hourly.23"}, {"minute.1439"}, {"daily", "hourly.23", "minute.1439"}}},
		"tree": {openMongoDB(tree), "daily_hits",
			[][]string{{"daily"}, {"hourly.23"}, {"minute.23.59"}, {"daily", "hourly.23", "minute.23.59"}}},
		"locus": {openLocusMongoDB, "counter_day",
			[][]string{{"n"}, {"h.07"}, {"q.29"}, {"m.07.22"}, {"n", "h.07", "q.29", "m.07.22"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := playMongoDB(t, tc.open)
			documents := scratchOf(t, p.target).db.Collection(tc.collection)
			one := bson.D{{Key: "_id", Value: documentOf(t, documents).Lookup("_id")}}
			add := func(fields []string, n int) {
				t.Helper()
				inc := bson.D{}
				for _, f := range fields {
					inc = append(inc, bson.E{Key: f, Value: n})
				}
				if r, err := documents.UpdateOne(t.Context(), one, bson.D{{Key: "$inc", Value: inc}}); err != nil || r.ModifiedCount != 1 {
					t.Fatal(r, err)
				}
			}
			for _, fields := range tc.twice {
				add(fields, 1)
				if err := p.check(t.Context()); err == nil {
					t.Errorf("one too many in %v was not found", fields)
				}
				add(fields, -1)
				if err := p.check(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := documents.DeleteOne(t.Context(), one); err != nil {
				t.Fatal(err)
			}
			if err := p.check(t.Context()); err == nil {
				t.Error("a document that is missing was not found")
			}
		})
	}
}

// playMongoDB plays some minutes of a day.
func playMongoDB(t *testing.T, open func(context.Context, *bench, setting) (target, error)) *player {
	t.Helper()
	b := &bench{tb: t, Report: &Report{Options: Options{Metrics: 2, Batch: 2, Tx: 1}}, mongodb: givenTo(t)}
	now := midnight
	target, err := open(t.Context(), b, setting{metrics: b.Metrics, callers: 1, unprepared: true, now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := target.close(); err != nil {
			t.Error(err)
		}
	})
	p := &player{bench: b, target: target, want: make([]int64, b.Metrics), set: func(t time.Time) { now = t }, r: rand.New(rand.NewPCG(7, 0))}
	if err := p.prepare(t.Context(), midnight); err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Duration{0, time.Minute, 7*time.Hour + 22*time.Minute, 7*time.Hour + 22*time.Minute, 24*time.Hour - time.Minute} {
		if _, err := p.minute(t.Context(), midnight.Add(at), 0); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func scratchOf(t *testing.T, of target) *scratch {
	t.Helper()
	switch of := of.(type) {
	case *mongoDocuments:
		return of.scratch
	case *mongoLocus:
		return of.scratch
	}
	t.Fatalf("%T is on no MongoDB", of)
	return nil
}

// A prepared document has all keys, and preparing it again changes nothing.
func TestMongoDocuments_PreparedOnce(t *testing.T) {
	t.Parallel()
	for _, s := range []shape{flat, tree} {
		p := playMongoDB(t, openMongoDB(s))
		documents := scratchOf(t, p.target).db.Collection("daily_hits")
		before := documentOf(t, documents)
		if err := p.prepare(t.Context(), midnight); err != nil {
			t.Fatal(err)
		}
		if after := documentOf(t, documents); string(after) != string(before) {
			t.Errorf("a day that is there was prepared again: %v, it was %v", after, before)
		}
		var want struct {
			Minute bson.Raw `bson:"minute"`
		}
		if err := bson.UnmarshalExtJSON([]byte(s.blank), true, &want); err != nil {
			t.Fatal(err)
		}
		if got, want := keysOf(t, before.Lookup("minute").Document()), keysOf(t, want.Minute); got != want {
			t.Errorf("minutes %s, want %s", got, want)
		}
	}
}

func documentOf(t *testing.T, documents *mongo.Collection) bson.Raw {
	t.Helper()
	doc, err := documents.FindOne(t.Context(), bson.D{}).Raw()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// keysOf returns the keys of a document in their order, including those of nested documents.
func keysOf(t *testing.T, doc bson.Raw) string {
	t.Helper()
	elements, err := doc.Elements()
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, e := range elements {
		all.WriteString(" " + e.Key())
		if inner, ok := e.Value().DocumentOK(); ok {
			all.WriteString(" {" + keysOf(t, inner) + " }")
		}
	}
	return all.String()
}

// Servers that may lose acknowledged writes, emulations of MongoDB, and existing databases are refused.
func TestFindMongoDB(t *testing.T) {
	t.Parallel()
	given := givenTo(t)
	switch found, err := findMongoDB(t.Context(), given.uri); {
	case given.unsafe && !errors.Is(err, cell.ErrPreflight):
		t.Errorf("%s is taken: %+v, %v", given.text, found, err)
	case !given.unsafe && (err != nil || found.text == "" || found.unsafe):
		t.Errorf("%s is not taken: %+v, %v", given.text, found, err)
	}
	if _, err := findMongoDB(t.Context(), "mongodb://ann:secret@db1,db2:27018/shop?replicaSet=rs0"); err == nil ||
		!strings.Contains(err.Error(), "names a database") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a database of somebody's: %v", err)
	}
	if _, err := findMongoDB(t.Context(), "mongodb://ann:secret@db1:secret/"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a URI that is none: %v", err)
	}
	if found, err := findMongoDB(t.Context(), ""); err != nil || found != (mongoServer{}) {
		t.Errorf("none was given: %+v, %v", found, err)
	}
}
