// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/storage/mongodb"
)

// Options of Open. The zero value is the default.
type Options struct {
	// Password of the user in the URI.
	Password secret.Text
	// UnsafeDurability accepts a server that may lose acknowledged writes, like the option of package storage/mongodb.
	UnsafeDurability bool
}

const (
	// patience limits a command, and sweeping the one that reads the whole collection.
	patience = time.Minute
	sweeping = 30 * time.Minute
	// controls is the collection of the positions.
	controls = "locus_sink"
	// duplicateKey is the code of the error of an insert whose _id exists.
	duplicateKey = 11000
)

// Sink is the sink of a collection. It stores positions.
type Sink struct {
	db            *mongodb.Database
	docs, control *mongo.Collection
}

var _ sink.Sink = (*Sink)(nil)

// control is the document of a sink in the collection of the positions.
type control struct {
	Collection string `bson:"_id"`
	Token      int64  `bson:"token"`
	Position   string `bson:"position"` // JSON, "" for none
}

// Open returns the sink of a collection of the database that a URI names. The error wraps sink.ErrStop if the
// collection has documents of another program.
func Open(ctx context.Context, uri, collection string, opts Options) (*Sink, error) {
	db, err := mongodb.Open(ctx, uri,
		&mongodb.Options{Password: opts.Password, UnsafeDurability: opts.UnsafeDurability, Timeout: patience})
	if err != nil {
		return nil, err
	}
	s := &Sink{db: db, docs: db.Collection(collection), control: db.Collection(controls)}
	if err := s.own(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// own returns an error if the collection is of another program.
func (s *Sink) own(ctx context.Context) error {
	_, found, err := s.read(ctx)
	if err != nil || found {
		return err
	}
	switch err := s.docs.FindOne(ctx, bson.D{}).Err(); {
	case err == nil:
		return fmt.Errorf("%w: collection %s has documents, and %s has no position of a sink: give the sink a collection of its own", sink.ErrStop, s.docs.Name(), controls)
	case !errors.Is(err, mongo.ErrNoDocuments):
		return fmt.Errorf("mongodb: read collection %s: %w", s.docs.Name(), err)
	}
	return nil
}

// read reads the control document.
func (s *Sink) read(ctx context.Context) (c control, found bool, err error) {
	err = s.control.FindOne(ctx, s.ours()).Decode(&c)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return c, false, nil
	}
	if err != nil {
		return c, false, fmt.Errorf("mongodb: read the position in %s: %w", controls, err)
	}
	return c, true, nil
}

// ours returns the filter of the control document, with further conditions.
func (s *Sink) ours(further ...bson.E) bson.D {
	return append(bson.D{{Key: "_id", Value: s.docs.Name()}}, further...)
}

// Position implements sink.Sink.
func (s *Sink) Position(ctx context.Context) (at sink.Position, err error) {
	c, _, err := s.read(ctx)
	if err == nil && c.Position != "" {
		err = json.Unmarshal([]byte(c.Position), &at)
	}
	return at, err
}

// Close implements sink.Sink.
func (s *Sink) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return s.db.Close(ctx)
}

// Deliver implements sink.Sink.
func (s *Sink) Deliver(ctx context.Context, b sink.Batch) error {
	if err := s.claim(ctx, b.Token); err != nil {
		return err
	}
	rejected, err := s.write(ctx, b.Events)
	if err == nil && b.Sweep != 0 {
		err = s.sweep(ctx, b.Sweep)
	}
	if err == nil && b.Position != nil {
		err = s.store(ctx, b.Token, b.Position)
	}
	if err == nil && rejected != nil {
		return &sink.RejectedError{Events: rejected}
	}
	return err
}

// claim raises the token of the control document to this one, unless it is higher.
func (s *Sink) claim(ctx context.Context, token int64) error {
	for range 2 {
		result, err := s.control.UpdateOne(ctx, s.ours(bson.E{Key: "token", Value: bson.D{{Key: "$lte", Value: token}}}),
			bson.D{{Key: "$set", Value: bson.D{{Key: "token", Value: token}}}})
		if err != nil {
			return fmt.Errorf("mongodb: claim collection %s: %w", s.docs.Name(), err)
		}
		if result.MatchedCount == 1 {
			return nil
		}
		_, err = s.control.InsertOne(ctx, control{Collection: s.docs.Name(), Token: token})
		if !mongo.IsDuplicateKeyError(err) {
			return err
		}
	}
	return s.refused(token)
}

func (s *Sink) refused(token int64) error {
	return fmt.Errorf("%w: collection %s has one above %d", sink.ErrFenced, s.docs.Name(), token)
}

// store stores the position, if the token is still this one.
func (s *Sink) store(ctx context.Context, token int64, at *sink.Position) error {
	text, err := json.Marshal(at)
	if err != nil {
		return err
	}
	result, err := s.control.UpdateOne(ctx, s.ours(bson.E{Key: "token", Value: token}), bson.D{{Key: "$set", Value: bson.D{{Key: "position", Value: string(text)}}}})
	if err != nil {
		return fmt.Errorf("mongodb: store the position in %s: %w", controls, err)
	}
	if result.MatchedCount == 0 {
		return s.refused(token)
	}
	return nil
}

// write inserts events, and replaces documents that have a lower rev. It returns the events that no document can hold.
func (s *Sink) write(ctx context.Context, events []sink.Event) (rejected []sink.Rejected, err error) {
	var docs []any
	var replacements []mongo.WriteModel
	for i := range events {
		doc := newDocument(&events[i])
		raw, err := bson.Marshal(doc)
		if err == nil && len(raw) > largest {
			err = fmt.Errorf("the document has %d bytes, and MongoDB takes %d", len(raw), largest)
		}
		if err != nil {
			rejected = append(rejected, sink.Rejected{ID: doc.ID, Reason: err.Error()})
			continue
		}
		docs = append(docs, bson.Raw(raw))
		lower := bson.D{{Key: "_id", Value: doc.ID}, {Key: "rev", Value: bson.D{{Key: "$lt", Value: doc.Rev}}}}
		replacements = append(replacements, mongo.NewReplaceOneModel().SetFilter(lower).SetReplacement(bson.Raw(raw)))
	}
	if len(docs) == 0 {
		return rejected, nil
	}
	_, err = s.docs.InsertMany(ctx, docs, options.InsertMany().SetOrdered(false))
	there, err := existing(err)
	if err == nil && len(there) > 0 {
		older := make([]mongo.WriteModel, len(there))
		for i, n := range there {
			older[i] = replacements[n]
		}
		_, err = s.docs.BulkWrite(ctx, older, options.BulkWrite().SetOrdered(false))
	}
	if err != nil {
		return nil, fmt.Errorf("mongodb: write %d events: %w", len(docs), err)
	}
	return rejected, nil
}

// existing returns the positions of the documents that were not inserted because their _id exists, if that is all.
func existing(err error) (there []int, other error) {
	e, ok := errors.AsType[mongo.BulkWriteException](err)
	if !ok || e.WriteConcernError != nil {
		return nil, err
	}
	for _, w := range e.WriteErrors {
		if w.Code != duplicateKey {
			return nil, err
		}
		there = append(there, w.Index)
	}
	return there, nil
}

// sweep marks documents with a lower rev as deleted.
func (s *Sink) sweep(ctx context.Context, below int64) error {
	ctx, cancel := context.WithTimeout(ctx, sweeping)
	defer cancel()
	_, err := s.docs.UpdateMany(ctx, bson.D{{Key: "rev", Value: bson.D{{Key: "$lt", Value: below}}}}, bson.D{
		{Key: "$set", Value: bson.D{{Key: "rev", Value: below}, {Key: "op", Value: sink.Delete}}},
		{Key: "$unset", Value: bson.D{{Key: "kind", Value: ""}, {Key: "into", Value: ""}, {Key: "at", Value: ""},
			{Key: "records", Value: ""}, {Key: "view", Value: ""}}},
	})
	if err != nil {
		return fmt.Errorf("mongodb: delete what the installation has lost: %w", err)
	}
	return nil
}
