// SPDX-License-Identifier: Apache-2.0

package counter_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/sqlite"
)

// readWorld is a set of cells whose hits are recorded twice: in buckets, like a recorder does, and minute by
// minute, as they came.
type readWorld struct {
	apart bool // days are read one by one
	t     conformance.TB
	cells map[string]counter.Database
	names []counter.Metric
	now   time.Time
	opts  counter.Options
	came  map[counter.Metric]map[counter.Minute][]int64
	// between runs once, after the next read of open days and before any other read.
	between func() error
}

func newReadWorld(t conformance.TB, now time.Time, cells ...counter.Database) *readWorld {
	w := &readWorld{t: t, cells: map[string]counter.Database{}, now: now,
		came: map[counter.Metric]map[counter.Minute][]int64{}}
	for i, db := range cells {
		w.cells[fmt.Sprint("c", i)] = db
	}
	w.opts = counter.Options{Now: func() time.Time { return w.now }}
	return w
}

func (w *readWorld) recorder() *counter.Recorder {
	w.t.Helper()
	r, err := counter.New(w, &w.opts)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// maintain runs the maintenance of a new process.
func (w *readWorld) maintain() error {
	r, err := counter.New(w, &w.opts)
	if err != nil {
		return err
	}
	return errors.Join(r.Maintain(context.Background()), r.Close())
}

func (w *readWorld) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *readWorld) series(q counter.Query) *counter.Series {
	w.t.Helper()
	r := w.recorder()
	s, err := r.Series(context.Background(), q)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		w.t.Fatal(err)
	}
	return s
}

// Places distributes the metrics over the cells.
func (w *readWorld) Places(_ context.Context, metrics []counter.Metric, _, _ bool) []counter.Place {
	out := make([]counter.Place, len(metrics))
	for i, m := range metrics {
		if at := slices.Index(w.names, m); at >= 0 {
			out[i] = counter.Place{Cell: fmt.Sprint("c", at%len(w.cells)), ID: counter.ID(at + 1)}
		}
	}
	return out
}

// List names the cells.
func (w *readWorld) List() []string { return slices.Sorted(maps.Keys(w.cells)) }

// Cell returns a cell, watched for reads.
func (w *readWorld) Cell(name string) counter.Database {
	db := w.cells[name]
	return counter.Database{Update: db.Update, View: func(ctx context.Context, fn func(counter.Tx) error) error {
		return db.View(ctx, func(tx counter.Tx) error { return fn(&watched{Tx: tx, w: w}) })
	}}
}

// watched is a transaction with concurrent events.
type watched struct {
	counter.Tx
	w *readWorld
}

// Buckets runs the event after days were read.
func (tx *watched) Buckets(ctx context.Context, t counter.Table, keys []counter.BucketKey) ([][]int64, error) {
	buckets, err := tx.Tx.Buckets(ctx, t, keys)
	if do := tx.w.between; do != nil && (t == counter.Days || t == counter.GaugeDays) {
		tx.w.between = nil
		err = errors.Join(err, do())
	}
	return buckets, err
}

// minute returns the minute ago minutes before now.
func (w *readWorld) minute(ago int) counter.Minute {
	return counter.MinuteOf(w.now) - counter.Minute(ago)
}

func isGauge(m counter.Metric) bool { return m[0] == 'g' }

// hit counts n, or records it as a reading.
func (w *readWorld) hit(m counter.Metric, at counter.Minute, n int64) error {
	if !slices.Contains(w.names, m) {
		w.names = append(w.names, m)
		w.came[m] = map[counter.Minute][]int64{}
	}
	place := w.Places(context.Background(), []counter.Metric{m}, false, false)[0]
	err := w.cells[place.Cell].Update(context.Background(), func(tx counter.Tx) error {
		ctx := context.Background()
		meta := counter.Meta{ID: place.ID, Name: m, First: at.Day()}
		if isGauge(m) {
			meta.Kind = counter.Gauge
			if err := readGauge(ctx, tx, place.ID, at, n); err != nil {
				return err
			}
		} else if _, err := tx.AddTallies(ctx, []counter.Tally{{ID: place.ID, Minute: at, N: n}}); err != nil {
			return err
		}
		return tx.PutMetrics(ctx, []counter.Meta{meta})
	})
	w.came[m][at] = append(w.came[m][at], n)
	return err
}

func readGauge(ctx context.Context, tx counter.Tx, id counter.ID, at counter.Minute, n int64) error {
	for _, s := range []struct {
		table counter.Table
		key   counter.BucketKey
		place int
	}{
		{counter.GaugeQuarters, counter.NewBucketKey(at.QuarterOf(), id), at.InHour() % 15},
		{counter.GaugeDays, counter.NewBucketKey(at.Day(), id), at.HourOfDay()},
	} {
		buckets, err := tx.Buckets(ctx, s.table, []counter.BucketKey{s.key})
		if err != nil {
			return err
		}
		if buckets[0] == nil {
			buckets[0] = make([]int64, s.table.Width())
		}
		buckets[0] = slices.Clone(buckets[0])
		v := buckets[0][s.place*counter.Reading:][:counter.Reading]
		if v[counter.ReadingCount] == 0 {
			v[counter.ReadingMin], v[counter.ReadingMax] = n, n
		}
		v[counter.ReadingMin], v[counter.ReadingMax] = min(v[counter.ReadingMin], n), max(v[counter.ReadingMax], n)
		v[counter.ReadingSum] += n
		v[counter.ReadingCount]++
		v[counter.ReadingLast] = n
		if err := tx.PutBuckets(ctx, s.table, []counter.Bucket{{Key: s.key, Values: buckets[0]}}); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes buckets of zeros for the hour after a minute.
func (w *readWorld) prepare(m counter.Metric, at counter.Minute) {
	w.t.Helper()
	place := w.Places(context.Background(), []counter.Metric{m}, false, false)[0]
	at += 60
	err := w.cells[place.Cell].Update(context.Background(), func(tx counter.Tx) error {
		fine, days, unit := counter.Hours, counter.Days, at.Hour()
		if isGauge(m) {
			fine, days, unit = counter.GaugeQuarters, counter.GaugeDays, at.QuarterOf()
		}
		if _, err := tx.PrepareBuckets(context.Background(), fine, []counter.BucketKey{counter.NewBucketKey(unit, place.ID)}); err != nil {
			return err
		}
		_, err := tx.PrepareBuckets(context.Background(), days, []counter.BucketKey{counter.NewBucketKey(at.Day(), place.ID)})
		return err
	})
	w.must(err)
}

// first returns the day of the first hit.
func (w *readWorld) first(m counter.Metric) time.Time {
	day := int64(math.MaxInt64)
	for at := range w.came[m] {
		day = min(day, at.Day())
	}
	return counter.Minute(day * 24 * 60).Time()
}

// ends returns the end of the step that begins at a time: where local clocks show another hour or date, searched
// minute by minute.
func ends(t time.Time, step counter.Step) time.Time {
	if step == counter.ByMinute {
		return t.Add(time.Minute)
	}
	label := func(t time.Time) string {
		if step == counter.ByDay {
			return t.Format(time.DateOnly)
		}
		return t.Format("15 -0700")
	}
	end := t
	for label(end) == label(t) {
		end = end.Add(time.Minute)
	}
	return end
}

// check compares an answer with the hits sent.
func (w *readWorld) check(q counter.Query, s *counter.Series) {
	w.t.Helper()
	edges := append(slices.Clone(s.Times), ends(s.Times[len(s.Times)-1], q.Step))
	for _, l := range s.Lines {
		if !l.Kept.IsZero() {
			w.checkKept(q, &l)
		}
		first := w.first(l.Metric)
		var minutes []counter.Minute
		for at := range w.came[l.Metric] {
			minutes = append(minutes, at)
		}
		slices.Sort(minutes)
		total, sum := int64(0), counter.Value(0)
		for i, begin := range s.Times {
			var came []int64
			for ; len(minutes) > 0 && minutes[0].Time().Before(edges[i+1]); minutes = minutes[1:] {
				if !minutes[0].Time().Before(begin) {
					came = append(came, w.came[l.Metric][minutes[0]]...)
				}
			}
			for _, n := range came {
				total += n
			}
			unknown := begin.Before(l.Kept) || !edges[i+1].After(first) || len(came) == 0 && begin.After(w.now)
			if isGauge(l.Metric) {
				if want := readingsOf(came, unknown); l.Readings[i] != want {
					w.t.Fatalf("%s of %s at %v: %+v, it was %+v", q.Step, l.Metric, begin, l.Readings[i], want)
				}
				continue
			}
			want := counter.Null
			if !unknown {
				want = 0
				for _, n := range came {
					want += counter.Value(n)
				}
				sum += want
			}
			if l.Values[i] != want {
				w.t.Fatalf("%s of %s at %v: %d, it was %d", q.Step, l.Metric, begin, l.Values[i], want)
			}
		}
		switch {
		case isGauge(l.Metric) || l.Total == counter.Null:
		case l.Total != counter.Value(total):
			w.t.Fatalf("%s by %s from %v to %v: the total is %d, it was %d", l.Metric, q.Step, edges[0], edges[len(edges)-1],
				l.Total, total)
		case l.Kept.IsZero() && l.Total != sum:
			w.t.Fatalf("%s by %s: the total is %d, the sum %d", l.Metric, q.Step, l.Total, sum)
		}
	}
}

// checkKept checks that nothing is dropped before its time.
func (w *readWorld) checkKept(q counter.Query, l *counter.Line) {
	w.t.Helper()
	keep := counter.DefaultRetention
	for _, r := range slices.Backward(w.opts.Retention) {
		if len(l.Metric) >= len(r.Prefix) && l.Metric[:len(r.Prefix)] == r.Prefix {
			keep = r
		}
	}
	kept := keep.Quarters
	if q.Step == counter.ByMinute {
		kept = keep.Minutes
	}
	// The step in which the last dropped day begins is unknown, too.
	if latest := w.now.Add(-kept).Truncate(24 * time.Hour); l.Kept.After(ends(latest.In(l.Kept.Location()), q.Step)) {
		w.t.Fatalf("%s by %s is kept since %v, but it should be since %v", l.Metric, q.Step, l.Kept, latest)
	}
}

func readingsOf(came []int64, unknown bool) counter.Readings {
	r := counter.Readings{Min: counter.Null, Max: counter.Null, Sum: counter.Null, Last: counter.Null}
	switch {
	case unknown:
		r.Count = counter.Null
	case len(came) > 0:
		r = counter.Readings{Min: counter.Value(slices.Min(came)), Max: counter.Value(slices.Max(came)),
			Count: counter.Value(len(came)), Last: counter.Value(came[len(came)-1])}
		for _, n := range came {
			r.Sum += counter.Value(n)
		}
	}
	return r
}

var zonesRead sync.Map

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	if z, ok := zonesRead.Load(name); ok {
		return z.(*time.Location)
	}
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	zonesRead.Store(name, z)
	return z
}

func onSQLite(t testing.TB) counter.Database {
	t.Helper()
	id := cell.Identity{Map: "7c0e31", Hi: 1<<32 - 1, Rules: "test"}
	c, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "cell.db"), id, &sqlite.Options{Scratch: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return counter.Database{
		Update: func(ctx context.Context, fn func(counter.Tx) error) error {
			return c.Update(ctx, func(tx storage.Tx) error { return fn(tx) })
		},
		View: func(ctx context.Context, fn func(counter.Tx) error) error {
			return c.View(ctx, func(tx storage.Tx) error { return fn(tx) })
		},
	}
}
