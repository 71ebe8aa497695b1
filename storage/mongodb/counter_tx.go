// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/perdocument"
)

// counterTx is a transaction of counters as far as MongoDB single-document writes allow: it reads each document
// once and collects its writes until its function has returned. Then each day is written separately, on the
// condition that what the transaction read is unchanged.
type counterTx struct {
	counters
	reading bool
	over    bool
	session context.Context // carries a causally consistent session: reads are never older than earlier ones

	days      map[counter.BucketKey]*day
	metrics   map[counter.ID]*metric
	floor     *floor
	summaries map[string]*summary
	seen      map[string]bool // batches found in days but not asked for
}

var (
	errOver    = errors.New("mongodb: the transaction is over")
	errReading = errors.New("mongodb: a transaction that reads cannot write")
	// errAgain means that a concurrent write changed what was read, and that nothing was written.
	errAgain = errors.New("mongodb: another process wrote at the same time")
)

var _ perdocument.Store = (*counterTx)(nil)

func (c counters) begin(ctx context.Context, reading bool) (*counterTx, func()) {
	t := &counterTx{
		counters: c, reading: reading, session: ctx,
		days: map[counter.BucketKey]*day{}, metrics: map[counter.ID]*metric{}, summaries: map[string]*summary{}, seen: map[string]bool{},
	}
	if c.server.Topology == Standalone {
		return t, func() { t.over = true }
	}
	session, err := c.client.StartSession()
	if err != nil { // a server without sessions is not part of a replica set
		return t, func() { t.over = true }
	}
	t.session = mongo.NewSessionContext(ctx, session)
	return t, func() {
		t.over = true
		session.EndSession(context.WithoutCancel(ctx))
	}
}

func (c counters) view(ctx context.Context, fn func(perdocument.Store) error) error {
	t, end := c.begin(ctx, true)
	defer end()
	return fn(t)
}

// attempts is how often an update is retried because of concurrent writes. In each round of attempts at least one of
// the writers succeeds.
const attempts = 1000

func (c counters) update(ctx context.Context, fn func(perdocument.Store) error) error {
	for n := 1; ; n++ {
		err := c.attempt(ctx, fn)
		if !errors.Is(err, errAgain) {
			return err
		}
		if n == attempts {
			return fmt.Errorf("%w: others write to the same documents all the time: %w", cell.ErrUnavailable, err)
		}
	}
}

func (c counters) attempt(ctx context.Context, fn func(perdocument.Store) error) error {
	t, end := c.begin(ctx, false)
	defer end()
	if err := fn(t); err != nil {
		return err
	}
	return t.commit(ctx)
}

// writes returns an error if the transaction cannot write.
func (t *counterTx) writes() error {
	switch {
	case t.over:
		return errOver
	case t.reading:
		return errReading
	}
	return nil
}

// commit writes the changes of the transaction: metrics before their days, summaries after them.
func (t *counterTx) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := t.checkHorizon(ctx); err != nil {
		return err
	}
	if err := t.writeMetrics(ctx); err != nil {
		return err
	}
	days, err := t.writeDays(ctx)
	if err != nil {
		return err
	}
	if err = t.writeSummaries(ctx); errors.Is(err, errAgain) && days > 0 {
		return fmt.Errorf("%w: %d days are written, and a summary beside them is not: %w", counter.ErrCommitUnknown, days,
			counter.ErrConflict)
	}
	return err
}

// load reads days that were not read before, or only their heads, which suffice for adding. A day whose head was
// read is read again if all of it is needed; errAgain if it has changed since.
func (t *counterTx) load(ctx context.Context, keys []counter.BucketKey, whole bool) error {
	if t.over {
		return errOver
	}
	var absent []counter.BucketKey
	for _, key := range keys {
		switch d := t.days[key]; {
		case d == nil:
			t.days[key] = &day{key: key}
			absent = append(absent, key)
		case whole && !d.whole:
			absent = append(absent, key)
		}
	}
	if len(absent) == 0 {
		return nil
	}
	slices.Sort(absent)
	fields := headFields
	if whole {
		fields = nil
	}
	var changed error
	ids := make([]string, len(absent))
	for i, key := range absent {
		ids[i] = idOf(key)
	}
	lost, err := findOf(t, daysName, ids, fields, func(doc dayDoc) {
		if !t.found(&doc, whole) {
			changed = errAgain
		}
	})
	if len(lost) > 0 {
		unread := &perdocument.UnreadError{Err: errAway}
		for _, id := range lost {
			unread.Days = append(unread.Days, keyOf(id))
		}
		return unread
	}
	for _, key := range absent {
		d := t.days[key]
		if whole && !d.whole { // it does not exist
			d.whole = true
			d.again()
		}
		d.loaded = true
	}
	return errors.Join(err, changed)
}

// findOf reads documents for a transaction. A write transaction does not wait for those that are away.
func findOf[D any](t *counterTx, collection string, ids []string, fields bson.D,
	each func(D)) (lost []string, err error) {
	if t.reading {
		return nil, findIn(t.session, t.Collection(collection), ids, fields, each)
	}
	return findApart(t.session, t.Database, t.Collection(collection), ids, fields, each)
}

// found adds a document to the transaction, and reports whether it is unchanged if it was read before.
func (t *counterTx) found(doc *dayDoc, whole bool) bool {
	d := t.days[doc.key()]
	same := !d.loaded || d.v == doc.V
	memory, asked := d.memory, d.loaded
	d.take(doc, whole)
	if asked {
		d.memory = memory
	}
	if whole {
		d.again()
	}
	return same
}

// sorted returns days in key order.
func sorted(days map[counter.BucketKey]*day) []*day {
	return slices.SortedFunc(maps.Values(days), func(a, b *day) int { return cmp.Compare(a.key, b.key) })
}
