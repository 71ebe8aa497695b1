// SPDX-License-Identifier: Apache-2.0

package perdocumenttest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance/countertest/model"
	"github.com/locus-db/locus/internal/perdocument"
)

// Step is one access of a transaction to a database. Steps of other transactions may fall between any two
// of its own.
type Step struct {
	Of    Document
	Write bool
	Day   counter.BucketKey // for DayDocument
}

// Document identifies the document of a step.
type Document int

// The documents of the database.
const (
	FloorDocument Document = iota
	MetricDocument
	DayDocument
	SummaryDocument
	Listing // keys of days or metrics
)

// Fault is the fault at a step.
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

// NewMemory returns a database in memory, for tests of its users. faults, if not nil, is called before each step, and
// may run other transactions before it returns.
func NewMemory(faults func(Step) Fault) perdocument.Database {
	return newMemory(faults, "").database()
}

// memory is the database: days, each with its part of the model, and everything else.
type memory struct {
	faults func(Step) Fault
	bug    string // see bugs_test.go

	mu        sync.Mutex
	days      map[counter.BucketKey]*memoryDay
	metrics   map[counter.ID]counter.Meta
	horizon   int64
	summaries map[batchName]summary
}

// memoryDay is a document. Only the owner of a copy may change its maps.
type memoryDay struct {
	*model.Cell // buckets and compacted days
	v, tallied  int64
	memory      map[batchName]counter.DedupRecord
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

func newMemory(faults func(Step) Fault, bug string) *memory {
	if faults == nil {
		faults = func(Step) Fault { return NoFault }
	}
	return &memory{
		faults: faults, bug: bug, days: map[counter.BucketKey]*memoryDay{}, metrics: map[counter.ID]counter.Meta{},
		summaries: map[batchName]summary{},
	}
}

func (a *memory) database() perdocument.Database {
	return perdocument.Database{Update: a.update, View: a.view}
}

var (
	errDown    = errors.New("perdocumenttest: the database does not answer")
	errCrash   = errors.New("perdocumenttest: the process has ended")
	errAnew    = errors.New("perdocumenttest: another transaction was first")
	errReading = errors.New("perdocumenttest: a transaction that reads cannot write")
)

// step gets a fault and does the step, atomically.
func (a *memory) step(of Step, do func() error) error {
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

func (a *memory) view(ctx context.Context, fn func(perdocument.Store) error) error {
	return fn(a.begin(ctx, true))
}

func (a *memory) update(ctx context.Context, fn func(perdocument.Store) error) error {
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

// memoryTx caches what it read, each document once, and its writes until it commits.
type memoryTx struct {
	*memory
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
	*memoryDay
	key                        counter.BucketKey
	compared, rewritten, dedup bool
	tallies                    []counter.Tally
	fresh                      map[batchName]bool
}

type ownSummary struct {
	summary
	changed, gone bool
}

func (a *memory) begin(ctx context.Context, reading bool) *memoryTx {
	return &memoryTx{
		memory: a, ctx: ctx, reading: reading, days: map[counter.BucketKey]*ownDay{}, known: map[counter.ID]counter.Meta{},
		put: map[counter.ID]counter.Meta{}, whole: map[batchName]*ownSummary{}, seen: map[batchName]bool{},
	}
}

func newMemoryDay() *memoryDay {
	d := &memoryDay{Cell: &model.Cell{Packed: map[counter.BucketKey]counter.CompactedDay{}},
		memory: map[batchName]counter.DedupRecord{}}
	for table := range d.Tables {
		d.Tables[table] = map[counter.BucketKey][]int64{}
	}
	return d
}

func (d *memoryDay) copy() *memoryDay {
	return &memoryDay{Cell: d.Clone(), v: d.v, tallied: d.tallied, memory: maps.Clone(d.memory)}
}

// day returns a day with the transaction's changes.
func (t *memoryTx) day(key counter.BucketKey) (*ownDay, error) {
	if d := t.days[key]; d != nil {
		return d, nil
	}
	d := &ownDay{key: key, fresh: map[batchName]bool{}}
	err := t.step(Step{Of: DayDocument, Day: key}, func() error {
		if there := t.memory.days[key]; there != nil {
			d.memoryDay = there.copy()
		} else {
			d.memoryDay = newMemoryDay()
		}
		return nil
	})
	if err == nil {
		t.days[key] = d
	}
	return d, t.unread(err, perdocument.UnreadError{Days: []counter.BucketKey{key}})
}

// unread returns the error of a failed read of documents while others are readable.
func (t *memoryTx) unread(err error, what perdocument.UnreadError) error {
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
