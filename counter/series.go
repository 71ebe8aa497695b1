// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"math"
	"strconv"
	"time"
)

// Step is the resolution of a series.
type Step string

// The steps of series.
const (
	ByMinute Step = "minute"
	ByHour   Step = "hour"
	ByDay    Step = "day"
)

// Query selects series of metrics, by their names or by a prefix.
type Query struct {
	Metrics []Metric
	// Prefix selects all metrics whose names begin with it; nil if Metrics names them. A query for more metrics
	// than maxPoints allows is refused, not truncated.
	Prefix *Metric
	// From and To select the steps that begin in [From, To). From is rounded down to the start of its step in the
	// zone.
	From, To time.Time
	Step     Step
	// Zone is the time zone of hours and days; minutes are UTC. A local hour begins at :00 and at clock changes.
	// A local day begins when its date first appears. Nil is UTC.
	Zone *time.Location
}

// Series is the answer to a Query: a line for each metric, in the order requested, or in name order.
type Series struct {
	Step Step
	Zone string
	// Times are the starts of the steps, in the zone; every line has a value for each.
	Times []time.Time
	// Complete is the time up to which the answer is complete: later steps are Null, except steps with hits ahead of
	// the clock.
	Complete time.Time
	Lines    []Line
}

// Line is the series of one metric. All its levels are from one snapshot.
type Line struct {
	Metric Metric
	Kind   Kind
	// Values has the value of each step, for a counter.
	Values []Value
	// Readings has the readings of each step, for a gauge.
	Readings []Readings
	// Total is the sum of a counter over the whole range, read at the coarsest possible level. It equals the sum
	// of Values as far as those are still kept. It is Null for a gauge, and if the range begins or ends within a
	// day whose details were dropped.
	Total Value
	// Since is the day of the first hit; everything before is Null.
	Since time.Time
	// Kept is the start of the kept steps; earlier ones are Null. It is zero if all are kept.
	Kept time.Time
}

// Value is a count, or Null.
type Value int64

// Null is the value of an unknown time: before the first hit, in the future, or no longer kept. No count or
// reading equals Null.
const Null Value = math.MinInt64

// MarshalJSON writes null or the number.
func (v Value) MarshalJSON() ([]byte, error) {
	if v == Null {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(v), 10), nil
}

// Readings are a gauge's readings in one step. If nothing was read, all are Null except Count, which is 0 where a
// reading would have been possible.
type Readings struct {
	Min, Max, Sum, Count, Last Value
}

// TopQuery selects the counters with the most hits on a day.
type TopQuery struct {
	Day    time.Time // any time of the day, in UTC
	Prefix Metric    // "" for all
	K      int       // 1 to MaxTop; 0 for 10
}

// Explanation lists the values that a hit changes.
type Explanation struct {
	Metric  Metric    `json:"metric"`
	Kind    string    `json:"kind"`
	Cell    string    `json:"cell"`
	ID      ID        `json:"id,string"`
	At      time.Time `json:"at"`
	Touches []Touch   `json:"touches"`
	// Compacted reports that the day was compacted, so that the hit goes to open buckets beside it.
	Compacted bool `json:"closed"`
}

// Touch is a value of a bucket that a hit changes.
type Touch struct {
	Table string    `json:"table"`
	Key   BucketKey `json:"key,string"`
	Index int       `json:"index"` // of the value, from 0
	What  string    `json:"what"`  // minute 12:07, hour 12, quarter 12:00, day 2026-11-20
	Now   int64     `json:"now"`   // current value
}
