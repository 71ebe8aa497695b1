// SPDX-License-Identifier: Apache-2.0

package counter

import "context"

// Store keeps the metrics of one cell, inside one transaction of it. Methods take batches, answer in their
// order, read what the same transaction wrote, and cost a fixed number of statements where the database can.
// A backend certifies itself with countertest.Run.
type Store interface {
	// Metrics answers with what is known of each metric, the zero Meta where there is none.
	Metrics(ctx context.Context, ids []ID) ([]Meta, error)
	// PutMetrics writes metrics by their ids; the name and the kind of one that is there stay, its First
	// becomes the lower one.
	PutMetrics(ctx context.Context, metrics []Meta) error
	// ListMetrics answers with those whose names begin with a prefix, in the order of the bytes of their
	// names, those after the name only, at most limit.
	ListMetrics(ctx context.Context, prefix, after Metric, limit int) ([]Meta, error)
	// CountMetrics is how many there are.
	CountMetrics(ctx context.Context) (int, error)

	// AddTallies adds each to its minute, its hour, its quarter and its day, in Hours and in Days; spans
	// that are not there begin with zeros. No two have the same metric and minute. It answers with the
	// keys of the spans of Days that it made. The error wraps ErrOverflow if a value would exceed 2^63 - 1:
	// the transaction must then be rolled back.
	AddTallies(ctx context.Context, tallies []Tally) (made []SpanKey, err error)

	// Spans answers with the values of each span, nil where there is none. In an update nobody else changes
	// those that are there until the transaction ends.
	Spans(ctx context.Context, table Table, keys []SpanKey) ([][]int64, error)
	// PutSpans writes whole spans by their keys.
	PutSpans(ctx context.Context, table Table, spans []Span) error
	// PrepareSpans makes spans of zeros; one that is there stays as it is. It answers with the keys of those
	// that it made.
	PrepareSpans(ctx context.Context, table Table, keys []SpanKey) (made []SpanKey, err error)
	// DeleteSpans removes spans; one that is not there is passed over. A span of Days is removed together
	// with those of its hours, so a minute never exceeds its day: a Store may look for overflows in the
	// day alone.
	DeleteSpans(ctx context.Context, table Table, keys []SpanKey) error
	// FirstSpans answers with the spans that have the lowest keys, in their order, those below a key only, at
	// most limit. In an update nobody else changes them until the transaction ends.
	FirstSpans(ctx context.Context, table Table, below SpanKey, limit int) ([]Span, error)

	// ClosedDays answers with the closed day under each key, the zero ClosedDay where there is none. In an
	// update nobody else changes those that are there until the transaction ends.
	ClosedDays(ctx context.Context, keys []SpanKey) ([]ClosedDay, error)
	// PutClosedDays writes closed days by their keys.
	PutClosedDays(ctx context.Context, days []ClosedDay) error
	// DetailedDays answers with closed days that have this Detail, in the order of their keys, those in
	// [from, below) only, at most limit. In an update nobody else changes them until the transaction ends.
	DetailedDays(ctx context.Context, detail Detail, from, below SpanKey, limit int) ([]ClosedDay, error)

	// TopMetrics answers with the counters that have the highest totals of a day since 1970, open and closed
	// added up, of those whose names begin with a prefix: the highest first, of equal ones the lower name, at
	// most k. Metrics with a total of 0 are left out.
	TopMetrics(ctx context.Context, day int64, prefix Metric, k int) ([]Ranked, error)

	// Floor answers with the time, in milliseconds since 1970, below which a hit that is to count once is
	// refused: keys may have been forgotten. In an update nobody raises it until the transaction ends.
	Floor(ctx context.Context) (int64, error)
	// RaiseFloor raises the floor; a lower one than there is changes nothing. It waits for updates that have
	// read the floor.
	RaiseFloor(ctx context.Context, floor int64) error

	// Batches answers with what is remembered of each batch that has a key, the zero Remembered where
	// nothing is. In an update nobody else is answered about these keys until the transaction ends, whether
	// anything is remembered or not.
	Batches(ctx context.Context, keys []Key) ([]Remembered, error)
	// PutBatches remembers batches by their keys.
	PutBatches(ctx context.Context, batches []KeyedBatch) error
	// DropBatches forgets batches whose Newest lies below a time, at most limit, and answers how many.
	DropBatches(ctx context.Context, below int64, limit int) (int, error)
	// Producers answers with the last batch of each producer, the zero Remembered where nothing is known. In an
	// update nobody else is answered about them until the transaction ends.
	Producers(ctx context.Context, producers []Producer) ([]Remembered, error)
	// PutProducers remembers the last batches of producers.
	PutProducers(ctx context.Context, batches []ProducedBatch) error
	// DropProducers forgets producers whose Newest lies below a time, at most limit, and answers how many.
	DropProducers(ctx context.Context, below int64, limit int) (int, error)
}

// Meta is what is known of a metric.
type Meta struct {
	ID   ID
	Name Metric
	Kind Kind
	// First is the first day since 1970 that anything was counted on.
	First int64
}

// Tally is what is added to a minute of a counter.
type Tally struct {
	ID     ID
	Minute Minute
	N      int64
}

// ClosedDay is a day that was packed, two days after it ended. What comes later for it lies in open spans
// beside it, until they are packed too: what a day holds is always both together.
type ClosedDay struct {
	Key SpanKey
	// N is the day's total, 0 of a gauge.
	N      int64
	Detail Detail
	Body   []byte
}

// Detail is how fine a closed day still is.
type Detail uint8

// Details of closed days.
const (
	NoDetail Detail = iota // the day only
	Quarters               // its quarters and hours too
	Minutes                // and its minutes
)

// Ranked is a metric with its total of a day.
type Ranked struct {
	Metric Metric
	N      int64
}

// Remembered is what is kept of a batch that counts once, in each cell that it touched.
type Remembered struct {
	// Seq is the batch's number if a producer sent it.
	Seq uint64
	// Newest is the latest time of a hit, in milliseconds since 1970; of a producer, of all its hits ever.
	Newest int64
	// Print tells the batch from another one.
	Print [16]byte
	// Results tells which hits of the batch the cell has counted, packed: the others can still be.
	Results []byte
}

// KeyedBatch is a batch that has a key.
type KeyedBatch struct {
	Key Key
	Remembered
}

// ProducedBatch is the last batch of a producer.
type ProducedBatch struct {
	Producer Producer
	Remembered
}
