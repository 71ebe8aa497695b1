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
)

// counterTx is a transaction of counters as far as there can be one: what it reads it reads once, document by
// document, and what it writes is kept here until its function has returned. Then each day is written by
// itself, where nobody has written meanwhile what the transaction has read.
type counterTx struct {
	counters
	reading bool
	over    bool
	session context.Context // carries a session in which what is read is not older than what was read before

	days      map[counter.SpanKey]*day
	metrics   map[counter.ID]*metric
	floor     *floor
	summaries map[string]*summary
	seen      map[string]bool // batches that days remember and nobody has asked for
}

var (
	errOver    = errors.New("mongodb: the transaction is over")
	errReading = errors.New("mongodb: a transaction that reads cannot write")
	// errAgain means that somebody else wrote what was read, and that nothing was written.
	errAgain = errors.New("mongodb: somebody else wrote at the same time")
)

var _ counter.Apart = (*counterTx)(nil)

func (c counters) begin(ctx context.Context, reading bool) (*counterTx, func()) {
	t := &counterTx{
		counters: c, reading: reading, session: ctx,
		days: map[counter.SpanKey]*day{}, metrics: map[counter.ID]*metric{}, summaries: map[string]*summary{}, seen: map[string]bool{},
	}
	if c.server.Topology == Standalone {
		return t, func() { t.over = true }
	}
	session, err := c.client.StartSession()
	if err != nil { // of a server without sessions there is no replica set
		return t, func() { t.over = true }
	}
	t.session = mongo.NewSessionContext(ctx, session)
	return t, func() {
		t.over = true
		session.EndSession(context.WithoutCancel(ctx))
	}
}

func (c counters) view(ctx context.Context, fn func(counter.Tx) error) error {
	t, end := c.begin(ctx, true)
	defer end()
	return fn(t)
}

// attempts is how often an update begins anew because others wrote at the same time. Each time at least one of
// them got on.
const attempts = 1000

func (c counters) update(ctx context.Context, fn func(counter.Tx) error) error {
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

func (c counters) attempt(ctx context.Context, fn func(counter.Tx) error) error {
	t, end := c.begin(ctx, false)
	defer end()
	if err := fn(t); err != nil {
		return err
	}
	return t.commit(ctx)
}

// writes refuses a write where there can be none.
func (t *counterTx) writes() error {
	switch {
	case t.over:
		return errOver
	case t.reading:
		return errReading
	}
	return nil
}

// commit writes what the transaction has left. Metrics come before their days, and summaries after them.
func (t *counterTx) commit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := t.checkFloor(ctx); err != nil {
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
		return fmt.Errorf("%w: %d days are written, and a summary beside them is not: %w", counter.ErrUnconfirmed, days, counter.ErrConflict)
	}
	return err
}

// load reads days, each once, or only their heads: what has to be known before something is added. One whose head
// was read is read again if all of it is needed: it must be the same still.
func (t *counterTx) load(ctx context.Context, keys []counter.SpanKey, whole bool) error {
	if t.over {
		return errOver
	}
	var absent []counter.SpanKey
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
		unread := &counter.UnreadError{Err: errAway}
		for _, id := range lost {
			unread.Days = append(unread.Days, keyOf(id))
		}
		return unread
	}
	for _, key := range absent {
		d := t.days[key]
		if whole && !d.whole { // it is not there
			d.whole = true
			d.again()
		}
		d.loaded = true
	}
	return errors.Join(err, changed)
}

// findOf reads documents of a transaction. One that writes does not wait for those that are away.
func findOf[D any](t *counterTx, collection string, ids []string, fields bson.D, each func(D)) (lost []string, err error) {
	if t.reading {
		return nil, findIn(t.session, t.collection(collection), ids, fields, each)
	}
	return findApart(t.session, t.Database, t.collection(collection), ids, fields, each)
}

// found takes a document into the transaction, and answers whether it is what it was if it was read before.
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

// sorted are days in the order of their keys.
func sorted(days map[counter.SpanKey]*day) []*day {
	return slices.SortedFunc(maps.Values(days), func(a, b *day) int { return cmp.Compare(a.key, b.key) })
}
