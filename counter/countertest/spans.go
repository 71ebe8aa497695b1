// SPDX-License-Identifier: Apache-2.0

package countertest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance"
)

// talliesAdd compares every span with the model after each batch.
func talliesAdd(t tester, c Cell) {
	const midnight = noon - 720
	m := newModel()
	for i, tallies := range [][]counter.Tally{
		{{ID: 1, Minute: noon, N: 3}},
		{{ID: 1, Minute: noon, N: 4}},
		// Minutes of one hour and of one quarter, out of order.
		{{ID: 1, Minute: noon + 59, N: 1}, {ID: 1, Minute: noon + 14, N: 1 << 40}, {ID: 1, Minute: noon, N: counter.MaxN}, {ID: 1, Minute: noon + 15, N: 1}},
		// Both sides of midnight, and the edges of an hour, with very different IDs.
		{
			{ID: counter.MaxID, Minute: midnight, N: 2},
			{ID: 7, Minute: midnight - 1, N: 3},
			{ID: 1, Minute: midnight + 1439, N: 5},
			{ID: 7, Minute: midnight, N: 7},
			{ID: 7, Minute: midnight + 1440, N: 11},
			{ID: 1, Minute: midnight + 59, N: 13},
			{ID: 1, Minute: midnight + 60, N: 17},
			{ID: counter.MaxID, Minute: midnight - 1, N: 19},
		},
		{{ID: 2, Minute: 0, N: 1}, {ID: 2, Minute: 1439, N: 1}},
	} {
		want, _ := m.AddTallies(context.Background(), tallies)
		slices.Sort(want)
		same(t, fmt.Sprintf("days that batch %d made", i), tally(t, c, tallies...), want)
		sameSpans(t, c, m)
	}
	// A prepared day is not reported as created, and an existing day may lack its hour.
	hour, today := counter.NewSpanKey(noon.Hour(), 9), counter.NewSpanKey(day, 9)
	prepare := func(ctx context.Context, s counter.Store) error {
		_, err := s.PrepareSpans(ctx, counter.Days, []counter.SpanKey{today, counter.NewSpanKey(day, 10)})
		_, err2 := s.PrepareSpans(ctx, counter.Hours, []counter.SpanKey{hour})
		return errors.Join(err, err2)
	}
	update(t, c, prepare)
	_ = prepare(context.Background(), m)
	tallies := []counter.Tally{{ID: 9, Minute: noon, N: 1}, {ID: 10, Minute: noon, N: 1}, {ID: 11, Minute: noon, N: 1}}
	_, _ = m.AddTallies(context.Background(), tallies)
	same(t, "days made beside those that were prepared", tally(t, c, tallies...), []counter.SpanKey{counter.NewSpanKey(day, 11)})
	sameSpans(t, c, m)
}

func sameSpans(t tester, c Cell, m *model) {
	t.Helper()
	for _, table := range counter.Tables {
		want, _ := m.FirstSpans(context.Background(), table, math.MaxInt64, everything)
		same(t, fmt.Sprintf("spans of table %d", table), first(t, c, table, math.MaxInt64, everything), want)
	}
}

func talliesOfManyMetrics(t tester, c Cell) {
	m, many := newModel(), c.many()
	for round := range 2 {
		var tallies []counter.Tally
		for i := range many - many*9/11*round {
			tallies = append(tallies, counter.Tally{ID: counter.ID(1 + i*7%many), Minute: noon + counter.Minute(round), N: int64(i + 1)})
		}
		want, _ := m.AddTallies(context.Background(), tallies)
		slices.Sort(want)
		same(t, "days made", tally(t, c, tallies...), want)
	}
	sameSpans(t, c, m)
}

// talliesOverflow adds the maximum, and then one too many in a minute, or only in a day.
func talliesOverflow(t tester, c Cell) {
	const half = math.MaxInt64/2 + 1
	tally(t, c, counter.Tally{ID: 1, Minute: noon, N: math.MaxInt64 - 5}, counter.Tally{ID: 2, Minute: noon, N: half})
	tally(t, c, counter.Tally{ID: 1, Minute: noon, N: 5}, counter.Tally{ID: 2, Minute: noon + 60, N: half - 1}, counter.Tally{ID: 3, Minute: noon, N: 1})
	before := ask(t, c, stateOf)
	for what, over := range map[string]counter.Tally{
		"a minute": {ID: 1, Minute: noon, N: 1}, "a day": {ID: 2, Minute: noon - 60, N: 1}, "a day by much": {ID: 3, Minute: noon - 60, N: math.MaxInt64},
	} {
		err := c.Update(context.Background(), func(s counter.Store) error {
			_, err := s.AddTallies(context.Background(), []counter.Tally{{ID: 1, Minute: noon - 1440, N: 1}, over, {ID: 9, Minute: noon, N: 1}})
			return err
		})
		if !errors.Is(err, counter.ErrOverflow) {
			t.Fatalf("a tally that exceeds %s: %v, want ErrOverflow", what, err)
		}
		same(t, "what there is after an overflow was rolled back", ask(t, c, stateOf), before)
	}
	total := spans(t, c, counter.Days, counter.NewSpanKey(day, 1), counter.NewSpanKey(day, 2))
	same(t, "totals", []int64{total[0][counter.DayTotal], total[1][counter.DayTotal]}, []int64{math.MaxInt64, math.MaxInt64})
}

// span returns values that differ in every index, table and key, and in sign.
func span(table counter.Table, key counter.SpanKey, n int64) counter.Span {
	values := make([]int64, table.Width())
	for i := range values {
		values[i] = n*int64(i+1)*(1<<33+int64(table)) - int64(i%2)*math.MaxInt64
	}
	values[0], values[len(values)-1] = math.MinInt64+n, math.MaxInt64-n
	return counter.Span{Key: key, Values: values}
}

func spansComeBackWhole(t tester, c Cell) {
	keys := []counter.SpanKey{math.MinInt64, -1, 0, 1, 2, 1<<40 - 1, 1 << 40, 1<<53 + 1, counter.NewSpanKey(noon.Hour(), counter.MaxID), math.MaxInt64}
	want := map[counter.Table][][]int64{}
	for n, table := range counter.Tables {
		for again := range int64(2) { // replaces what is there
			var put []counter.Span
			want[table] = nil
			for i, key := range keys {
				of := span(table, key, int64(n+i*10)+again)
				put, want[table] = append(put, of), append(want[table], of.Values)
			}
			slices.Reverse(put)
			putSpans(t, c, table, put...)
		}
	}
	for _, table := range counter.Tables {
		same(t, fmt.Sprintf("spans of table %d", table), spans(t, c, table, keys...), want[table])
	}
}

func spansInTheOrderAsked(t tester, c Cell) {
	for _, table := range counter.Tables {
		a, b := span(table, 2, 1), span(table, 10, 2)
		putSpans(t, c, table, a, b)
		same(t, "spans, some twice and some not there", spans(t, c, table, 10, 7, 2, 10, 1<<40|2, 2), [][]int64{b.Values, nil, a.Values, b.Values, nil, a.Values})
	}
	many := make([]counter.SpanKey, 1500)
	for i := range many {
		many[i] = counter.SpanKey(1500 - i)
	}
	got := spans(t, c, counter.Days, many...)
	same(t, "spans among many that are not there", [][]int64{got[1498], got[1490], got[1489]}, [][]int64{span(counter.Days, 2, 1).Values, span(counter.Days, 10, 2).Values, nil})
}

func preparingChangesNothing(t tester, c Cell) {
	for _, table := range counter.Tables {
		there := span(table, 5, 1)
		putSpans(t, c, table, there)
		for _, want := range [][]counter.SpanKey{{3, 1 << 50}, nil} {
			made := change(t, c, func(ctx context.Context, s counter.Store) ([]counter.SpanKey, error) {
				made, err := s.PrepareSpans(ctx, table, []counter.SpanKey{1 << 50, 5, 3})
				return slices.Sorted(slices.Values(made)), err
			})
			same(t, "spans made", made, want)
		}
		zeros := make([]int64, table.Width())
		same(t, "spans prepared", spans(t, c, table, 3, 5, 1<<50), [][]int64{zeros, there.Values, zeros})
		same(t, "all spans", first(t, c, table, math.MaxInt64, everything), []counter.Span{{Key: 3, Values: zeros}, there, {Key: 1 << 50, Values: zeros}})
	}
}

func deletedSpans(t tester, c Cell) {
	for _, table := range counter.Tables {
		putSpans(t, c, table, span(table, 1, 1), span(table, 2, 2), span(table, 3, 3), span(table, 1<<40|1, 4))
	}
	for i, table := range counter.Tables {
		for range 2 {
			update(t, c, func(ctx context.Context, s counter.Store) error {
				return s.DeleteSpans(ctx, table, []counter.SpanKey{3, 7, 1})
			})
		}
		for j, other := range counter.Tables {
			want := []counter.Span{span(other, 1, 1), span(other, 2, 2), span(other, 3, 3), span(other, 1<<40|1, 4)}
			if j <= i {
				want = []counter.Span{want[1], want[3]}
			}
			same(t, fmt.Sprintf("spans of table %d after those of %d were deleted", other, table), first(t, c, other, math.MaxInt64, everything), want)
		}
	}
}

// firstSpans has keys whose text is in another order.
func firstSpans(t tester, c Cell) {
	keys := []counter.SpanKey{math.MinInt64, -10, -9, -1, 0, 9, 10, 99, 100, 1 << 40, counter.NewSpanKey(2, 1), counter.NewSpanKey(10, 1), math.MaxInt64}
	for _, table := range counter.Tables {
		m := newModel()
		var put []counter.Span
		for i := range keys {
			put = append(put, span(table, keys[i*5%len(keys)], int64(i)))
		}
		putSpans(t, c, table, put...)
		_ = m.PutSpans(context.Background(), table, put)
		conformance.Update(t, c.View, func(ctx context.Context, s counter.Store) error {
			for i, below := range append(slices.Clone(keys), 50) {
				limit := []int{1, 3, everything}[(i+int(table))%3] // each with each in at least one table
				want, _ := m.FirstSpans(ctx, table, below, limit)
				got, err := s.FirstSpans(ctx, table, below, limit)
				if diff := differ(got, want); err != nil || diff != "" {
					return fmt.Errorf("the first %d spans of table %d below %d: %w (-want +got):\n%s", limit, table, below, err, diff)
				}
			}
			return nil
		})
	}
}

func closedDaysComeBackWhole(t tester, c Cell) {
	want := []counter.ClosedDay{
		{Key: counter.NewSpanKey(day, 1), N: math.MaxInt64, Detail: counter.Minutes, Body: []byte("\x00\xff'\"\\\xfe\x80")},
		{Key: counter.NewSpanKey(day, 10), N: 1<<53 + 1, Detail: counter.Quarters, Body: []byte(strings.Repeat("\x00\x01", 1<<12))},
		{Key: math.MaxInt64, N: 1, Detail: counter.NoDetail},
		{Key: -1, N: 0, Detail: counter.Minutes, Body: []byte{0}},
	}
	keys := []counter.SpanKey{want[0].Key, want[1].Key, want[2].Key, want[3].Key}
	putClosed(t, c, want...)
	same(t, "closed days", closed(t, c, keys...), want)
	same(t, "closed days, some twice and some not there", closed(t, c, -1, 5, keys[0], -1), []counter.ClosedDay{want[3], {}, want[0], want[3]})
	want[0] = counter.ClosedDay{Key: keys[0], N: 3, Detail: counter.NoDetail}
	want[2] = counter.ClosedDay{Key: keys[2], N: 4, Detail: counter.Minutes, Body: []byte("b")}
	putClosed(t, c, want[2], want[0])
	same(t, "closed days put again", closed(t, c, keys...), want)
}

func detailedDays(t tester, c Cell) {
	m := newModel()
	var put []counter.ClosedDay
	for i := range 30 {
		put = append(put, counter.ClosedDay{
			Key: counter.NewSpanKey(int64(9+i/3%5), counter.ID(1+i*7%30)), N: int64(i), Detail: counter.Detail(i % 3), Body: []byte(fmt.Sprint(i)),
		})
	}
	putClosed(t, c, put...)
	_ = m.PutClosedDays(context.Background(), put)
	ends := []counter.SpanKey{math.MinInt64, put[4].Key, counter.NewSpanKey(10, 8), counter.NewSpanKey(12, 0), math.MaxInt64}
	conformance.Update(t, c.View, func(ctx context.Context, s counter.Store) error {
		for _, detail := range []counter.Detail{counter.NoDetail, counter.Quarters, counter.Minutes} {
			for _, from := range ends {
				for _, below := range ends {
					for _, limit := range []int{2, everything} {
						want, _ := m.DetailedDays(ctx, detail, from, below, limit)
						got, err := s.DetailedDays(ctx, detail, from, below, limit)
						if diff := differ(got, want); err != nil || diff != "" {
							return fmt.Errorf("%d days of detail %d from %d below %d: %w (-want +got):\n%s", limit, detail, from, below, err, diff)
						}
					}
				}
			}
		}
		return nil
	})
}
