// SPDX-License-Identifier: Apache-2.0

package counter

import "context"

// Store keeps the metrics of one cell, inside one transaction of it. Methods take batches, return results in the
// same order, read the transaction's own writes, and use a fixed number of statements where the database can. A
// backend runs countertest.Run to certify itself.
type Store interface {
	// Metrics returns each metric, the zero Meta where there is none.
	Metrics(ctx context.Context, ids []ID) ([]Meta, error)
	// PutMetrics writes metrics by their IDs. An existing one keeps its name and kind, and its First becomes the
	// lower of the two.
	PutMetrics(ctx context.Context, metrics []Meta) error
	// ListMetrics returns at most limit metrics with a prefix, after the given name, in byte order of their
	// names.
	ListMetrics(ctx context.Context, prefix, after Metric, limit int) ([]Meta, error)
	// CountMetrics returns the number of metrics.
	CountMetrics(ctx context.Context) (int, error)

	// AddTallies adds each tally to its minute, hour, quarter and day, in Hours and in Days, and creates missing
	// spans. No two tallies have the same metric and minute. It returns the keys of the spans of Days that it
	// created. The error wraps ErrOverflow if a value would exceed 2^63 - 1; the transaction must then be rolled
	// back.
	AddTallies(ctx context.Context, tallies []Tally) (made []SpanKey, err error)

	// Spans returns the values of each span, nil where there is none. In an update, no other transaction changes
	// the existing ones until this one ends.
	Spans(ctx context.Context, table Table, keys []SpanKey) ([][]int64, error)
	// PutSpans writes whole spans by their keys.
	PutSpans(ctx context.Context, table Table, spans []Span) error
	// PrepareSpans creates spans of zeros; existing ones stay as they are. It returns the keys of those that it
	// created.
	PrepareSpans(ctx context.Context, table Table, keys []SpanKey) (made []SpanKey, err error)
	// DeleteSpans deletes spans; missing ones are ignored. A span of Days is deleted together with its hours, so
	// a minute never exceeds its day: a Store may check for overflow in the day alone.
	DeleteSpans(ctx context.Context, table Table, keys []SpanKey) error
	// FirstSpans returns at most limit spans with the lowest keys, below the given key, in key order. In an
	// update, no other transaction changes them until this one ends.
	FirstSpans(ctx context.Context, table Table, below SpanKey, limit int) ([]Span, error)

	// ClosedDays returns the closed day under each key, the zero ClosedDay where there is none. In an update, no
	// other transaction changes the existing ones until this one ends.
	ClosedDays(ctx context.Context, keys []SpanKey) ([]ClosedDay, error)
	// PutClosedDays writes closed days by their keys.
	PutClosedDays(ctx context.Context, days []ClosedDay) error
	// DetailedDays returns at most limit closed days with this Detail and keys in [from, below), in key order. In
	// an update, no other transaction changes them until this one ends.
	DetailedDays(ctx context.Context, detail Detail, from, below SpanKey, limit int) ([]ClosedDay, error)

	// TopMetrics returns at most k counters with a prefix that have the highest totals on a day since 1970, open
	// and closed parts added up: highest first, ties by name. Metrics with a total of 0 are left out.
	TopMetrics(ctx context.Context, day int64, prefix Metric, k int) ([]Ranked, error)

	// Floor returns the dedup horizon in milliseconds since 1970: an older hit that must count once is refused,
	// because its record may be forgotten. In an update, no other transaction raises it until this one ends.
	Floor(ctx context.Context) (int64, error)
	// RaiseFloor raises the floor; a lower value changes nothing. It waits for updates that have read the floor.
	RaiseFloor(ctx context.Context, floor int64) error

	// Batches returns the record of each batch by its key, the zero Remembered where there is none. In an update
	// it locks these keys until the transaction ends, whether or not a record exists.
	Batches(ctx context.Context, keys []Key) ([]Remembered, error)
	// PutBatches stores the records of batches by their keys.
	PutBatches(ctx context.Context, batches []KeyedBatch) error
	// DropBatches deletes at most limit records with Newest below a time, and returns how many.
	DropBatches(ctx context.Context, below int64, limit int) (int, error)
	// Producers returns the record of the last batch of each producer, the zero Remembered where there is none.
	// In an update it locks these producers until the transaction ends.
	Producers(ctx context.Context, producers []Producer) ([]Remembered, error)
	// PutProducers stores the records of the last batches of producers.
	PutProducers(ctx context.Context, batches []ProducedBatch) error
	// DropProducers deletes at most limit producers with Newest below a time, and returns how many.
	DropProducers(ctx context.Context, below int64, limit int) (int, error)
}

// Meta describes a metric.
type Meta struct {
	ID   ID
	Name Metric
	Kind Kind
	// First is the first day since 1970 with a hit.
	First int64
}

// Tally is a number to add to a minute of a counter.
type Tally struct {
	ID     ID
	Minute Minute
	N      int64
}

// ClosedDay is a compacted day, which ended more than a day ago. Later hits go to open spans beside it, until
// they are compacted too: the day is always the sum of both.
type ClosedDay struct {
	Key SpanKey
	// N is the day's total, 0 for a gauge.
	N      int64
	Detail Detail
	Body   []byte
}

// Detail is the finest resolution that a closed day still has.
type Detail uint8

// The details of closed days.
const (
	NoDetail Detail = iota // the day only
	Quarters               // quarters and hours, too
	Minutes                // minutes, too
)

// Ranked is a metric with its total on a day.
type Ranked struct {
	Metric Metric
	N      int64
}

// Remembered is the dedup record of a batch, kept in each cell that it touched.
type Remembered struct {
	// Seq is the batch's number if a producer sent it.
	Seq uint64
	// Newest is the latest time of a hit, in milliseconds since 1970; for a producer, of all its hits ever.
	Newest int64
	// Print is a digest of the batch.
	Print [16]byte
	// Results is a packed bitmap of the hits that the cell has counted; the others can still be counted.
	Results []byte
}

// KeyedBatch is the record of a batch with a key.
type KeyedBatch struct {
	Key Key
	Remembered
}

// ProducedBatch is the record of the last batch of a producer.
type ProducedBatch struct {
	Producer Producer
	Remembered
}
