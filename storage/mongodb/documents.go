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
	"github.com/locus-db/locus/internal/delay"
)

// Documents is a database that belongs to one installation: its counters, and groups of its rollups.
type Documents struct {
	*Database
	identity string
}

// The collection locus holds facts about the database, a document each: {_id, value}.
const (
	factsName = "locus"
	// identityFact is the identity of the database: Documents.Identity.
	identityFact = "identity"
	// ownerFact is the ID of the installation that owns it: Documents.Owner.
	ownerFact = "installation"
	// preparedFact is the version of what prepareCounters created.
	preparedFact = "prepared"
	// markFact is a text that shows whether two URIs name the same database.
	markFact = "mark"
)

// Documents prepares the database for an installation: it assigns an identity and creates what counters need. It is
// idempotent. Close of either value closes both.
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

// prepare creates what counters need, once. That needs every shard, but a process must be able to start while one
// is down.
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

// Identity distinguishes the database from every other one, and from an earlier one of the same name that was
// dropped.
func (d *Documents) Identity() string { return d.identity }

// Owner returns the ID of the installation that owns the database, or "" if none does.
func (d *Documents) Owner(ctx context.Context) (string, error) {
	owner, err := d.fact(ctx, ownerFact)
	if err != nil {
		return "", fmt.Errorf("mongodb: whose %s is: %w", d.shown, err)
	}
	return owner, nil
}

// Claim assigns the database to an installation, unless it has an owner, and returns the owner. Only one of several
// concurrent claims succeeds, because the owner is one document with a fixed _id.
func (d *Documents) Claim(ctx context.Context, installation string) (owner string, err error) {
	if owner, err = d.settle(ctx, ownerFact, installation); err != nil {
		return "", fmt.Errorf("mongodb: claim %s: %w", d.shown, err)
	}
	return owner, nil
}

// ErrNoCopy means that a database is not a copy of the given one.
var ErrNoCopy = errors.New("mongodb: not a copy of the installation's database")

// HandOver assigns a copy of a database to the copy of the installation that owns the original. It checks that the
// copy has the original's identity, and that a mark written in it does not appear in the original, so that the
// original is not taken from its installation. An original that is unavailable cannot be checked. If the database
// is not a copy, the error wraps ErrNoCopy. HandOver may be repeated.
func (d *Database) HandOver(ctx context.Context, original *Database, identity, installation string) error {
	is, err := d.fact(ctx, identityFact)
	switch {
	case err != nil:
		return fmt.Errorf("mongodb: hand over %s: %w", d.shown, err)
	case is != identity:
		return fmt.Errorf("%w: %s is database %q, and the installation counts in %q: restore the backup of that one there",
			ErrNoCopy, d.shown, is, identity)
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

// fact reads a fact, "" if it is not set.
func (d *Database) fact(ctx context.Context, name string) (string, error) {
	var doc struct {
		Value string `bson:"value"`
	}
	err := d.Collection(factsName).FindOne(ctx, bson.D{{Key: "_id", Value: name}}).Decode(&doc)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return "", nil
	}
	return doc.Value, unread(err)
}

// set writes a fact unconditionally.
func (d *Database) set(ctx context.Context, name, value string) error {
	c := d.Collection(factsName)
	result, err := c.UpdateOne(ctx, bson.D{{Key: "_id", Value: name}}, bson.D{{
		Key: "$set", Value: bson.D{{Key: "value", Value: value}},
	}})
	if err == nil && result.MatchedCount == 0 {
		_, err = c.InsertOne(ctx, bson.D{{Key: "_id", Value: name}, {Key: "value", Value: value}})
		if mongo.IsDuplicateKeyError(err) {
			return d.set(ctx, name, value)
		}
	}
	return unwritten(err)
}

// settle returns a fact; the first caller sets it to value.
func (d *Database) settle(ctx context.Context, name, value string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	for {
		is, err := d.fact(ctx, name)
		if is != "" || err != nil {
			return is, err
		}
		_, err = d.Collection(factsName).InsertOne(ctx, bson.D{{Key: "_id", Value: name}, {Key: "value", Value: value}})
		if err == nil {
			continue
		}
		if !mongo.IsDuplicateKeyError(err) {
			return "", unread(err) // whether it was written does not matter, because it is read again
		}
		// A document that another process has inserted cannot be read until a majority has it.
		if err := delay.For(ctx, 10*time.Millisecond); err != nil {
			return "", fmt.Errorf("%w: document %s of %s is written and cannot be read: %w", cell.ErrUnavailable, name,
				factsName, err)
		}
	}
}
