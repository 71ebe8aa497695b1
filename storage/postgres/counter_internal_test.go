// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/storage"
)

// The database accepts only valid text, but prefixes and names may be any bytes: the bounds select the same names as a
// comparison of bytes.
func TestNamesFrom(t *testing.T) {
	t.Parallel()
	some := rapid.Custom(func(t *rapid.T) string {
		var s string
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			s += rapid.SampledFrom([]string{
				"\x01", "a", "b", "\x7f", "\u0080", "é", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\ufffd", "\uffff", "\U00010000", "\U0010ffff",
				"\x00", "\x80", "\xc3", "\xe0", "\xed\xa0", "\xef\xbf", "\xf4\x8f", "\xf4\x90", "\xf5", "\xff",
			}).Draw(t, "part")
		}
		return s
	})
	text := some.Filter(func(s string) bool {
		for i := range len(s) {
			if s[i] == 0 {
				return false
			}
		}
		return utf8.ValidString(s)
	})
	rapid.Check(t, func(t *rapid.T) {
		prefix, after, name := some.Draw(t, "prefix"), some.Draw(t, "after"), text.Draw(t, "name")
		low, high := namesFrom(prefix, after)
		for _, s := range []string{low, high} {
			if !utf8.ValidString(s) {
				t.Fatalf("prefix %q after %q: %q is no text", prefix, after, s)
			}
		}
		want := len(name) >= len(prefix) && name[:len(prefix)] == prefix && (after == "" || name > after)
		if got := name >= low && name < high; got != want {
			t.Fatalf("prefix %q after %q: from %q to %q, which holds %q: %v, want %v", prefix, after, low, high, name, got, want)
		}
	})
}

// A group costs one round trip per read, however many minutes it has.
func TestCounter_RoundTrips(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c, counted := tripping(t)
	for _, step := range []struct {
		what    string
		tallies []counter.Tally
		keyed   bool
		want    int64
	}{
		{"tallies of one minute with the beginning, the commit", []counter.Tally{{ID: 1, N: 1}, {ID: 2, N: 1}}, false, 2},
		{"tallies of three minutes with the beginning, the commit", []counter.Tally{{ID: 1, N: 1}, {ID: 2, Minute: 1, N: 1}, {ID: 1, Minute: 70, N: 1}}, false, 2},
		{"the dedup horizon with the beginning, the keys, tallies, the commit with the keys", []counter.Tally{{ID: 1, N: 1}}, true, 4},
	} {
		counted.want(t, step.what, step.want, func() error {
			return c.Update(ctx, func(tx storage.Tx) error { return countOnce(ctx, tx, step.tallies, step.keyed) })
		})
	}
}

func countOnce(ctx context.Context, tx storage.Tx, tallies []counter.Tally, keyed bool) error {
	if keyed {
		_, errHorizon := tx.DedupHorizon(ctx)
		_, err := tx.Batches(ctx, []counter.Key{"a", "b"})
		if err := errors.Join(errHorizon, err, tx.PutBatches(ctx, []counter.KeyedBatch{{Key: "a"}, {Key: "b"}})); err != nil {
			return err
		}
	}
	_, err := tx.AddTallies(ctx, tallies)
	return err
}

// layout is the server's statistics of a table of buckets.
type layout struct {
	rows, least, most int64 // bytes of values
	heap, toast       int64 // bytes
	updated, where    int64 // rows; updates that stayed in their page
}

func layoutOf(ctx context.Context, t *tx, table, values string) (l layout, err error) {
	err = t.query(ctx, fmt.Sprintf(`SELECT count(*), coalesce(min(pg_column_size(%[2]s)), 0), coalesce(max(pg_column_size(%[2]s)), 0),
		pg_relation_size('%[1]s'), (SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = '%[1]s'::regclass),
		(SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = '%[1]s'), (SELECT n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = '%[1]s')
		FROM %[1]s`, table, values),
		func(r pgx.Rows) error {
			return r.Scan(&l.rows, &l.least, &l.most, &l.heap, &l.toast, &l.updated, &l.where)
		})
	return l, err
}

// A bucket has its full size from the first hit on, lies in one page, and is updated in place. Days that come and go
// leave no more free space than the next ones need. The test has its own server, because transactions of other
// databases also retain old row versions.
func TestCounter_Layout(t *testing.T) {
	ctx := t.Context()
	c := identified(t)
	const metrics, days = 30, 3
	sizes := make([][2]int64, days)
	for day := range int64(days) {
		for minute := counter.Minute(0); minute < 24*60; minute += 97 {
			if err := c.Update(ctx, func(rt storage.Tx) error {
				var tallies []counter.Tally
				for id := range counter.ID(metrics) {
					tallies = append(tallies, counter.Tally{ID: 1 + id, Minute: counter.Minute(day*24*60) + minute + counter.Minute(int(minute)%3*int(id)%2), N: 1})
				}
				_, err := rt.AddTallies(ctx, tallies)
				rt.(*tx).exec("SELECT pg_stat_force_next_flush()")
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.View(ctx, func(rt storage.Tx) error {
			for i, table := range []counter.Table{counter.Hours, counter.Days} {
				l, err := layoutOf(ctx, rt.(*tx), bucketTables[table].name, "counts")
				if err != nil {
					return err
				}
				sizes[day][i] = l.heap
				if want := int64(24 + 8*table.Width()); l.least != want || l.most != want || l.toast != 0 {
					t.Errorf("day %d: buckets of %s have %d to %d bytes and %d elsewhere, want %d in place", day, bucketTables[table].name, l.least, l.most, l.toast, want)
				}
				if table == counter.Days && (l.updated < 400*(day+1) || l.where*100 < l.updated*95) {
					t.Errorf("day %d: of %d updates %d were done in the page", day, l.updated, l.where)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		closes(t, c, counter.NewBucketKey(24*day, 0), counter.NewBucketKey(day, 0))
	}
	for i, name := range []string{"counter_hour", "counter_day"} {
		if last := sizes[days-1][i]; last > sizes[1][i]*5/4 {
			t.Errorf("%s grows from day to day: %d", name, sizes)
		}
	}
}

// closes deletes the buckets below keys, as compaction does, and vacuums, as the server does in time.
func closes(t *testing.T, c *Cell, hour, day counter.BucketKey) {
	t.Helper()
	ctx := t.Context()
	if err := c.Update(ctx, func(rt storage.Tx) error {
		for table, below := range map[counter.Table]counter.BucketKey{counter.Hours: hour, counter.Days: day} {
			buckets, err := rt.FirstBuckets(ctx, table, below, 10_000)
			if err != nil {
				return err
			}
			keys := column(buckets, func(s counter.Bucket) counter.BucketKey { return s.Key })
			if err := rt.DeleteBuckets(ctx, table, keys); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	on, err := c.target.dial(ctx, c.opts)
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close(context.Background())
	for _, table := range []string{"counter_hour", "counter_day"} {
		if _, err := on.Exec(ctx, "VACUUM "+table); err != nil {
			t.Fatal(err)
		}
	}
}
