// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/locus-db/locus/cell"
)

// Documents is a database that belongs to one installation: its counters, and groups of its rollups.
type Documents struct {
	*Database
	identity string
}

// The collection locus has what a database is, a document for each fact: {_id, value}.
const (
	factsName = "locus"
	// identityFact is the identity of the database: Documents.Identity.
	identityFact = "identity"
	// ownerFact is the id of the installation that it belongs to: Documents.Owner.
	ownerFact = "installation"
	// preparedFact is the number of what counters find in it.
	preparedFact = "prepared"
	// markFact is a text that shows that two URIs lead to one database.
	markFact = "mark"
)

// Documents makes the database one that an installation can have: it gets an identity, and what counters find in it.
// Repeating it changes nothing. Close of either closes both.
func (d *Database) Documents(ctx context.Context) (*Documents, error) {
	identity, err := d.settle(ctx, identityFact, rand.Text())
	if err == nil {
		err = d.prepare(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("mongodb: prepare %s: %w", d.shown, err)
	}
	return &Documents{d, identity}, nil
}

// prepare makes what counters find, once: every shard has to answer for that, and a process is to start without one.
func (d *Database) prepare(ctx context.Context) error {
	const number = "1"
	if done, err := d.fact(ctx, preparedFact); done == number || err != nil {
		return err
	}
	if err := d.prepareCounters(ctx); err != nil {
		return err
	}
	return d.set(ctx, preparedFact, number)
}

// Identity tells the database from every other one, and from what it was before it was dropped.
func (d *Documents) Identity() string { return d.identity }

// Owner returns the id of the installation that the database belongs to, "" if it belongs to none.
func (d *Documents) Owner(ctx context.Context) (string, error) {
	owner, err := d.fact(ctx, ownerFact)
	if err != nil {
		return "", fmt.Errorf("mongodb: whose %s is: %w", d.shown, err)
	}
	return owner, nil
}

// Claim has the database belong to an installation, unless it belongs to one already, and returns whose it is. Of
// several that claim it at once one gets it: there is one document of that _id.
func (d *Documents) Claim(ctx context.Context, installation string) (owner string, err error) {
	if owner, err = d.settle(ctx, ownerFact, installation); err != nil {
		return "", fmt.Errorf("mongodb: claim %s: %w", d.shown, err)
	}
	return owner, nil
}

// ErrNoCopy means that a database is not the copy of another one that it was taken for.
var ErrNoCopy = errors.New("mongodb: not a copy of the installation's database")

// HandOver has a copy of a database belong to the copy of the installation that has the original. The copy has the
// original's identity, since it has all documents, and what is written in it does not come to be in the original: so
// the original is not taken from its installation. One that does not answer cannot be compared. The error wraps
// ErrNoCopy if it is none. Repeating it does no harm.
func (d *Database) HandOver(ctx context.Context, original *Database, identity, installation string) error {
	is, err := d.fact(ctx, identityFact)
	switch {
	case err != nil:
		return fmt.Errorf("mongodb: hand over %s: %w", d.shown, err)
	case is != identity:
		return fmt.Errorf("%w: %s is database %q, and the installation counts in %q: restore the backup of that one there", ErrNoCopy, d.shown, is, identity)
	}
	mark := rand.Text()
	if err := d.set(ctx, markFact, mark); err != nil {
		return fmt.Errorf("mongodb: hand over %s: %w", d.shown, err)
	}
	if original != nil {
		marked, err := original.fact(ctx, markFact)
		if err == nil && marked == mark {
			return fmt.Errorf("%w: %s is the same database as %s: nothing was copied there", ErrNoCopy, d.shown, original.shown)
		}
	}
	if err := d.set(ctx, ownerFact, installation); err != nil {
		return fmt.Errorf("mongodb: hand over %s: %w", d.shown, err)
	}
	return nil
}

// fact reads a fact, "" if it was not settled.
func (d *Database) fact(ctx context.Context, name string) (string, error) {
	var doc struct {
		Value string `bson:"value"`
	}
	err := d.collection(factsName).FindOne(ctx, bson.D{{Key: "_id", Value: name}}).Decode(&doc)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return "", nil
	}
	return doc.Value, unread(err)
}

// set writes a fact, whatever it was.
func (d *Database) set(ctx context.Context, name, value string) error {
	c := d.collection(factsName)
	result, err := c.UpdateOne(ctx, bson.D{{Key: "_id", Value: name}}, bson.D{{Key: "$set", Value: bson.D{{Key: "value", Value: value}}}})
	if err == nil && result.MatchedCount == 0 {
		_, err = c.InsertOne(ctx, bson.D{{Key: "_id", Value: name}, {Key: "value", Value: value}})
		if mongo.IsDuplicateKeyError(err) {
			return d.set(ctx, name, value)
		}
	}
	return unwritten(err)
}

// settle returns a fact. The first to ask for it decides on it.
func (d *Database) settle(ctx context.Context, name, value string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	for {
		is, err := d.fact(ctx, name)
		if is != "" || err != nil {
			return is, err
		}
		_, err = d.collection(factsName).InsertOne(ctx, bson.D{{Key: "_id", Value: name}, {Key: "value", Value: value}})
		if err == nil {
			continue
		}
		if !mongo.IsDuplicateKeyError(err) {
			return "", unread(err) // whether it was written does not matter: it is read again
		}
		// What another process has inserted cannot be read until a majority has it.
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("%w: document %s of %s is written and cannot be read: %w", cell.ErrUnavailable, name, factsName, context.Cause(ctx))
		case <-time.After(10 * time.Millisecond):
		}
	}
}
