// SPDX-License-Identifier: Apache-2.0

package mongodb

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/locus-db/locus/counter"
)

// headFields are the fields of a day that are read before something is added to it.
var headFields = bson.D{
	{Key: "v", Value: 1}, {Key: "by", Value: 1}, {Key: "n", Value: 1}, {Key: "open", Value: 1},
	{Key: "k", Value: 1},
}

// scan calls do with the whole days that match a filter, in key order and page by page, until do returns false.
// Days that the transaction has already read or changed are passed as it sees them.
func (t *counterTx) scan(ctx context.Context, filter bson.D, from, below counter.BucketKey, limit int,
	do func(*day) (more bool)) error {
	if t.over {
		return errOver
	}
	own := slices.DeleteFunc(sorted(t.days), func(d *day) bool {
		return d.key < from || d.key >= below && !last(d.key, below)
	})
	keys := make([]counter.BucketKey, len(own))
	for i, d := range own {
		keys[i] = d.key
	}
	if err := t.load(ctx, keys, true); err != nil {
		return err
	}
	page := int64(min(max(limit, leastPage), inAtOnce))
	for {
		var found []counter.BucketKey
		in := bson.D{{Key: "$gte", Value: idOf(from)}, {Key: "$lt", Value: idOf(below)}}
		if last(below, below) {
			in[1].Key = "$lte"
		}
		err := find(t.session, t.Collection(daysName), append(slices.Clone(filter), bson.E{Key: "_id", Value: in}),
			options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(page), func(doc dayDoc) {
				key := doc.key()
				if found = append(found, key); t.days[key] == nil {
					d := &day{key: key, loaded: true}
					d.take(&doc, true)
					t.days[key] = d
				}
			})
		if err != nil {
			return err
		}
		done := int64(len(found)) < page
		until := below
		if !done {
			until = found[len(found)-1]
		}
		for len(own) > 0 && (done || own[0].key <= until) {
			found, own = append(found, own[0].key), own[1:]
		}
		slices.Sort(found)
		for _, key := range slices.Compact(found) {
			if !do(t.days[key]) {
				return nil
			}
		}
		if done || until == highest {
			return ctx.Err()
		}
		from = until + 1
	}
}

// last reports whether key is the highest possible key and below is that key too, so that the range includes it.
func last(key, below counter.BucketKey) bool { return below == highest && key == highest }

// leastPage is the minimum number of days per page.
const leastPage = 50

const highest = counter.BucketKey(1<<63 - 1)

// FirstBuckets reads the days that have buckets of the table, lowest first.
func (t *counterTx) FirstBuckets(ctx context.Context, table counter.Table, below counter.BucketKey,
	limit int) ([]counter.Bucket, error) {
	filter := bson.D{{Key: "open", Value: 1}}
	switch table {
	case counter.GaugeDays:
		filter = bson.D{{Key: "gauge", Value: 1}}
	case counter.Hours, counter.GaugeQuarters: // in days that have a bucket, except for data that tests insert
		filter = bson.D{}
	}
	var buckets []counter.Bucket
	begun, whole := int64(0), false // the day since 1970 whose buckets are being collected
	err := t.scan(ctx, filter, -1<<63, highest, max(limit, 1), func(d *day) bool {
		if unit := d.key.Unit(); !whole || unit != begun {
			if len(buckets) >= limit {
				return false
			}
			begun, whole = unit, true
		}
		for place, values := range d.buckets[table] {
			if key := d.bucketKey(table, place); key < below {
				buckets = append(buckets, counter.Bucket{Key: key, Values: slices.Clone(values)})
			}
		}
		d.compared = true
		return d.bucketKey(table, 0) < below || table != counter.Days && table != counter.GaugeDays
	})
	slices.SortFunc(buckets, func(a, b counter.Bucket) int { return cmp.Compare(a.Key, b.Key) })
	return buckets[:min(len(buckets), limit)], err
}

// DetailedDays reads days that were compacted with a detail.
func (t *counterTx) DetailedDays(ctx context.Context, detail counter.Detail, from, below counter.BucketKey,
	limit int) ([]counter.CompactedDay, error) {
	var days []counter.CompactedDay
	err := t.scan(ctx, bson.D{{Key: "closed.detail", Value: int(detail)}}, from, below, max(limit, 1), func(d *day) bool {
		if d.closed != nil && d.closed.Detail == detail && d.key < below && len(days) < limit {
			days = append(days, *d.closed)
			d.compared = true
		}
		return len(days) < limit
	})
	return days, err
}

// TopMetrics adds up the totals in this process.
func (t *counterTx) TopMetrics(ctx context.Context, unit int64, prefix counter.Metric,
	k int) ([]counter.Ranked, error) {
	if t.over {
		return nil, errOver
	}
	totals := map[counter.ID]int64{}
	from, below := counter.NewBucketKey(unit, 0), counter.NewBucketKey(unit+1, 0)
	fields := bson.D{{Key: "n", Value: 1}, {Key: "closed.n", Value: 1}, {Key: "open", Value: 1}}
	err := find(t.session, t.Collection(daysName), bson.D{{
		Key: "_id", Value: bson.D{{Key: "$gte", Value: idOf(from)}, {Key: "$lt", Value: idOf(below)}},
	}},
		options.Find().SetProjection(fields).SetSort(bson.D{{Key: "_id", Value: 1}}), func(doc dayDoc) {
			n := doc.N
			if doc.Closed != nil {
				n += doc.Closed.N
			}
			totals[doc.key().ID()] = n
		})
	if err != nil {
		return nil, err
	}
	for key, d := range t.days {
		if key >= from && key < below {
			n := d.total()
			if !d.whole && d.there {
				n = totals[key.ID()] + n - d.n
			} else if d.closed != nil {
				n += d.closed.N
			}
			totals[key.ID()] = n
		}
	}
	return t.rank(ctx, totals, prefix, k)
}

// rank returns the highest totals of counters whose names begin with a prefix.
func (t *counterTx) rank(ctx context.Context, totals map[counter.ID]int64, prefix counter.Metric,
	k int) ([]counter.Ranked, error) {
	ids := slices.SortedFunc(maps.Keys(totals), func(a, b counter.ID) int {
		return cmp.Or(cmp.Compare(totals[b], totals[a]), cmp.Compare(a, b))
	})
	var top []counter.Ranked
	for len(ids) > 0 {
		// Equal totals stay in one batch, because their names decide.
		n := min(len(ids), inAtOnce)
		for n < len(ids) && totals[ids[n]] == totals[ids[n-1]] {
			n++
		}
		metas, err := t.Metrics(ctx, ids[:n])
		if err != nil {
			return nil, err
		}
		for i, m := range metas {
			if n := totals[ids[i]]; n > 0 && m.ID != 0 && m.Kind == counter.Counter && strings.HasPrefix(string(m.Name), string(prefix)) {
				top = append(top, counter.Ranked{Metric: m.Name, N: n})
			}
		}
		if ids = ids[n:]; len(top) >= k {
			break
		}
	}
	slices.SortFunc(top, func(a, b counter.Ranked) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Metric, b.Metric))
	})
	return top[:min(len(top), k)], nil
}
