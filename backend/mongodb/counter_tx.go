// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

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

// heads reads what has to be known of days before something is added to them.
func (t *counterTx) heads(ctx context.Context, keys []counter.SpanKey) error {
	return t.load(ctx, keys, false)
}

// load reads days, each once. One whose head was read is read again if all of it is needed: it must be the same
// still.
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
	err := findIn(t.session, t.collection(daysName), ids, fields, func(doc dayDoc) {
		if !t.found(&doc, whole) {
			changed = errAgain
		}
	})
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

// AddTallies keeps what is added until the end, and says which days begin with it.
func (t *counterTx) AddTallies(ctx context.Context, tallies []counter.Tally) (made []counter.SpanKey, err error) {
	if err := t.writes(); err != nil {
		return nil, err
	}
	keys := make([]counter.SpanKey, len(tallies))
	for i, tally := range tallies {
		keys[i] = counter.NewSpanKey(tally.Minute.Day(), tally.ID)
	}
	if err := t.heads(ctx, keys); err != nil {
		return nil, err
	}
	begun := map[*day]bool{}
	for i, tally := range tallies {
		d := t.days[keys[i]]
		if !begun[d] {
			begun[d] = true
			if !t.isOpen(d) {
				made = append(made, d.key)
				d.compared = true // one of those who find it not open opens it
			}
		}
		if d.total() > math.MaxInt64-tally.N {
			return nil, counter.ErrOverflow
		}
		if d.whole && d.overflows(tally) {
			return nil, counter.ErrOverflow
		}
		d.tallies = append(d.tallies, tally)
		if d.whole {
			d.add(tally)
		}
	}
	return made, nil
}

// isOpen tells whether the day has a span of Days, as the transaction leaves it.
func (t *counterTx) isOpen(d *day) bool {
	if d.whole {
		return d.spans[counter.Days][0] != nil
	}
	return d.open || len(d.tallies) > 0 || len(d.prepared[counter.Days]) > 0
}

// Spans reads whole days.
func (t *counterTx) Spans(ctx context.Context, table counter.Table, keys []counter.SpanKey) ([][]int64, error) {
	if err := t.loadOf(ctx, table, keys); err != nil {
		return nil, err
	}
	all := make([][]int64, len(keys))
	for i, key := range keys {
		doc, place := dayOf(table, key)
		d := t.days[doc]
		d.compared = true
		if values := d.spans[table][place]; values != nil {
			all[i] = slices.Clone(values)
		}
	}
	return all, nil
}

// loadOf reads the days that spans are in.
func (t *counterTx) loadOf(ctx context.Context, table counter.Table, keys []counter.SpanKey) error {
	docs := make([]counter.SpanKey, len(keys))
	for i, key := range keys {
		docs[i], _ = dayOf(table, key)
	}
	return t.load(ctx, docs, true)
}

// PutSpans has days be replaced.
func (t *counterTx) PutSpans(ctx context.Context, table counter.Table, spans []counter.Span) error {
	keys := make([]counter.SpanKey, len(spans))
	for i := range spans {
		keys[i] = spans[i].Key
	}
	return t.change(ctx, table, keys, func(i int, d *day, place int) {
		copy(d.span(table, place), spans[i].Values)
	})
}

// DeleteSpans has days be replaced.
func (t *counterTx) DeleteSpans(ctx context.Context, table counter.Table, keys []counter.SpanKey) error {
	return t.change(ctx, table, keys, func(_ int, d *day, place int) { delete(d.spans[table], place) })
}

// change changes the spans under keys.
func (t *counterTx) change(ctx context.Context, table counter.Table, keys []counter.SpanKey, do func(i int, d *day, place int)) error {
	if err := t.writes(); err != nil {
		return err
	}
	if err := t.loadOf(ctx, table, keys); err != nil {
		return err
	}
	for i, key := range keys {
		doc, place := dayOf(table, key)
		d := t.days[doc]
		d.rewritten = true
		do(i, d, place)
	}
	return nil
}

// PrepareSpans adds zeros, which changes nothing that is there, as the text does.
func (t *counterTx) PrepareSpans(ctx context.Context, table counter.Table, keys []counter.SpanKey) (made []counter.SpanKey, err error) {
	if err := t.writes(); err != nil {
		return nil, err
	}
	if err := t.loadOf(ctx, table, keys); err != nil {
		return nil, err
	}
	for _, key := range keys {
		doc, place := dayOf(table, key)
		d := t.days[doc]
		if d.spans[table][place] != nil {
			continue
		}
		d.span(table, place)
		made = append(made, key)
		if table > counter.Days {
			d.rewritten = true
			continue
		}
		if d.prepared[table] == nil {
			d.prepared[table] = map[int]bool{}
		}
		d.prepared[table][place] = true
		d.compared = true // one of those who find it missing makes it
	}
	return made, nil
}

// ClosedDays reads whole days.
func (t *counterTx) ClosedDays(ctx context.Context, keys []counter.SpanKey) ([]counter.ClosedDay, error) {
	if err := t.load(ctx, keys, true); err != nil {
		return nil, err
	}
	days := make([]counter.ClosedDay, len(keys))
	for i, key := range keys {
		if d := t.days[key]; d.closed != nil {
			days[i] = *d.closed
		}
	}
	return days, nil
}

// PutClosedDays has days be replaced.
func (t *counterTx) PutClosedDays(ctx context.Context, days []counter.ClosedDay) error {
	keys := make([]counter.SpanKey, len(days))
	for i := range days {
		keys[i] = days[i].Key
	}
	if err := errors.Join(t.writes(), t.load(ctx, keys, true)); err != nil {
		return err
	}
	for i := range days {
		d, closed := t.days[keys[i]], days[i]
		d.closed, d.rewritten = &closed, true
	}
	return nil
}

// sorted are days in the order of their keys.
func sorted(days map[counter.SpanKey]*day) []*day {
	all := slices.Collect(maps.Values(days))
	slices.SortFunc(all, func(a, b *day) int {
		if a.key < b.key {
			return -1
		}
		return 1
	})
	return all
}
