// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
)

// model is a cell made of maps. Their values are replaced and never modified, so a shallow copy is a snapshot.
type model struct {
	metrics   map[ID]Meta
	buckets   [4]map[BucketKey][]int64
	compacted map[BucketKey]CompactedDay
	horizon   int64
	batches   map[Key]DedupRecord
	producers map[Producer]DedupRecord
}

var _ Tx = (*model)(nil)

func newModel() *model {
	m := &model{metrics: map[ID]Meta{}, compacted: map[BucketKey]CompactedDay{}, batches: map[Key]DedupRecord{},
		producers: map[Producer]DedupRecord{}}
	for t := range m.buckets {
		m.buckets[t] = map[BucketKey][]int64{}
	}
	return m
}

func (m *model) clone() *model {
	c := *m
	c.metrics, c.compacted = maps.Clone(m.metrics), maps.Clone(m.compacted)
	c.batches, c.producers = maps.Clone(m.batches), maps.Clone(m.producers)
	for t := range m.buckets {
		c.buckets[t] = maps.Clone(m.buckets[t])
	}
	return &c
}

func lookUp[K comparable, V any](from map[K]V, keys []K) ([]V, error) {
	values := make([]V, len(keys))
	for i, k := range keys {
		values[i] = from[k]
	}
	return values, nil
}

func (m *model) Metrics(_ context.Context, ids []ID) ([]Meta, error) { return lookUp(m.metrics, ids) }

func (m *model) PutMetrics(_ context.Context, metrics []Meta) error {
	for _, is := range metrics {
		if was, ok := m.metrics[is.ID]; ok {
			was.First = min(was.First, is.First)
			is = was
		}
		m.metrics[is.ID] = is
	}
	return nil
}

func (m *model) ListMetrics(_ context.Context, prefix, after Metric, limit int) ([]Meta, error) {
	all := slices.SortedFunc(maps.Values(m.metrics), func(a, b Meta) int { return cmp.Compare(a.Name, b.Name) })
	all = slices.DeleteFunc(all, func(is Meta) bool { return is.Name <= after || !strings.HasPrefix(string(is.Name), string(prefix)) })
	return all[:min(limit, len(all))], nil
}

func (m *model) CountMetrics(context.Context) (int, error) { return len(m.metrics), nil }

func (m *model) AddTallies(_ context.Context, tallies []Tally) (made []BucketKey, err error) {
	for _, t := range tallies {
		hour, day := NewBucketKey(t.Minute.Hour(), t.ID), NewBucketKey(t.Minute.Day(), t.ID)
		if m.buckets[Days][day] == nil {
			made = append(made, day)
		}
		err = errors.Join(err, m.add(Hours, hour, t.N, t.Minute.InHour()),
			m.add(Days, day, t.N, DayTotal, DayHour(t.Minute.HourOfDay()), DayQuarter(t.Minute.Quarter())))
	}
	return made, err
}

func (m *model) add(table Table, key BucketKey, n int64, at ...int) error {
	values := slices.Clone(m.buckets[table][key])
	if values == nil {
		values = make([]int64, table.Width())
	}
	for _, i := range at {
		if values[i] > math.MaxInt64-n {
			return fmt.Errorf("add: %w", ErrOverflow)
		}
		values[i] += n
	}
	m.buckets[table][key] = values
	return nil
}

func (m *model) Buckets(_ context.Context, table Table, keys []BucketKey) ([][]int64, error) {
	values, err := lookUp(m.buckets[table], keys)
	for i := range values {
		values[i] = slices.Clone(values[i])
	}
	return values, err
}

func (m *model) PutBuckets(_ context.Context, table Table, buckets []Bucket) error {
	for _, s := range buckets {
		m.buckets[table][s.Key] = slices.Clone(s.Values)
	}
	return nil
}

func (m *model) PrepareBuckets(_ context.Context, table Table, keys []BucketKey) (made []BucketKey, err error) {
	for _, key := range keys {
		if m.buckets[table][key] == nil {
			m.buckets[table][key] = make([]int64, table.Width())
			made = append(made, key)
		}
	}
	return made, nil
}

func (m *model) DeleteBuckets(_ context.Context, table Table, keys []BucketKey) error {
	for _, key := range keys {
		delete(m.buckets[table], key)
	}
	return nil
}

func (m *model) FirstBuckets(_ context.Context, table Table, below BucketKey, limit int) (buckets []Bucket, err error) {
	for _, key := range slices.Sorted(maps.Keys(m.buckets[table])) {
		if key < below && len(buckets) < limit {
			buckets = append(buckets, Bucket{key, slices.Clone(m.buckets[table][key])})
		}
	}
	return buckets, nil
}

func (m *model) CompactedDays(_ context.Context, keys []BucketKey) ([]CompactedDay, error) {
	return lookUp(m.compacted, keys)
}

func (m *model) PutCompactedDays(_ context.Context, days []CompactedDay) error {
	for _, d := range days {
		m.compacted[d.Key] = d
	}
	return nil
}

func (m *model) DetailedDays(context.Context, Detail, BucketKey, BucketKey, int) ([]CompactedDay, error) {
	return nil, nil
}

func (m *model) TopMetrics(context.Context, int64, Metric, int) ([]Ranked, error) { return nil, nil }

func (m *model) DedupHorizon(context.Context) (int64, error) { return m.horizon, nil }

func (m *model) RaiseDedupHorizon(_ context.Context, horizon int64) error {
	m.horizon = max(m.horizon, horizon)
	return nil
}

func (m *model) Batches(_ context.Context, keys []Key) ([]DedupRecord, error) {
	return lookUp(m.batches, keys)
}

func (m *model) PutBatches(_ context.Context, batches []KeyedBatch) error {
	for _, b := range batches {
		m.batches[b.Key] = b.DedupRecord
	}
	return nil
}

func (m *model) DropBatches(_ context.Context, below int64, limit int) (int, error) {
	return drop(m.batches, below, limit), nil
}

func (m *model) Producers(_ context.Context, producers []Producer) ([]DedupRecord, error) {
	return lookUp(m.producers, producers)
}

func (m *model) PutProducers(_ context.Context, batches []ProducedBatch) error {
	for _, b := range batches {
		m.producers[b.Producer] = b.DedupRecord
	}
	return nil
}

func (m *model) DropProducers(_ context.Context, below int64, limit int) (int, error) {
	return drop(m.producers, below, limit), nil
}

func drop[K comparable](from map[K]DedupRecord, below int64, limit int) (n int) {
	for k, r := range from {
		if r.Newest < below && n < limit {
			delete(from, k)
			n++
		}
	}
	return n
}

func (m *model) minute(id ID, at Minute) int64 {
	if values := m.buckets[Hours][NewBucketKey(at.Hour(), id)]; values != nil {
		return values[at.InHour()]
	}
	return 0
}

// check returns inconsistencies: wrong sums, and buckets without their parents.
func (m *model) check() error {
	hours := map[BucketKey]int64{}
	for key, values := range m.buckets[Hours] {
		minute := Minute(key.Unit() * 60)
		day := m.buckets[Days][NewBucketKey(minute.Day(), key.ID())]
		if day == nil {
			return fmt.Errorf("hour %d of metric %d has no day", key.Unit(), key.ID())
		}
		sum := int64(0)
		for _, n := range values {
			sum += n
		}
		if sum != day[DayHour(minute.HourOfDay())] {
			return fmt.Errorf("hour %d of metric %d: the minutes are %d, the day says %d", key.Unit(), key.ID(), sum,
				day[DayHour(minute.HourOfDay())])
		}
		hours[NewBucketKey(minute.Day(), key.ID())] += sum
	}
	for key, values := range m.buckets[Days] {
		quarters := int64(0)
		for quarter := range 96 {
			quarters += values[DayQuarter(quarter)]
		}
		if values[DayTotal] != hours[key] || quarters != hours[key] {
			return fmt.Errorf("day %d of metric %d is %d, its quarters %d, its hours %d", key.Unit(), key.ID(), values[DayTotal],
				quarters, hours[key])
		}
	}
	for t, table := range []Table{Days, GaugeDays} {
		for key := range m.buckets[table] {
			is := m.metrics[key.ID()]
			if is.ID == 0 || int(is.Kind) != t {
				return fmt.Errorf("day %d of metric %d is one of table %d, the metric %+v", key.Unit(), key.ID(), table, is)
			}
		}
	}
	return nil
}

// cells are cells in memory, with a directory that assigns new metrics round robin.
type cells struct {
	mu     sync.Mutex
	names  []string
	is     map[string]*model
	places map[Metric]Place
	next   ID
	asked  int // number of place look-ups
	// fault, if set, is called at the start of a transaction, and can make it fail.
	fault func(cell string) error
	// fails, if set, is called with the writes of a transaction, and can make it fail.
	fails func(*model) error
	// down are metrics whose place is unknown.
	down  map[Metric]error
	wrong error // first inconsistency
}

func newCells(names ...string) *cells {
	c := &cells{names: names, is: map[string]*model{}, places: map[Metric]Place{}, down: map[Metric]error{}}
	for _, name := range names {
		c.is[name] = newModel()
	}
	return c
}

func (c *cells) Places(_ context.Context, metrics []Metric, create, _ bool) []Place {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	places := make([]Place, len(metrics))
	for i, m := range metrics {
		at, ok := c.places[m]
		switch {
		case c.down[m] != nil:
			at.Err = c.down[m]
		case !ok && create:
			c.next++
			at = Place{Cell: c.names[int(c.next)%len(c.names)], ID: c.next}
			c.places[m] = at
		}
		places[i] = at
	}
	return places
}

func (c *cells) List() []string { return c.names }

func (c *cells) Cell(name string) Database {
	run := func(_ context.Context, fn func(Tx) error) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.fault != nil {
			if err := c.fault(name); err != nil {
				return err
			}
		}
		tx := c.is[name].clone()
		if err := fn(tx); err != nil {
			return fmt.Errorf("cell %s: %w", name, err)
		}
		if c.fails != nil {
			if err := c.fails(tx); err != nil {
				return err
			}
		}
		if err := tx.check(); err != nil {
			c.wrong = err
		}
		c.is[name] = tx
		return nil
	}
	return Database{Update: run, View: run}
}

func (c *cells) of(m Metric) (*model, ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.is[c.places[m].Cell], c.places[m].ID
}

func (c *cells) minute(m Metric, at Minute) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	place := c.places[m]
	if c.is[place.Cell] == nil {
		return 0
	}
	return c.is[place.Cell].minute(place.ID, at)
}
