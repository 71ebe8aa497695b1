// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/locus-db/locus/counter"
)

// day is one day of one metric, as a transaction has read it and changes it: one document.
//
//	{ _id: "805129/0000000001",                    // the day since 1970 + 2^23, and the metric's number
//	  metric: NumberLong(1), day: ISODate("2026-11-20T00:00:00Z"),
//	  v: NumberLong(3), by: NumberLong("…"),       // counts writes that compare it; a mark of who made the last
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
	whole  bool  // all of it was read, so buckets and closed are complete
	v      int64 // as read
	n      int64 // as read
	by     int64 // the mark that a write leaves beside its version
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

// dayDoc is the document as read.
type dayDoc struct {
	ID     string                      `bson:"_id"`
	V      int64                       `bson:"v"`
	By     int64                       `bson:"by"`
	N      int64                       `bson:"n"`
	Open   int                         `bson:"open,omitempty"`
	Gauge  int                         `bson:"gauge,omitempty"`
	H      map[string]int64            `bson:"h,omitempty"`
	Q      map[string]int64            `bson:"q,omitempty"`
	M      map[string]map[string]int64 `bson:"m,omitempty"`
	R      map[string][]int64          `bson:"r,omitempty"`
	RD     []int64                     `bson:"rd,omitempty"`
	K      []entry                     `bson:"k,omitempty"`
	Closed *compactedDoc               `bson:"closed,omitempty"`
}

type compactedDoc struct {
	N      int64  `bson:"n"`
	Detail int    `bson:"detail"`
	Body   []byte `bson:"body"`
}

// two holds the names of hours, minutes and quarters.
var two = func() (names [96]string) {
	for i := range names {
		names[i] = fmt.Sprintf("%02d", i)
	}
	return names
}()

// idOf returns the _id of a day. It has a fixed width, so that IDs sort like keys.
func idOf(key counter.BucketKey) string {
	return fmt.Sprintf("%06x/%010x", key.Unit()+1<<23, int64(key.ID()))
}

// key returns the key encoded in the _id.
func (doc *dayDoc) key() counter.BucketKey { return keyOf(doc.ID) }

// keyOf is the inverse of idOf.
func keyOf(text string) counter.BucketKey {
	unit, _ := strconv.ParseInt(text[:min(len(text), 6)], 16, 64)
	id, _ := strconv.ParseInt(text[min(len(text), 7):], 16, 64)
	return counter.NewBucketKey(unit-1<<23, counter.ID(id))
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

// again adds what the transaction has already counted and prepared to buckets that were just read.
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

// doc returns the whole document, with its fields in order.
func (d *day) doc() bson.D {
	doc := append(d.head(), bson.E{Key: "v", Value: d.v + 1}, bson.E{Key: "n", Value: d.total()})
	field := func(name string, value any) { doc = append(doc, bson.E{Key: name, Value: value}) }
	if values := d.buckets[counter.Days][0]; values != nil {
		field("open", 1)
		field("h", numbers(24, func(i int) any { return values[counter.DayHour(i)] }))
		field("q", numbers(96, func(i int) any { return values[counter.DayQuarter(i)] }))
	}
	if hours := d.buckets[counter.Hours]; len(hours) > 0 {
		field("m", numbers(24, func(hour int) any {
			if hours[hour] == nil {
				return nil
			}
			return numbers(60, func(i int) any { return hours[hour][i] })
		}))
	}
	if values := d.buckets[counter.GaugeDays][0]; values != nil {
		field("gauge", 1)
		field("rd", values)
	}
	if quarters := d.buckets[counter.GaugeQuarters]; len(quarters) > 0 {
		field("r", numbers(96, func(i int) any {
			if quarters[i] == nil {
				return nil
			}
			return quarters[i]
		}))
	}
	if len(d.memory) > 0 {
		field("k", d.memory)
	}
	if c := d.closed; c != nil {
		field("closed", compactedDoc{N: c.N, Detail: int(c.Detail), Body: c.Body})
	}
	return doc
}

// head returns the identifying fields of the document.
func (d *day) head() bson.D {
	return bson.D{
		{Key: "_id", Value: idOf(d.key)},
		{Key: "metric", Value: int64(d.key.ID())},
		{Key: "day", Value: time.Unix(d.key.Unit()*24*60*60, 0).UTC()},
	}
}

// numbers returns a document whose field names are numbers, without nil values.
func numbers(n int, value func(int) any) bson.D {
	doc := make(bson.D, 0, n)
	for i := range n {
		if v := value(i); v != nil {
			doc = append(doc, bson.E{Key: two[i], Value: v})
		}
	}
	return doc
}

// increments returns the $inc of tallies and prepared buckets.
func (d *day) increments() bson.D {
	paths := map[string]int64{}
	var order []string
	inc := func(path string, n int64) {
		if _, there := paths[path]; !there {
			order = append(order, path)
		}
		paths[path] += n
	}
	for _, t := range d.tallies {
		hour := two[t.Minute.HourOfDay()]
		inc("n", t.N)
		inc("h."+hour, t.N)
		inc("q."+two[t.Minute.Quarter()], t.N)
		inc("m."+hour+"."+two[t.Minute.InHour()], t.N)
	}
	for hour := range d.prepared[counter.Hours] {
		for minute := range 60 {
			inc("m."+two[hour]+"."+two[minute], 0)
		}
	}
	if len(d.prepared[counter.Days]) > 0 {
		for hour := range 24 {
			inc("h."+two[hour], 0)
		}
		for quarter := range 96 {
			inc("q."+two[quarter], 0)
		}
	}
	set := make(bson.D, 0, len(order))
	for _, path := range order {
		set = append(set, bson.E{Key: path, Value: paths[path]})
	}
	return set
}
