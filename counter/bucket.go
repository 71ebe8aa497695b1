// SPDX-License-Identifier: Apache-2.0

package counter

import "time"

// ID is the number of a metric in its cell, 1 to MaxID.
type ID int64

// MaxID is the highest number of a metric.
const MaxID = 1<<40 - 1

// BucketKey identifies a bucket: the hour, quarter of an hour or day since 1970 in the upper bits, the metric in the
// lower 40. So rows written at the same time are adjacent, and the oldest come first.
type BucketKey int64

// NewBucketKey returns the key of a metric's hour, quarter or day since 1970.
func NewBucketKey(unit int64, id ID) BucketKey { return BucketKey(unit<<40 | int64(id)) }

// Unit returns the hour, quarter or day since 1970.
func (k BucketKey) Unit() int64 { return int64(k) >> 40 }

// ID returns the metric.
func (k BucketKey) ID() ID { return ID(k & MaxID) }

// Table is one of the tables of buckets.
type Table uint8

// The tables of buckets. All rows of a table have the same number of values, so no row ever grows.
const (
	Hours         Table = iota // of counters: 60 minutes
	Days                       // of counters: the day, and 24 hours, each with its quarters
	GaugeQuarters              // of gauges: 15 minutes of 5 values
	GaugeDays                  // of gauges: 24 hours of 5 values
)

// Tables lists all tables.
var Tables = []Table{Hours, Days, GaugeQuarters, GaugeDays}

// Width returns the number of values in a bucket of the table.
func (t Table) Width() int { return [...]int{60, 1 + 24 + 96, 15 * Reading, 24 * Reading}[t] }

// DayTotal is the index of the day's total in Days. It lies between the morning and the afternoon, and each hour
// lies beside its quarters. A database that logs the range from the first to the last changed value, as
// PostgreSQL does, then logs as much at 23:59 as at 00:00, and no more in between.
const DayTotal = 60

// DayHour returns the index of an hour, 0 to 23, in Days.
func DayHour(hour int) int {
	if hour < 12 {
		return 5 * hour
	}
	return 5*hour + 1
}

// DayQuarter returns the index of a quarter of an hour, 0 to 95, in Days.
func DayQuarter(quarter int) int { return DayHour(quarter/4) + 1 + quarter%4 }

// Indexes of a gauge's values.
const (
	Reading      = 5 // number of values of a gauge's minute or hour, all 0 if nothing was read:
	ReadingMin   = 0
	ReadingMax   = 1
	ReadingSum   = 2
	ReadingCount = 3
	ReadingLast  = 4
)

// Bucket is one row: the values of a metric in an hour, a quarter of an hour or a day. An hour or a quarter has a
// bucket only if its day has one.
type Bucket struct {
	Key    BucketKey
	Values []int64
}

// Minute is a minute since 1970, in UTC.
type Minute int64

// MinuteOf returns the minute that contains t.
func MinuteOf(t time.Time) Minute { return Minute(floorDiv(t.Unix(), 60)) }

// Time returns the start of the minute.
func (m Minute) Time() time.Time { return time.Unix(int64(m)*60, 0).UTC() }

// Hour returns the hour since 1970.
func (m Minute) Hour() int64 { return floorDiv(int64(m), 60) }

// Day returns the day since 1970.
func (m Minute) Day() int64 { return floorDiv(int64(m), 24*60) }

// InHour returns its index in Hours, 0 to 59.
func (m Minute) InHour() int { return int(int64(m) - 60*m.Hour()) }

// QuarterOf returns the quarter of an hour since 1970.
func (m Minute) QuarterOf() int64 { return floorDiv(int64(m), 15) }

// HourOfDay returns the hour of the day, 0 to 23.
func (m Minute) HourOfDay() int { return int(m.Hour() - 24*m.Day()) }

// Quarter returns the quarter of the day, 0 to 95.
func (m Minute) Quarter() int { return m.HourOfDay()*4 + m.InHour()/15 }

func floorDiv(a, b int64) int64 {
	if a < 0 {
		return -((b - 1 - a) / b)
	}
	return a / b
}
