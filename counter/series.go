// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"math"
	"strconv"
	"time"
)

// Step is how fine a series is.
type Step string

// The steps of series.
const (
	ByMinute Step = "minute"
	ByHour   Step = "hour"
	ByDay    Step = "day"
)

// Query asks for series of metrics, by their names or by a prefix.
type Query struct {
	Metrics []Metric
	// Prefix asks for all metrics whose names begin with it; nil if Metrics names them. More than MaxPoints
	// allow are refused, not cut off.
	Prefix *Metric
	// From and To bound the range: steps that begin in [From, To). From is moved to the begin of its step in
	// the zone.
	From, To time.Time
	Step     Step
	// Zone is where hours and days begin; minutes are those of UTC. A local hour begins at :00 and where
	// clocks are changed. A local day begins where its date is there for the first time. Nil is UTC.
	Zone *time.Location
}

// Series are the answer to a Query: a line for each metric, in the order asked for, or of the names.
type Series struct {
	Step Step
	Zone string
	// Times are when the steps begin, in the zone; every line has a value for each of them.
	Times []time.Time
	// Complete is until when everything that is true now is in it: what lies later is Null, but for what was
	// counted ahead of the clock.
	Complete time.Time
	Lines    []Line
}

// Line is the series of one metric. All of it, over all levels, is of one moment.
type Line struct {
	Metric Metric
	Kind   Kind
	// Values are those of a counter: one for each step.
	Values []Value
	// Readings are those of a gauge: one for each step.
	Readings []Readings
	// Total of a counter is what the whole range holds, read at the coarsest level that can tell: days where
	// the range has whole days. It equals the sum of the values, where those are still kept. It is Null if
	// the range begins or ends within a day of which only the day is kept, and of a gauge.
	Total Value
	// Since is the day of the first hit: before it all is Null.
	Since time.Time
	// Kept is since when the step is kept; what is older is Null. It is zero if all of it is.
	Kept time.Time
}

// Value is a count, or Null.
type Value int64

// Null is the value of a time of which nothing is known: before the first hit, in the future, or no longer
// kept. No count and no reading is Null.
const Null Value = math.MinInt64

// MarshalJSON writes null, or the number.
func (v Value) MarshalJSON() ([]byte, error) {
	if v == Null {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(v), 10), nil
}

// Readings are those of a gauge in one step. All of them are Null where nothing was read, but for Count, which
// is 0 where there could have been something.
type Readings struct {
	Min, Max, Sum, Count, Last Value
}

// TopQuery asks for the counters that were hit most.
type TopQuery struct {
	Day    time.Time // any time of the day, in UTC
	Prefix Metric    // "" for all
	K      int       // 1 to MaxTop; 0 for 10
}

// Explanation is what a hit touches.
type Explanation struct {
	Metric  Metric    `json:"metric"`
	Kind    string    `json:"kind"`
	Cell    string    `json:"cell"`
	ID      ID        `json:"id,string"`
	At      time.Time `json:"at"`
	Touches []Touch   `json:"touches"`
	// Closed tells that the day was packed, and that the hit goes beside it.
	Closed bool `json:"closed"`
}

// Touch is a value of a span that a hit changes.
type Touch struct {
	Table string  `json:"table"`
	Key   SpanKey `json:"key,string"`
	Index int     `json:"index"` // of the value, from 0
	What  string  `json:"what"`  // minute 12:07, hour 12, quarter 12:00, day 2026-11-20
	Now   int64   `json:"now"`   // what is there
}
