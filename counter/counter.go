// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"errors"
	"time"

	"github.com/locus-db/locus/internal/problem"
)

// Metric names something that is counted: 1 to 200 bytes of UTF-8 without control characters. It is opaque: dots,
// dollars and slashes have no meaning.
type Metric string

// Kind is the kind of a metric. The first hit fixes it for good.
type Kind uint8

// The kinds of metrics.
const (
	Counter Kind = iota // sums: a hit adds N
	Gauge               // readings: min, max, sum, count and last
)

// String returns "counter" or "gauge".
func (k Kind) String() string {
	if k == Gauge {
		return "gauge"
	}
	return "counter"
}

// Limits of the input and of answers.
const (
	MaxMetric  = 200                   // bytes in a name
	MaxBatch   = 1000                  // hits in a batch
	MaxN       = 1_000_000             // N of a hit of a counter
	MaxReading = 1_000_000_000_000_000 // absolute N of a hit of a gauge
	MaxKey     = 128                   // bytes in an idempotency key
	maxPoints  = 50_000                // values in an answer
	MaxTop     = 1000                  // metrics in the answer to a TopQuery

	// Window is how late a hit may be, and how long a key is remembered at least.
	Window = 7 * 24 * time.Hour
	// ahead is how far in the future a hit may be, to allow for clock differences.
	ahead = 5 * time.Minute
)

// Hit is one count or reading of a metric at a time.
type Hit struct {
	Metric Metric
	// At is the time of the hit. Zero is now, which a batch with a key or producer must not use.
	At   time.Time
	Kind Kind
	// N is the increment of a counter, 1 to MaxN, or the reading of a gauge.
	N int64
}

// Count returns the number of hits that h represents: N of a counter, 1 of a gauge.
func (h Hit) Count() int64 {
	if h.Kind == Counter {
		return h.N
	}
	return 1
}

// Key is an idempotency key of a batch: 1 to MaxKey visible ASCII characters. A batch with a key counts once,
// however often it is sent.
type Key string

// Producer is the 128-bit random ID of a client that numbers its batches.
type Producer [16]byte

// Batch is a group of hits sent together. It has either a Key, or a Producer and a Seq, or neither; without them
// it counts as often as it is sent.
type Batch struct {
	Hits []Hit
	Key  Key
	// Producer sends its batches one after the other with rising Seq, from 1: the next one only after the
	// previous one was answered. It retries a batch with the same Seq.
	Producer Producer
	Seq      uint64
}

func (b *Batch) once() bool { return b.Key != "" || b.Seq != 0 }

// Answer is the result of a batch.
type Answer struct {
	// Results has one entry per hit: nil means durable. A refused hit does not affect the others.
	Results []error
	// Replayed reports that the whole batch had been counted before, and that Results are from that time.
	Replayed bool
}

var (
	// ErrTooOld means that a hit is older than Window, or than the cell's floor, below which dedup records may be
	// gone.
	ErrTooOld = problem.Class(problem.ErrInvalid, "counter: too old: a hit may be 7 days late")
	// ErrInFuture means that a hit is more than Ahead in the future.
	ErrInFuture = problem.Class(problem.ErrInvalid, "counter: in the future: a hit may be 5 minutes ahead")
	// ErrOverflow means that a day of the metric would exceed 2^63 - 1.
	ErrOverflow = problem.Class(problem.ErrInvalid, "counter: the count would exceed 2^63 - 1")
	// ErrKind means that the metric has the other kind.
	ErrKind = problem.Class(problem.ErrInvalid, "counter: metric kind mismatch: a counter takes n, a gauge takes value")
	// ErrQuota means that the maximum number of metrics is reached.
	ErrQuota = problem.Class(problem.ErrUnavailable, "counter: metric quota exceeded")
	// ErrKeyReused means that the key, or the producer's Seq, was used for a different batch.
	ErrKeyReused = problem.Class(problem.ErrInvalid, "counter: the key was used for another batch")
	// ErrSequence means that the producer has sent a batch with a higher Seq before.
	ErrSequence = problem.Class(problem.ErrConflict, "counter: the producer has sent a later batch before")
	// ErrConflict means that other processes wrote the same rows again and again: the hit was not counted and can be
	// sent again.
	ErrConflict = problem.Class(problem.ErrUnavailable, "counter: concurrent write of the day")
	// ErrCommitUnknown means that the commit was sent but its reply was lost: send the batch again if it has a key.
	// Databases wrap it.
	ErrCommitUnknown = problem.Class(problem.ErrCommitUnknown, "counter: commit outcome unknown")
	// ErrForgotten means that a cell has lost a metric that it used to have, because it was restored from a
	// backup. Recorder handles this by asking the directory again and returns the error only if it recurs: the
	// hit was not applied and can be sent again.
	ErrForgotten = problem.Class(problem.ErrUnavailable, "counter: metric missing from its cell")
	// ErrNotFound means that nothing was ever counted for the metric.
	ErrNotFound = problem.Class(problem.ErrNotFound, "counter: no such metric")
	// ErrDamaged means that a compacted day fails its checks. The error names the day and the metric. All other days
	// can be read.
	ErrDamaged = errors.New("counter: a row of table counter_compacted is damaged")
	// ErrRange means that an answer would have more than 50,000 values, or that a sum exceeds 2^63 - 1.
	ErrRange = problem.Class(problem.ErrInvalid, "counter: the range is too large")
	// ErrClosed means that the recorder has been closed.
	ErrClosed = problem.Class(problem.ErrClosed, "counter: closed")
	// ErrOverloaded means that the context ended before there was room in the queue; nothing was applied.
	ErrOverloaded = problem.Class(problem.ErrOverloaded, "counter: overloaded")
)

// InvalidError reports why a hit, a batch or a query was refused. It is locus.InvalidError. Nothing was applied. The
// pointer of a problem is /metric, /at, /n, /kind, /key, /producer, /seq, /hits, /from, /to, /step, /day, /k or
// /prefix.
type InvalidError = problem.InvalidError
