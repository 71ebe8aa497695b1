// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"errors"
	"time"
)

// Metric names what is counted: 1 to 200 bytes of UTF-8 without control characters. It is data: dots,
// dollars and slashes mean nothing.
type Metric string

// Kind is what is kept of a metric. It is that of its first hit, for ever.
type Kind uint8

// The kinds of metrics.
const (
	Counter Kind = iota // sums: a hit adds N
	Gauge               // readings: min, max, sum, count and the last one
)

// String is counter or gauge.
func (k Kind) String() string {
	if k == Gauge {
		return "gauge"
	}
	return "counter"
}

// Limits of what is taken.
const (
	MaxMetric  = 200                   // bytes of a name
	MaxBatch   = 1000                  // hits of a batch
	MaxN       = 1_000_000             // N of a hit of a counter
	MaxReading = 1_000_000_000_000_000 // and of a gauge, in either direction
	MaxKey     = 128                   // bytes of an idempotency key
	MaxPoints  = 50_000                // values of one answer
	MaxTop     = 1000                  // metrics of one answer about the highest ones

	// Window is how late a hit may be, and for how long a key is remembered at least.
	Window = 7 * 24 * time.Hour
	// Ahead is how far in the future a hit may be, since clocks differ.
	Ahead = 5 * time.Minute
)

// Hit is one count, or one reading, of a metric at a time.
type Hit struct {
	Metric Metric
	// At is when it happened. Zero is now; a batch that has a key must say it.
	At   time.Time
	Kind Kind
	// N is what a counter adds, 1 to MaxN, or what a gauge read.
	N int64
}

// Count returns how many hits h stands for: what a counter adds; a reading of a gauge is one.
func (h Hit) Count() int64 {
	if h.Kind == Counter {
		return h.N
	}
	return 1
}

// Key makes a batch count once, however often it is sent: 1 to MaxKey visible ASCII characters.
type Key string

// Producer is a client that numbers its batches: 128 random bits.
type Producer [16]byte

// Batch is what is sent at once. It has a key, or a producer and a number, or neither: then it counts as
// often as it is sent.
type Batch struct {
	Hits []Hit
	Key  Key
	// Producer sends one batch after the other: Seq rises, and it sends the next one only when the one
	// before was answered. It repeats a batch under its number.
	Producer Producer
	Seq      uint64
}

// once tells whether the batch is to count once.
func (b *Batch) once() bool { return b.Key != "" || b.Seq != 0 }

// Answer is what became of a batch.
type Answer struct {
	// Results has an error, or nil, for each hit: nil means durable. One that says not applied harms no other.
	Results []error
	// Replayed tells that all of it had been counted before, and that these are the results of that time.
	Replayed bool
}

var (
	// ErrTooOld means that a hit is older than Window, or than what the cell remembers keys of.
	ErrTooOld = errors.New("counter: too old: a hit may be 7 days late")
	// ErrInFuture means that a hit is more than Ahead in the future.
	ErrInFuture = errors.New("counter: in the future: a hit may be 5 minutes ahead")
	// ErrOverflow means that a day of the metric would exceed 2^63 - 1.
	ErrOverflow = errors.New("counter: the count would exceed 2^63 - 1")
	// ErrKind means that the metric is of the other kind.
	ErrKind = errors.New("counter: the metric is of the other kind")
	// ErrQuota means that there are as many metrics as there may be.
	ErrQuota = errors.New("counter: there are as many metrics as there may be")
	// ErrKeyReused means that the key, or the number of the producer, was used for another batch.
	ErrKeyReused = errors.New("counter: the key was used for another batch")
	// ErrSequence means that the producer has sent a batch with a higher number before.
	ErrSequence = errors.New("counter: the producer has sent a later batch before")
	// ErrUnconfirmed means that the commit was sent and its answer was lost: send the batch again if it has
	// a key. Databases wrap it.
	ErrUnconfirmed = errors.New("counter: counted or not, the answer was lost")
	// ErrForgotten means that a cell does not know a metric that it was known to have: it came back from a
	// backup. A hit is answered so only if that happened again while the directory was asked where the metric
	// is now: it was not applied, and can be sent again.
	ErrForgotten = errors.New("counter: the cell has lost the metric")
	// ErrNotFound means that nothing was ever counted of the metric.
	ErrNotFound = errors.New("counter: no such metric")
	// ErrDamaged means that a closed day does not hold what was written: its day and metric, in whose cell it
	// is, are named. All other days are served.
	ErrDamaged = errors.New("counter: a row of table counter_closed is damaged")
	// ErrRange means that an answer would have more than MaxPoints values, or that a sum exceeds 2^63 - 1.
	ErrRange = errors.New("counter: the range is too large")
	// ErrClosed means that the recorder takes no more hits.
	ErrClosed = errors.New("counter: closed")
	// ErrOverloaded means that the caller lost its patience before there was a place in the queue; nothing
	// was applied.
	ErrOverloaded = errors.New("counter: overloaded")
)

// Problem is one thing wrong with an input.
type Problem struct {
	// Field is metric, at, n, kind, key, producer, seq, hits, from, to, step, day, k or prefix.
	Field   string
	Message string
}

// InvalidError says why a hit, a batch or a query was refused. Nothing was applied.
type InvalidError struct{ Problems []Problem }

// Error names every problem.
func (e *InvalidError) Error() string {
	text := "counter: "
	for i, p := range e.Problems {
		if i > 0 {
			text += "; "
		}
		text += p.Field + ": " + p.Message
	}
	return text
}
