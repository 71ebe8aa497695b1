// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Documents is a database that belongs to one installation: its counters, and groups of its rollups.
type Documents struct {
	*Database
	identity string
}

// Documents makes the database an installation's: it gets an identity, and what counters find in it. Repeating it
// changes nothing. Close of either closes both.
func (d *Database) Documents(ctx context.Context) (*Documents, error) {
	identity, err := d.introduce(ctx)
	if err == nil {
		err = d.prepareCounters(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("mongodb: prepare %s: %w", d.shown, err)
	}
	return &Documents{d, identity}, nil
}

// Identity tells the database from every other one, and from what it was before it was dropped.
func (d *Documents) Identity() string { return d.identity }

// introduce reads the database's identity, which the first to ask for it draws.
func (d *Database) introduce(ctx context.Context) (string, error) {
	const key = "identity"
	c := d.collection("locus")
	read := func() (string, error) {
		var doc struct {
			Value string `bson:"value"`
		}
		err := c.FindOne(ctx, bson.D{{Key: "_id", Value: key}}).Decode(&doc)
		if errors.Is(err, mongo.ErrNoDocuments) {
			return "", nil
		}
		return doc.Value, unread(err)
	}
	if id, err := read(); id != "" || err != nil {
		return id, err
	}
	_, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: key}, {Key: "value", Value: rand.Text()}})
	if err != nil && !mongo.IsDuplicateKeyError(err) {
		return "", unread(err) // whether it was written does not matter: it is read again
	}
	return read()
}
