// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"fmt"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/locus-db/locus/counter"
)

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
