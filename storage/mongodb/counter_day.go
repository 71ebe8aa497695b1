// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"math"
	"strconv"

	"github.com/locus-db/locus/counter"
)

// day is one day of one metric, as a transaction has read it and changes it: one document.
//
//	{ _id: "805129/0000000001",                    // the day since 1970 + 2^23, and the metric's number
//	  metric: NumberLong(1), day: ISODate("2026-11-20T00:00:00Z"),
//	  v: NumberLong(3), by: NumberLong("…"),       // number of compared writes; a mark of the last writer
//	  n: NumberLong(5468426), open: 1,             // the day
//	  h: { "00": NumberLong(227850), … },          // its hours
//	  q: { "00": …, "95": … },                     // its quarters of an hour
//	  m: { "00": { "00": NumberLong(3612), … }, …, "23": { … } },
//	  k: [ … ],                                    // batches that were counted and are not summarised yet
//	  closed: { n, detail, body } }                // what was packed of it
//
// Minutes are nested in their hours because a document is searched from its beginning: 84 steps at most instead of
// 1,440. Every field name consists of digits or is fixed.
//
// A gauge has r, the readings of its quarters, and rd, those of its hours, as arrays of five numbers for each
// minute or hour.
type day struct {
	key    counter.BucketKey
	loaded bool  // it was read
	there  bool  // in the database
	whole  bool  // the whole document was read, so buckets and closed are complete
	v      int64 // as read
	n      int64 // as read
	by     int64 // the mark that a write stores with its version
	open   bool  // as read: there is a bucket of Days

	buckets [4]map[int][]int64    // by table, by position in the day
	closed  *counter.CompactedDay // nil if nothing was compacted
	memory  []entry

	tallies  []counter.Tally
	tallied  int64           // their sum
	prepared [2]map[int]bool // Hours and Days, by position in the day
	// compared: write the document only if its version is unchanged since it was read. rewritten: replace it, and
	// only if no counts were added either.
	compared, rewritten bool
	remembers           bool // the memory has changed
}

// perDay is the number of buckets per day, by table.
var perDay = [...]int64{counter.Hours: 24, counter.Days: 1, counter.GaugeQuarters: 96, counter.GaugeDays: 1}

// dayOf returns the document that holds a bucket, and the position of the bucket in it.
func dayOf(table counter.Table, key counter.BucketKey) (doc counter.BucketKey, place int) {
	unit, n := key.Unit(), perDay[table]
	place = int((unit%n + n) % n)
	return counter.NewBucketKey((unit-int64(place))/n, key.ID()), place
}

// bucketKey returns the key of the bucket at a position of the day.
func (d *day) bucketKey(table counter.Table, place int) counter.BucketKey {
	return counter.NewBucketKey(d.key.Unit()*perDay[table]+int64(place), d.key.ID())
}

// take fills the day from a document.
func (d *day) take(doc *dayDoc, whole bool) {
	d.there, d.v, d.n, d.open, d.memory = true, doc.V, doc.N, doc.Open != 0, doc.K
	if whole {
		d.fill(doc)
	}
}

// fill sets the buckets and the compacted day.
func (d *day) fill(doc *dayDoc) {
	d.whole = true
	for hour, minutes := range doc.M {
		if i, ok := place(hour, 24); ok {
			values := d.bucket(counter.Hours, i)
			for minute, n := range minutes {
				if j, ok := place(minute, 60); ok {
					values[j] = n
				}
			}
		}
	}
	if doc.Open != 0 {
		values := d.bucket(counter.Days, 0)
		values[counter.DayTotal] = doc.N
		for hour, n := range doc.H {
			if i, ok := place(hour, 24); ok {
				values[counter.DayHour(i)] = n
			}
		}
		for quarter, n := range doc.Q {
			if i, ok := place(quarter, 96); ok {
				values[counter.DayQuarter(i)] = n
			}
		}
	}
	for quarter, readings := range doc.R {
		if i, ok := place(quarter, 96); ok {
			copy(d.bucket(counter.GaugeQuarters, i), readings)
		}
	}
	if doc.RD != nil {
		copy(d.bucket(counter.GaugeDays, 0), doc.RD)
	}
	if c := doc.Closed; c != nil {
		d.closed = &counter.CompactedDay{Key: d.key, N: c.N, Detail: counter.Detail(c.Detail), Body: c.Body} //nolint:gosec // 0 to 2
	}
}

func place(name string, below int) (int, bool) {
	i, err := strconv.Atoi(name)
	return i, err == nil && i >= 0 && i < below
}

// bucket returns a bucket of the day, and creates it as zeros if it is missing.
func (d *day) bucket(table counter.Table, place int) []int64 {
	if d.buckets[table] == nil {
		d.buckets[table] = map[int][]int64{}
	}
	values := d.buckets[table][place]
	if values == nil {
		values = make([]int64, table.Width())
		d.buckets[table][place] = values
	}
	return values
}

// add adds a tally to the buckets.
func (d *day) add(t counter.Tally) {
	d.bucket(counter.Hours, t.Minute.HourOfDay())[t.Minute.InHour()] += t.N
	values := d.bucket(counter.Days, 0)
	values[counter.DayTotal] += t.N
	values[counter.DayHour(t.Minute.HourOfDay())] += t.N
	values[counter.DayQuarter(t.Minute.Quarter())] += t.N
}

// again repeats on newly read buckets the additions that the transaction has already made.
func (d *day) again() {
	for _, t := range d.tallies {
		d.add(t)
	}
	for table, places := range d.prepared {
		for place := range places {
			d.bucket(counter.Table(table), place) //nolint:gosec // 0 or 1
		}
	}
}

// overflows reports whether adding a tally would overflow.
func (d *day) overflows(t counter.Tally) bool {
	days := d.buckets[counter.Days][0]
	over := func(values []int64, i int) bool { return values != nil && values[i] > math.MaxInt64-t.N }
	return over(days, counter.DayTotal) || over(days, counter.DayHour(t.Minute.HourOfDay())) || over(days, counter.DayQuarter(t.Minute.Quarter())) ||
		over(d.buckets[counter.Hours][t.Minute.HourOfDay()], t.Minute.InHour())
}

// total returns the total of the open day as the transaction leaves it.
func (d *day) total() int64 {
	if d.whole {
		if values := d.buckets[counter.Days][0]; values != nil {
			return values[counter.DayTotal]
		}
		return 0
	}
	return d.n + d.tallied
}
