// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	crypto "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/storage/mongodb"
)

// If a MongoDB was given, these are measured too, after the others.
var (
	mongoDays = []way{
		{"locus-mongodb", openLocusMongoDB},
		{"growing-mongodb", openMongoDB(growing)},
		{"flat-mongodb", openMongoDB(flat)},
		{"tree-mongodb", openMongoDB(tree)},
	}
	mongoCallers = []way{{"locus-mongodb", openLocusMongoDB}}
)

// mongoServer is the given MongoDB.
type mongoServer struct {
	uri  string // "" means none
	text string // its description of itself
	// unsafe accepts servers that may lose acknowledged writes and emulations of MongoDB; for tests.
	unsafe bool
}

// findMongoDB checks the server of a URI. It refuses servers that may lose acknowledged writes, and emulations of
// MongoDB, whose speed means nothing.
func findMongoDB(ctx context.Context, uri string) (m mongoServer, err error) {
	if m.uri = uri; uri == "" {
		return m, nil
	}
	shown, _, err := mongodb.ShownURI(uri)
	if err != nil {
		return m, err
	}
	if _, hosts, _ := strings.Cut(shown, "://"); strings.Contains(hosts, "/") {
		return m, errors.New("the URI names a database: leave it out, scratch databases are made; ?authSource=NAME says where the user is")
	}
	s, err := m.scratch()
	if err != nil {
		return m, err
	}
	d, err := m.open(ctx, s)
	if err != nil {
		return m, errors.Join(err, s.client.Disconnect(ctx)) // nothing was written to a refused server
	}
	m.text = d.Server().String()
	return m, errors.Join(d.Close(ctx), s.close())
}

// open opens a scratch database as Locus does.
func (m mongoServer) open(ctx context.Context, s *scratch) (*mongodb.Database, error) {
	return mongodb.Open(ctx, m.uri, &mongodb.Options{Name: s.db.Name(), UnsafeDurability: m.unsafe, Timeout: time.Minute})
}

// scratch is a database that is dropped when it is closed. Its writes are as durable as Locus's.
type scratch struct {
	client *mongo.Client
	db     *mongo.Database
}

func (m mongoServer) scratch() (*scratch, error) {
	durable := writeconcern.Majority()
	durable.Journal = new(true)
	client, err := mongo.Connect(options.Client().ApplyURI(m.uri).SetAppName("locus bench/counters").SetWriteConcern(durable).SetTimeout(time.Minute))
	if err != nil {
		return nil, errors.New("the URI is not understood") // the driver's message may quote a password
	}
	return &scratch{client, client.Database("locus_bench_" + strings.ToLower(crypto.Text()[:16]))}, nil
}

func (s *scratch) size(ctx context.Context) (int64, error) {
	var stats struct {
		Storage float64 `bson:"storageSize"`
		Index   float64 `bson:"indexSize"`
	}
	err := s.db.RunCommand(ctx, bson.D{{Key: "dbStats", Value: 1}}).Decode(&stats)
	return int64(stats.Storage + stats.Index), err
}

func (s *scratch) close() error {
	ctx := context.Background()
	return errors.Join(s.db.Drop(ctx), s.client.Disconnect(ctx))
}

// mongoDocuments are the text's documents, written as in the text: an upsert that increments, found by ID and
// metadata.
type mongoDocuments struct {
	*scratch
	shape
	names []string
	zeros bson.D // increments of zero that create every key; nil for a document that grows
	r     *rand.Rand
}

// openMongoDB creates a database for documents of a shape.
func openMongoDB(s shape) func(context.Context, *bench, setting) (target, error) {
	return func(_ context.Context, b *bench, o setting) (target, error) {
		d := &mongoDocuments{shape: s, names: names(o.metrics), r: rand.New(rand.NewPCG(4, uint64(b.Round)))}
		if s.blank != "" {
			d.zeros = zeros(s.minute)
		}
		var err error
		d.scratch, err = b.mongodb.scratch()
		return d, err
	}
}

// zeros returns increments of zero for every key of a day.
func zeros(minute func(time.Time) []string) bson.D {
	all := bson.D{{Key: "daily", Value: 0}}
	for h := range 24 {
		all = append(all, bson.E{Key: dotted(hourOf(midnight.Add(time.Duration(h) * time.Hour))), Value: 0})
	}
	for m := range 24 * 60 {
		all = append(all, bson.E{Key: dotted(minute(midnight.Add(time.Duration(m) * time.Minute))), Value: 0})
	}
	return all
}

func dotted(path []string) string { return strings.Join(path, ".") }

func (d *mongoDocuments) documents() *mongo.Collection { return d.db.Collection("daily_hits") }

func (d *mongoDocuments) id(m int32, at time.Time) string { return at.Format("20060102/") + d.names[m] }

func (d *mongoDocuments) metadata(m int32, at time.Time) bson.D {
	return bson.D{{Key: "date", Value: at.Truncate(24 * time.Hour)}, {Key: "measure", Value: d.names[m]}}
}

// add is one bulk: the hits, and the documents of tomorrow that chance creates.
func (d *mongoDocuments) add(ctx context.Context, _ int, c call) error {
	hit := bson.D{{Key: "$inc", Value: bson.D{
		{Key: "daily", Value: 1}, {Key: dotted(hourOf(c.at)), Value: 1}, {Key: dotted(d.minute(c.at)), Value: 1},
	}}}
	models := make([]mongo.WriteModel, 0, len(c.metrics)+1)
	for _, m := range c.metrics {
		if d.zeros != nil && d.r.IntN(2000) == 0 {
			models = append(models, d.prepared(m, c.at.AddDate(0, 0, 1)))
		}
		filter := bson.D{{Key: "_id", Value: d.id(m, c.at)}, {Key: "metadata", Value: d.metadata(m, c.at)}}
		models = append(models, mongo.NewUpdateOneModel().SetFilter(filter).SetUpdate(hit).SetUpsert(true))
	}
	return d.write(ctx, models)
}

// prepared creates a document, and leaves an existing one unchanged.
func (d *mongoDocuments) prepared(m int32, day time.Time) mongo.WriteModel {
	return mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: d.id(m, day)}}).SetUpsert(true).
		SetUpdate(bson.D{{Key: "$set", Value: bson.D{{Key: "metadata", Value: d.metadata(m, day)}}},
			{Key: "$inc", Value: d.zeros}})
}

// prepare creates the documents of a day that chance has not created.
func (d *mongoDocuments) prepare(ctx context.Context, day time.Time) error {
	if d.zeros == nil {
		return nil
	}
	models := make([]mongo.WriteModel, len(d.names))
	for m := range d.names {
		models[m] = d.prepared(int32(m), day)
	}
	return d.write(ctx, models)
}

// write sends an unordered bulk, which contains each document once.
func (d *mongoDocuments) write(ctx context.Context, models []mongo.WriteModel) error {
	_, err := d.documents().BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	return err
}

func (d *mongoDocuments) sums(ctx context.Context) ([]int64, error) {
	cursor, err := d.documents().Find(ctx, bson.D{})
	if err != nil {
		return nil, err
	}
	var docs []struct {
		ID     string   `bson:"_id"`
		Daily  int64    `bson:"daily"`
		Hourly bson.Raw `bson:"hourly"`
		Minute bson.Raw `bson:"minute"`
	}
	if err := cursor.All(ctx, &docs); err != nil {
		return nil, err
	}
	s := newSums(d.names)
	for _, doc := range docs {
		hours, err := sumOf(doc.Hourly)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", doc.ID, err)
		}
		minutes, err := sumOf(doc.Minute)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", doc.ID, err)
		}
		if err := s.add(doc.ID, doc.Daily, hours, minutes); err != nil {
			return nil, err
		}
	}
	return s.all, nil
}

// sumOf adds up the numbers of a document, at whatever depth they have.
func sumOf(doc bson.Raw) (sum int64, err error) {
	elements, err := doc.Elements()
	if err != nil {
		return 0, err
	}
	for _, e := range elements {
		n, ok := e.Value().AsInt64OK()
		if inner, nested := e.Value().DocumentOK(); nested {
			n, err = sumOf(inner)
			ok = err == nil
		}
		if !ok {
			return 0, fmt.Errorf("%s is no number", e.Key())
		}
		sum += n
	}
	return sum, nil
}

// mongoLocus is a recorder over MongoDB.
type mongoLocus struct {
	*scratch
	*recording
	names     []string
	database  *mongodb.Database
	documents *mongodb.Documents
}

func openLocusMongoDB(ctx context.Context, b *bench, s setting) (target, error) {
	l := &mongoLocus{names: names(s.metrics)}
	l.recording = newRecording(l.names)
	var err error
	if l.scratch, err = b.mongodb.scratch(); err != nil {
		return nil, err
	}
	if l.database, err = b.mongodb.open(ctx, l.scratch); err != nil {
		return nil, errors.Join(err, l.scratch.close())
	}
	o := l.options(s)
	if l.documents, err = l.database.Documents(ctx); err != nil {
		return nil, errors.Join(err, l.database.Close(ctx), l.scratch.close())
	}
	recorder, err := counter.New(l.documents.Metrics(), &o)
	l.recorders = append(l.recorders, recorder)
	return l, err
}

func (l *mongoLocus) sums(ctx context.Context) ([]int64, error) {
	got := newSums(l.names)
	metrics := l.documents.Metrics()
	return got.all, metrics.Cell(metrics.List()[0]).View(ctx, func(tx counter.Tx) error { return got.read(ctx, tx) })
}

func (l *mongoLocus) close() (err error) {
	for _, r := range l.recorders {
		err = errors.Join(err, r.Close())
	}
	return errors.Join(err, l.database.Close(context.Background()), l.scratch.close())
}
