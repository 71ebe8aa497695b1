// SPDX-License-Identifier: Apache-2.0

package countertest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/internal/conformance/countertest/model"
)

// oddNames are names with a special meaning elsewhere, or that collations order differently.
var oddNames = []counter.Metric{
	" ", "\"quoted\"", "$inc", "$where", "%", "%s", "'; DROP TABLE metric; --", "-1", ".", "..", "/a.b", "00", "0x1F",
	"1e5", "A.B", "NULL", "__proto__",
	"\\", "\\u0000", "a", "a b", "a$b", "a%", "a%b", "a.b", "a.b.c", "a/b", "a\\b", "a_b", "aa", "axb", "b", "cafe\u0301",
	"caf\u00e9", "page /a.b",
	"{\"$gt\": \"\"}", "\u00e9", "\u00ff", "\u00ffa", "\u0130", "\u2028", "\uff21", "\ufffd", "\uffff", "\U0001f363",
	"\U0010ffff", "\U0010ffff\U0010ffff", "\U0010ffffa",
}

// named gives each name an ID, in an order different from that of the names.
func named(names []counter.Metric) []counter.Meta {
	list := make([]counter.Meta, len(names))
	for i, name := range names {
		list[i] = counter.Meta{ID: counter.ID(1 + i*37%len(names)), Name: name, Kind: counter.Kind(i % 2),
			First: int64(20_000 - i)}
	}
	return list
}

func metricsComeBackWhole(t tester, c Cell) {
	want := append(named(oddNames),
		counter.Meta{ID: counter.MaxID, Name: counter.Metric(strings.Repeat("寿", 66) + "ab"), Kind: counter.Gauge,
			First: 1 << 40},
		counter.Meta{ID: counter.MaxID - 1, Name: counter.Metric(strings.Repeat("a", counter.MaxMetric)), First: -1},
		counter.Meta{ID: counter.MaxID - 2, Name: counter.Metric(strings.Repeat("a", counter.MaxMetric-1) + "b"), First: 0})
	putMetrics(t, c, want...)
	var ids []counter.ID
	for _, m := range want {
		ids = append(ids, m.ID)
	}
	same(t, "metrics", metrics(t, c, ids...), want)
	same(t, "how many there are", ask(t, c, func(ctx context.Context, s counter.Store) (int, error) { return s.CountMetrics(ctx) }), len(want))
}

func metricsInTheOrderAsked(t tester, c Cell) {
	a, b := counter.Meta{ID: 2, Name: "a"}, counter.Meta{ID: 10, Name: "b", Kind: counter.Gauge, First: 5}
	putMetrics(t, c, b, a)
	same(t, "metrics, some twice and some not there", metrics(t, c, 10, 7, 2, 10, counter.MaxID, 2),
		[]counter.Meta{b, {}, a, b, {}, a})
}

func nameAndKindStay(t tester, c Cell) {
	want := counter.Meta{ID: 1, Name: "a", Kind: counter.Gauge, First: 20}
	putMetrics(t, c, want)
	putMetrics(t, c, counter.Meta{ID: 1, Name: "b", Kind: counter.Counter, First: 21})
	same(t, "a metric put again", metrics(t, c, 1), []counter.Meta{want})
	putMetrics(t, c, counter.Meta{ID: 1, Name: "c", Kind: counter.Counter, First: 19},
		counter.Meta{ID: 2, Name: "b", First: 3})
	want.First = 19
	same(t, "a metric put with an earlier day", metrics(t, c, 1, 2), []counter.Meta{want, {ID: 2, Name: "b", First: 3}})
	for _, after := range []counter.Metric{"", "a", "b"} {
		list, _ := (&model.Cell{Metas: map[counter.ID]counter.Meta{1: want, 2: {ID: 2, Name: "b", First: 3}}}).ListMetrics(context.Background(), "", after, 9)
		same(t, "metrics after "+string(after), listMetrics(t, c, "", after, 9), list)
	}
}

func listMetrics(t tester, c Cell, prefix, after counter.Metric, limit int) []counter.Meta {
	t.Helper()
	return ask(t, c, func(ctx context.Context, s counter.Store) ([]counter.Meta, error) {
		return s.ListMetrics(ctx, prefix, after, limit)
	})
}

// metricsInOrder lists each prefix, after each name.
func metricsInOrder(t tester, c Cell) {
	all := named(oddNames)
	m := model.New()
	_ = m.PutMetrics(context.Background(), all)
	putMetrics(t, c, all...)
	prefixes := []counter.Metric{"", "a", "a%", "a_", "A", "caf", "page /a.", "\u00e9", "\u00ff", "\U0010ffff",
		"\U0010ffff\U0010ffff", "\\", "nothing"}
	type asked struct {
		prefix, after counter.Metric
		limit         int
	}
	var asks []asked
	for _, prefix := range prefixes {
		for _, after := range []counter.Metric{"", "%", "a", "a.b", "a.b\x01", "aa", "az", "caf\u00e9", "\U0010ffff", "\U0010ffff\U0010ffff"} {
			asks = append(asks, asked{prefix, after, 2}, asked{prefix, after, everything})
		}
	}
	for _, after := range oddNames {
		asks = append(asks, asked{"", after, 3})
	}
	conformance.Update(t, c.View, func(ctx context.Context, s counter.Store) error {
		for _, a := range asks {
			want, _ := m.ListMetrics(ctx, a.prefix, a.after, a.limit)
			got, err := s.ListMetrics(ctx, a.prefix, a.after, a.limit)
			if diff := differ(got, want); err != nil || diff != "" {
				return fmt.Errorf("metrics that begin with %q, after %q, at most %d: %w (-want +got):\n%s", a.prefix, a.after,
					a.limit, err, diff)
			}
		}
		return nil
	})
}

// A day in 2026, and its noon.
const (
	day  = 20_594
	noon = counter.Minute(day*1440 + 720)
)

// theHighest has open and compacted days, ties, zeros, other days and a gauge.
func theHighest(t tester, c Cell) {
	names := []counter.Metric{"e", "d", "c", "b/1", "b/2", "b", "a", "g", "z"}
	list := make([]counter.Meta, len(names))
	for i, name := range names {
		list[i] = counter.Meta{ID: counter.ID(i + 1), Name: name}
	}
	list[7].Kind = counter.Gauge
	m := model.New()
	write := func(ctx context.Context, s counter.Store) error {
		if err := s.PutMetrics(ctx, list); err != nil {
			return err
		}
		var tallies []counter.Tally
		for i, n := range []int64{5, 5, 3, 8, 5, 1 << 40} {
			tallies = append(tallies, counter.Tally{ID: counter.ID(i + 1), Minute: noon, N: n})
		}
		tallies = append(tallies, counter.Tally{ID: 1, Minute: noon + 1440, N: 100},
			counter.Tally{ID: 2, Minute: noon - 1440, N: 100})
		if _, err := s.AddTallies(ctx, tallies); err != nil {
			return err
		}
		if err := s.PutCompactedDays(ctx, []counter.CompactedDay{
			{Key: counter.NewBucketKey(day, 3), N: 5, Detail: counter.Minutes},
			{Key: counter.NewBucketKey(day, 7), N: 8},
			{Key: counter.NewBucketKey(day, 8), Detail: counter.Quarters},
			{Key: counter.NewBucketKey(day-1, 3), N: 99},
		}); err != nil {
			return err
		}
		if _, err := s.PrepareBuckets(ctx, counter.Days, []counter.BucketKey{counter.NewBucketKey(day, 9), counter.NewBucketKey(day, 7)}); err != nil {
			return err
		}
		readings := make([]int64, counter.GaugeDays.Width())
		readings[0] = 1000
		return s.PutBuckets(ctx, counter.GaugeDays, []counter.Bucket{{Key: counter.NewBucketKey(day, 8), Values: readings}})
	}
	update(t, c, write)
	_ = write(context.Background(), m)
	prefixes := []counter.Metric{"", "b", "b/", "c", "nothing", "\U0010ffff"}
	sameTop(t, c, m, []int64{day}, prefixes, 1, 2, 3, 4, 9, counter.MaxTop)
	sameTop(t, c, m, []int64{day - 1, day + 1, day + 2}, prefixes[:4], 1, counter.MaxTop)
}

func sameTop(t tester, c Cell, m *model.Cell, days []int64, prefixes []counter.Metric, ks ...int) {
	t.Helper()
	conformance.Update(t, c.View, func(ctx context.Context, s counter.Store) error {
		for _, day := range days {
			for _, prefix := range prefixes {
				for _, k := range ks {
					want, _ := m.TopMetrics(ctx, day, prefix, k)
					got, err := s.TopMetrics(ctx, day, prefix, k)
					if diff := differ(got, want); err != nil || diff != "" {
						return fmt.Errorf("the %d highest of day %d that begin with %q: %w (-want +got):\n%s", k, day, prefix, err, diff)
					}
				}
			}
		}
		return nil
	})
}

// theHighestAmongMany has ties at the limit; names decrease while IDs increase.
func theHighestAmongMany(t tester, c Cell) {
	many := c.many() * 6 / 11
	var list []counter.Meta
	var tallies []counter.Tally
	for i := range many {
		list = append(list, counter.Meta{ID: counter.ID(i + 1), Name: counter.Metric(fmt.Sprintf("m%04d", many-i))})
		tallies = append(tallies, counter.Tally{ID: counter.ID(i + 1), Minute: noon, N: int64(1 + i/(many*5/6))})
	}
	m := model.New()
	write := func(ctx context.Context, s counter.Store) error {
		_, err := s.AddTallies(ctx, tallies)
		return errors.Join(err, s.PutMetrics(ctx, list))
	}
	update(t, c, write)
	_ = write(context.Background(), m)
	sameTop(t, c, m, []int64{day}, []counter.Metric{"", "m02"}, 10, 250, counter.MaxTop)
}
