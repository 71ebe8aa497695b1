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

// Step is one access of a transaction to a database that is Apart. Steps of others may fall between any two of
// its own.
type Step struct {
	Of    Document
	Write bool
	Day   counter.SpanKey // of DayDocument
}

// Document is what a step reads or writes.
type Document int

// The documents of a database that is Apart.
const (
	FloorDocument Document = iota
	MetricDocument
	DayDocument
	SummaryDocument
	Listing // of days or metrics: their keys are read
)

// Fault is what happens at a step.
type Fault int

// The faults. A step that reads fails, whichever it is.
const (
	NoFault     Fault = iota
	Unavailable       // it is not done, which is known
	Conflict          // somebody else was first
	LostRequest       // it is not done, which nobody knows
	LostReply         // it is done, which nobody knows
	Crash             // it is not done, nor anything after it
)

// NewApart makes a database in memory whose days are written apart, as counter.Apart says: for tests of what stands
// above. faults, if not nil, is asked before each step, and may let others go on before it answers.
func NewApart(faults func(Step) Fault) counter.Database {
	return newApart(faults, "").database()
}

// apart is the database: days, each with the part of the model that is its own, and all else.
type apart struct {
	faults func(Step) Fault
	bug    string // see bugs_apart_test.go

	mu        sync.Mutex
	days      map[counter.SpanKey]*apartDay
	metrics   map[counter.ID]counter.Meta
	floor     int64
	summaries map[batchName]summary
}

// apartDay is a document. The maps in it are changed by whoever has made the copy.
type apartDay struct {
	*model     // spans and what is closed
	v, tallied int64
	memory     map[batchName]counter.Remembered
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
	is counter.Remembered
}

func newApart(faults func(Step) Fault, bug string) *apart {
	if faults == nil {
		faults = func(Step) Fault { return NoFault }
	}
	return &apart{
		faults: faults, bug: bug, days: map[counter.SpanKey]*apartDay{}, metrics: map[counter.ID]counter.Meta{}, summaries: map[batchName]summary{},
	}
}

func (a *apart) database() counter.Database { return counter.Database{Update: a.update, View: a.view} }

var (
	errDown    = errors.New("countertest: the database does not answer")
	errCrash   = errors.New("countertest: the process has ended")
	errAnew    = errors.New("countertest: somebody else was first")
	errReading = errors.New("countertest: a transaction that reads cannot write")
)

// step asks for a fault and does the step, as one.
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
		return fmt.Errorf("%w: the request is lost", counter.ErrUnconfirmed)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := do(); err != nil || fault == NoFault {
		return err
	}
	return fmt.Errorf("%w: the reply is lost", counter.ErrUnconfirmed)
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

// apartTx keeps what it read, each document once, and what it writes until it commits.
type apartTx struct {
	*apart
	ctx       context.Context //nolint:containedctx // of the transaction
	reading   bool
	days      map[counter.SpanKey]*ownDay
	known     map[counter.ID]counter.Meta
	put       map[counter.ID]counter.Meta
	floorRead bool
	was, is   int64 // the floor
	whole     map[batchName]*ownSummary
	seen      map[batchName]bool // what days remember that were asked
}

type ownDay struct {
	*apartDay
	key                             counter.SpanKey
	compared, rewritten, remembered bool
	tallies                         []counter.Tally
	fresh                           map[batchName]bool
}

type ownSummary struct {
	summary
	changed, gone bool
}

func (a *apart) begin(ctx context.Context, reading bool) *apartTx {
	return &apartTx{
		apart: a, ctx: ctx, reading: reading, days: map[counter.SpanKey]*ownDay{}, known: map[counter.ID]counter.Meta{},
		put: map[counter.ID]counter.Meta{}, whole: map[batchName]*ownSummary{}, seen: map[batchName]bool{},
	}
}

func newApartDay() *apartDay {
	d := &apartDay{model: &model{closed: map[counter.SpanKey]counter.ClosedDay{}}, memory: map[batchName]counter.Remembered{}}
	for table := range d.spans {
		d.spans[table] = map[counter.SpanKey][]int64{}
	}
	return d
}

func (d *apartDay) copy() *apartDay {
	return &apartDay{model: d.clone(), v: d.v, tallied: d.tallied, memory: maps.Clone(d.memory)}
}

// day is a day as the transaction leaves it.
func (t *apartTx) day(key counter.SpanKey) (*ownDay, error) {
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
	return d, t.unread(err, counter.UnreadError{Days: []counter.SpanKey{key}})
}

// unread is the error of a reading of what may be away while all else is there.
func (t *apartTx) unread(err error, what counter.UnreadError) error {
	if t.reading || !errors.Is(err, errDown) {
		return err
	}
	what.Err = err
	return &what
}

// dayOf is the day that a span lies in.
func dayOf(table counter.Table, key counter.SpanKey) counter.SpanKey {
	n := [...]int64{counter.Hours: 24, counter.Days: 1, counter.GaugeQuarters: 96, counter.GaugeDays: 1}[table]
	unit := key.Unit() / n
	if key.Unit()%n < 0 {
		unit--
	}
	return counter.NewSpanKey(unit, key.ID())
}
