// SPDX-License-Identifier: Apache-2.0

package countertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/locus-db/locus/counter"
)

// Step is one access of a transaction to an PerDocumentStore database. Steps of other transactions may fall between any two
// of its own.
type Step struct {
	Of    Document
	Write bool
	Day   counter.BucketKey // for DayDocument
}

// Document is what a step reads or writes.
type Document int

// The documents of an PerDocumentStore database.
const (
	FloorDocument Document = iota
	MetricDocument
	DayDocument
	SummaryDocument
	Listing // keys of days or metrics
)

// Fault is what happens at a step.
type Fault int

// The faults. A step that reads fails with any of them.
const (
	NoFault     Fault = iota
	Unavailable       // not done, and reported as such
	Conflict          // another transaction was first
	LostRequest       // not done, but the outcome is unknown
	LostReply         // done, but the outcome is unknown
	Crash             // not done, nor anything after it
)

// NewApart returns an PerDocumentStore database in memory, for tests of its users. faults, if not nil, is called before each
// step, and may run other transactions before it returns.
func NewApart(faults func(Step) Fault) counter.Database {
	return newApart(faults, "").database()
}

// apart is the database: days, each with its part of the model, and everything else.
type apart struct {
	faults func(Step) Fault
	bug    string // see bugs_apart_test.go

	mu        sync.Mutex
	days      map[counter.BucketKey]*apartDay
	metrics   map[counter.ID]counter.Meta
	horizon   int64
	summaries map[batchName]summary
}

// apartDay is a document. Only the owner of a copy may change its maps.
type apartDay struct {
	*model     // buckets and compacted days
	v, tallied int64
	memory     map[batchName]counter.DedupRecord
}

type batchName struct {
	key      counter.Key
	producer counter.Producer
}

func (n batchName) compare(m batchName) int {
	return cmp.Or(cmp.Compare(n.key, m.key), slices.Compare(n.producer[:], m.producer[:]))
}

func nameOfProducer(p counter.Producer) batchName { return batchName{producer: p} }

type summary struct {
	v  int64
	is counter.DedupRecord
}

func newApart(faults func(Step) Fault, bug string) *apart {
	if faults == nil {
		faults = func(Step) Fault { return NoFault }
	}
	return &apart{
		faults: faults, bug: bug, days: map[counter.BucketKey]*apartDay{}, metrics: map[counter.ID]counter.Meta{}, summaries: map[batchName]summary{},
	}
}

func (a *apart) database() counter.Database { return counter.Database{Update: a.update, View: a.view} }

var (
	errDown    = errors.New("countertest: the database does not answer")
	errCrash   = errors.New("countertest: the process has ended")
	errAnew    = errors.New("countertest: somebody else was first")
	errReading = errors.New("countertest: a transaction that reads cannot write")
)

// step gets a fault and does the step, atomically.
func (a *apart) step(of Step, do func() error) error {
	fault := a.faults(of)
	switch {
	case fault == Crash:
		return errCrash
	case fault != NoFault && !of.Write || fault == Unavailable:
		return errDown
	case fault == Conflict:
		return errAnew
	case fault == LostRequest:
		return fmt.Errorf("%w: the request is lost", counter.ErrCommitUnknown)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := do(); err != nil || fault == NoFault {
		return err
	}
	return fmt.Errorf("%w: the reply is lost", counter.ErrCommitUnknown)
}

func (a *apart) view(ctx context.Context, fn func(counter.Tx) error) error {
	return fn(a.begin(ctx, true))
}

func (a *apart) update(ctx context.Context, fn func(counter.Tx) error) error {
	for {
		t := a.begin(ctx, false)
		if err := fn(t); err != nil {
			return err
		}
		if err := t.commit(); !errors.Is(err, errAnew) {
			return err
		}
	}
}

// apartTx caches what it read, each document once, and its writes until it commits.
type apartTx struct {
	*apart
	ctx         context.Context //nolint:containedctx // of the transaction
	reading     bool
	days        map[counter.BucketKey]*ownDay
	known       map[counter.ID]counter.Meta
	put         map[counter.ID]counter.Meta
	horizonRead bool
	was, is     int64 // the dedup horizon
	whole       map[batchName]*ownSummary
	seen        map[batchName]bool // batches whose day records were read
}

type ownDay struct {
	*apartDay
	key                        counter.BucketKey
	compared, rewritten, dedup bool
	tallies                    []counter.Tally
	fresh                      map[batchName]bool
}

type ownSummary struct {
	summary
	changed, gone bool
}

func (a *apart) begin(ctx context.Context, reading bool) *apartTx {
	return &apartTx{
		apart: a, ctx: ctx, reading: reading, days: map[counter.BucketKey]*ownDay{}, known: map[counter.ID]counter.Meta{},
		put: map[counter.ID]counter.Meta{}, whole: map[batchName]*ownSummary{}, seen: map[batchName]bool{},
	}
}

func newApartDay() *apartDay {
	d := &apartDay{model: &model{compacted: map[counter.BucketKey]counter.CompactedDay{}}, memory: map[batchName]counter.DedupRecord{}}
	for table := range d.buckets {
		d.buckets[table] = map[counter.BucketKey][]int64{}
	}
	return d
}

func (d *apartDay) copy() *apartDay {
	return &apartDay{model: d.clone(), v: d.v, tallied: d.tallied, memory: maps.Clone(d.memory)}
}

// day returns a day with the transaction's changes.
func (t *apartTx) day(key counter.BucketKey) (*ownDay, error) {
	if d := t.days[key]; d != nil {
		return d, nil
	}
	d := &ownDay{key: key, fresh: map[batchName]bool{}}
	err := t.step(Step{Of: DayDocument, Day: key}, func() error {
		if there := t.apart.days[key]; there != nil {
			d.apartDay = there.copy()
		} else {
			d.apartDay = newApartDay()
		}
		return nil
	})
	if err == nil {
		t.days[key] = d
	}
	return d, t.unread(err, counter.UnreadError{Days: []counter.BucketKey{key}})
}

// unread returns the error of a failed read of documents while others are readable.
func (t *apartTx) unread(err error, what counter.UnreadError) error {
	if t.reading || !errors.Is(err, errDown) {
		return err
	}
	what.Err = err
	return &what
}

func dayOf(table counter.Table, key counter.BucketKey) counter.BucketKey {
	n := [...]int64{counter.Hours: 24, counter.Days: 1, counter.GaugeQuarters: 96, counter.GaugeDays: 1}[table]
	unit := key.Unit() / n
	if key.Unit()%n < 0 {
		unit--
	}
	return counter.NewBucketKey(unit, key.ID())
}
