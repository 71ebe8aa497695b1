// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage"
)

func openCell(t *testing.T) *Cell {
	t.Helper()
	c, err := Open(t.Context(), filepath.Join(t.TempDir(), "cell.db"), cell.Identity{Map: "m", Lo: 0, Hi: 1 << 32}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// stored is the space used by a table or an index.
type stored struct{ rows, pages, payload, overflow int64 }

// tableOf asks SQLite for the layout of a table in the file.
func tableOf(t *testing.T, c *Cell, name string) (s stored) {
	t.Helper()
	err := c.Update(t.Context(), func(rt storage.Tx) error {
		r, err := rt.(*tx).conn.do(`SELECT count(*), sum(payload), sum(pagetype = 'overflow'), sum(iif(pagetype = 'leaf', ncell, 0))
			FROM dbstat WHERE name = ?`, name)
		if err == nil {
			s = stored{pages: r.int(0), payload: r.int(1), overflow: r.int(2), rows: r.int(3)}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A span takes the same space when it is prepared and when all its numbers have their maximum, and lies in one
// page.
func TestLayout_BucketsDoNotGrow(t *testing.T) {
	t.Parallel()
	const metrics, noon = 60, counter.Minute(29_655_360)
	c, ctx := openCell(t), t.Context()
	update := func(fn func(tx storage.Tx) error) {
		t.Helper()
		if err := c.Update(ctx, fn); err != nil {
			t.Fatal(err)
		}
	}
	keys := map[counter.Table][]counter.BucketKey{}
	for id := range counter.ID(metrics) {
		for table, unit := range map[counter.Table]int64{
			counter.Hours: noon.Hour(), counter.Days: noon.Day(), counter.GaugeQuarters: noon.QuarterOf(), counter.GaugeDays: noon.Day(),
		} {
			keys[table] = append(keys[table], counter.NewBucketKey(unit, id+1))
		}
	}
	update(func(tx storage.Tx) error {
		for _, table := range counter.Tables {
			if _, err := tx.PrepareBuckets(ctx, table, keys[table]); err != nil {
				return err
			}
		}
		return nil
	})
	before := map[counter.Table]stored{}
	for _, table := range counter.Tables {
		s := tableOf(t, c, bucketTables[table].name)
		if s.rows != metrics || s.overflow != 0 || s.payload < int64(metrics*8*table.Width()) {
			t.Fatalf("%s is %+v when it is prepared", bucketTables[table].name, s)
		}
		before[table] = s
	}
	update(func(tx storage.Tx) error { // every minute of an hour, each with the maximum for a day
		var tallies []counter.Tally
		for id := range counter.ID(metrics) {
			for minute := range counter.Minute(60) {
				tallies = append(tallies, counter.Tally{ID: id + 1, Minute: noon + minute, N: math.MaxInt64 / 60})
			}
		}
		if made, err := tx.AddTallies(ctx, tallies); err != nil || len(made) > 0 {
			return fmt.Errorf("days were made: %d, %w", made, err)
		}
		for _, table := range []counter.Table{counter.GaugeQuarters, counter.GaugeDays} {
			var buckets []counter.Bucket
			for i, key := range keys[table] {
				values := make([]int64, table.Width())
				for k := range values {
					values[k] = math.MinInt64 + int64(i+k)
				}
				buckets = append(buckets, counter.Bucket{Key: key, Values: values})
			}
			if err := tx.PutBuckets(ctx, table, buckets); err != nil {
				return err
			}
		}
		return nil
	})
	for _, table := range counter.Tables {
		if s := tableOf(t, c, bucketTables[table].name); s != before[table] {
			t.Errorf("%s is %+v when it is full, %+v when it is prepared", bucketTables[table].name, s, before[table])
		}
	}
}

// place is a cell that holds every metric, under the number at the end of its name.
type place struct{ c *Cell }

func (p place) Places(_ context.Context, metrics []counter.Metric, _, _ bool) []counter.Place {
	places := make([]counter.Place, len(metrics))
	for i, m := range metrics {
		places[i].Cell = "0"
		if _, err := fmt.Sscanf(string(m), "m%d", &places[i].ID); err != nil {
			places[i].Err = err
		}
	}
	return places
}

func (p place) List() []string { return []string{"0"} }

func (p place) Cell(string) counter.Database {
	return counter.Database{
		Update: func(ctx context.Context, fn func(counter.Tx) error) error {
			return p.c.Update(ctx, func(tx storage.Tx) error { return fn(tx) })
		},
		View: func(ctx context.Context, fn func(counter.Tx) error) error {
			return p.c.View(ctx, func(tx storage.Tx) error { return fn(tx) })
		},
	}
}

// Thirty days of hits, each compacted when it is over, leave no more open spans than eight days did, and the file
// grows only by the compacted days.
func TestLayout_FileIsBounded(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	const metrics = 8
	c := openCell(t)
	now := time.Date(2026, 11, 1, 0, 30, 0, 0, time.UTC)
	r, err := counter.New(place{c}, &counter.Options{Now: func() time.Time { return now }, Rand: func() float64 { return 0.5 }, Linger: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	pages := func() (n int64) {
		open := tableOf(t, c, "counter_hour").pages + tableOf(t, c, "counter_day").pages
		if open > 90 {
			t.Fatalf("open spans take up %d pages", open)
		}
		if err := c.Update(t.Context(), func(rt storage.Tx) error {
			row, err := rt.(*tx).conn.do("PRAGMA page_count")
			n = row.int(0)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return n - tableOf(t, c, "counter_compacted").pages - tableOf(t, c, "counter_compacted_detail").pages
	}
	var after8 int64
	for day := range 30 {
		for range 3 {
			var hits []counter.Hit
			for i := range metrics * 8 {
				hits = append(hits, counter.Hit{Metric: counter.Metric(fmt.Sprintf("m%d", 1+i%metrics)), At: now.Add(time.Duration(i/metrics) * time.Minute), N: 1})
			}
			now = now.Add(8 * time.Hour)
			results, err := r.Add(t.Context(), hits)
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range results {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := r.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if day == 7 {
			after8 = pages()
		}
	}
	closed := tableOf(t, c, "counter_compacted")
	if n := pages(); n > after8+2 || closed.rows < metrics*25 {
		t.Fatalf("the file has %d pages beside what is packed after 30 days, %d after 8; %d days are packed", n, after8, closed.rows)
	}
}
