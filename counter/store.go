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
	// buckets. No two tallies have the same metric and minute. It returns the keys of the buckets of Days that it
	// created. The error wraps ErrOverflow if a value would exceed 2^63 - 1; the transaction must then be rolled
	// back.
	AddTallies(ctx context.Context, tallies []Tally) (made []BucketKey, err error)

	// Buckets returns the values of each bucket, nil where there is none. In an update, no other transaction changes
	// the existing ones until this one ends.
	Buckets(ctx context.Context, table Table, keys []BucketKey) ([][]int64, error)
	// PutBuckets writes whole buckets by their keys.
	PutBuckets(ctx context.Context, table Table, buckets []Bucket) error
	// PrepareBuckets creates buckets of zeros; existing ones stay as they are. It returns the keys of those that it
	// created.
	PrepareBuckets(ctx context.Context, table Table, keys []BucketKey) (made []BucketKey, err error)
	// DeleteBuckets deletes buckets; missing ones are ignored. A bucket of Days is deleted together with its hours, so
	// a minute never exceeds its day: a Store may check for overflow in the day alone.
	DeleteBuckets(ctx context.Context, table Table, keys []BucketKey) error
	// FirstBuckets returns at most limit buckets with the lowest keys, below the given key, in key order. In an
	// update, no other transaction changes them until this one ends.
	FirstBuckets(ctx context.Context, table Table, below BucketKey, limit int) ([]Bucket, error)

	// CompactedDays returns the compacted day under each key, the zero CompactedDay where there is none. In an update,
	// no other transaction changes the existing ones until this one ends.
	CompactedDays(ctx context.Context, keys []BucketKey) ([]CompactedDay, error)
	// PutCompactedDays writes compacted days by their keys.
	PutCompactedDays(ctx context.Context, days []CompactedDay) error
	// DetailedDays returns at most limit compacted days with this Detail and keys in [from, below), in key order. In
	// an update, no other transaction changes them until this one ends.
	DetailedDays(ctx context.Context, detail Detail, from, below BucketKey, limit int) ([]CompactedDay, error)

	// TopMetrics returns at most k counters with a prefix that have the highest totals on a day since 1970, open
	// and closed parts added up: highest first, ties by name. Metrics with a total of 0 are left out.
	TopMetrics(ctx context.Context, day int64, prefix Metric, k int) ([]Ranked, error)

	// DedupHorizon returns the dedup horizon in milliseconds since 1970: an older hit that must count once is refused,
	// because its record may be forgotten. In an update, no other transaction raises it until this one ends.
	DedupHorizon(ctx context.Context) (int64, error)
	// RaiseDedupHorizon raises the dedup horizon; a lower value changes nothing. It waits for updates that have read
	// the dedup horizon.
	RaiseDedupHorizon(ctx context.Context, horizon int64) error

	// Batches returns the record of each batch by its key, the zero DedupRecord where there is none. In an update
	// it locks these keys until the transaction ends, whether or not a record exists.
	Batches(ctx context.Context, keys []Key) ([]DedupRecord, error)
	// PutBatches stores the records of batches by their keys.
	PutBatches(ctx context.Context, batches []KeyedBatch) error
	// DropBatches deletes at most limit records with Newest below a time, and returns how many.
	DropBatches(ctx context.Context, below int64, limit int) (int, error)
	// Producers returns the record of the last batch of each producer, the zero DedupRecord where there is none.
	// In an update it locks these producers until the transaction ends.
	Producers(ctx context.Context, producers []Producer) ([]DedupRecord, error)
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

// CompactedDay is a compacted day, which ended more than a day ago. Later hits go to open buckets beside it, until
// they are compacted too: the day is always the sum of both.
type CompactedDay struct {
	Key BucketKey
	// N is the day's total, 0 for a gauge.
	N      int64
	Detail Detail
	Body   []byte
}

// Detail is the finest resolution that a compacted day still has.
type Detail uint8

// The details of compacted days.
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

// DedupRecord is the dedup record of a batch, kept in each cell that it touched.
type DedupRecord struct {
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
	DedupRecord
}

// ProducedBatch is the record of the last batch of a producer.
type ProducedBatch struct {
	Producer Producer
	DedupRecord
}
