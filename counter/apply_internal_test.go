// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"
)

func TestRecorder_Midnight(t *testing.T) {
	t.Parallel()
	over := newCells("a")
	r, clock := open(t, over, func(o *Options) { o.Rand = func() float64 { return 0 } })
	midnight := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	clock.set(midnight)
	var hits []Hit
	for _, d := range []time.Duration{-time.Nanosecond, -time.Millisecond, 0, time.Millisecond, time.Minute} {
		hits = append(hits, Hit{Metric: "x", At: midnight.Add(d), N: 1})
	}
	add(t, r, Batch{Hits: hits})
	wantMinute(t, over, "x", midnight.Add(-time.Millisecond), 2)
	wantMinute(t, over, "x", midnight, 2)
	wantMinute(t, over, "x", midnight.Add(time.Minute), 1)
	m, id := over.of("x")
	for day, want := range map[int64]int64{MinuteOf(midnight).Day() - 1: 2, MinuteOf(midnight).Day(): 3} {
		if got := m.buckets[Days][NewBucketKey(day, id)][DayTotal]; got != want {
			t.Errorf("day %d: %d, want %d", day, got, want)
		}
	}
	if first := m.metrics[id].First; first != MinuteOf(midnight).Day()-1 {
		t.Errorf("the first day is %d", first)
	}
	add(t, r, Batch{Hits: []Hit{{Metric: "x", At: midnight.Add(-72 * time.Hour), N: 1}}})
	if first := m.metrics[id].First; first == m.metrics[id].First {
		m, id = over.of("x")
		if first = m.metrics[id].First; first != MinuteOf(midnight).Day()-3 {
			t.Errorf("after a late hit the first day is %d", first)
		}
	}
}

// A hit without a time gets the time of its group.
func TestRecorder_HitsWithoutTime(t *testing.T) {
	t.Parallel()
	over := newCells("a")
	r, clock := open(t, over, nil)
	for range 2 {
		if err := r.Hit(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		clock.set(noon.Add(12 * time.Hour))
	}
	wantMinute(t, over, "x", noon, 1)
	wantMinute(t, over, "x", noon.Add(12*time.Hour), 1)
}

// In a group that overflows, only the hits that do not fit are refused, in their order.
func TestRecorder_Overflow(t *testing.T) {
	t.Parallel()
	over := newCells("a")
	r, _ := open(t, over, nil)
	add(t, r, Batch{Hits: hitsOf("x", "y")})
	m, id := over.of("x")
	minute := MinuteOf(noon)
	for _, at := range []struct {
		table Table
		key   BucketKey
		slots []int
	}{{Hours, NewBucketKey(minute.Hour(), id), []int{0}}, {Days, NewBucketKey(minute.Day(), id), []int{DayTotal, DayHour(12), DayQuarter(48)}}} {
		for _, i := range at.slots {
			m.buckets[at.table][at.key][i] = math.MaxInt64 - 10
		}
	}
	hits := hitsOf("x", "y", "x", "x", "x")
	hits[0].N, hits[2].N, hits[3].N, hits[4].N = 8, 3, 2, 1
	b := Batch{Hits: hits, Key: "k"}
	for _, replayed := range []bool{false, true} {
		if got := add(t, r, b, nil, nil, ErrOverflow, nil, ErrOverflow); got.Replayed != replayed {
			t.Errorf("replayed is %t", got.Replayed)
		}
	}
	wantMinute(t, over, "x", noon, math.MaxInt64)
	wantMinute(t, over, "y", noon, 2)
}

func TestRecorder_KindsStay(t *testing.T) {
	t.Parallel()
	over := newCells("a")
	r, _ := open(t, over, nil)
	counter, gauge := Hit{Metric: "x", N: 1}, Hit{Metric: "x", Kind: Gauge, N: 5}
	add(t, r, Batch{Hits: []Hit{counter, gauge, counter}}, nil, ErrKind, nil)
	other, _ := open(t, over, nil) // has not seen the metric
	add(t, other, Batch{Hits: []Hit{gauge, counter}}, ErrKind, nil)
	wantMinute(t, over, "x", noon, 3)

	// Another process concurrently creates the row of a new metric with the other kind.
	once := true
	over.fails = func(*model) error {
		if !once {
			return nil
		}
		once = false
		m, at := over.is["a"], over.places["y"]
		m.metrics[at.ID] = Meta{ID: at.ID, Name: "y", Kind: Gauge, First: 20000}
		return errAgain
	}
	add(t, r, Batch{Hits: []Hit{{Metric: "y", N: 1}, {Metric: "y", Kind: Gauge, N: 1}}}, ErrKind, nil)
	wantMinute(t, over, "y", noon, 0)
}

func TestRecorder_Gauges(t *testing.T) {
	t.Parallel()
	over := newCells("a")
	r, _ := open(t, over, nil)
	reading := func(n int64, at time.Duration) Hit { return Hit{Metric: "g", Kind: Gauge, N: n, At: noon.Add(at)} }
	add(t, r, Batch{Hits: []Hit{reading(5, 0), reading(-7, time.Second), reading(3, 2*time.Second), reading(0, -time.Minute)}})
	add(t, r, Batch{Hits: []Hit{reading(4, 0)}})
	m, id := over.of("g")
	minute := MinuteOf(noon)
	for _, test := range []struct {
		name  string
		table Table
		unit  int64
		at    int
		want  []int64
	}{
		{"minute", GaugeQuarters, minute.QuarterOf(), 0, []int64{-7, 5, 5, 4, 4}},
		{"minute before", GaugeQuarters, minute.QuarterOf() - 1, 14, []int64{0, 0, 0, 1, 0}},
		{"hour", GaugeDays, minute.Day(), 12, []int64{-7, 5, 5, 4, 4}},
		{"hour before", GaugeDays, minute.Day(), 11, []int64{0, 0, 0, 1, 0}},
		{"quiet hour", GaugeDays, minute.Day(), 13, []int64{0, 0, 0, 0, 0}},
	} {
		if got := m.buckets[test.table][NewBucketKey(test.unit, id)][test.at*Reading:][:Reading]; !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}

	// A sum that would overflow in either direction, in the minute, the hour or the day.
	for _, sign := range []int64{1, -1} {
		day := m.buckets[GaugeDays][NewBucketKey(minute.Day(), id)]
		day[11*Reading+ReadingSum], day[12*Reading+ReadingSum] = sign*(math.MaxInt64-100), sign*90
		add(t, r, Batch{Hits: []Hit{reading(sign*11, 0), reading(sign*10, 0), reading(sign, 0), reading(-sign, 0)}},
			ErrOverflow, nil, ErrOverflow, nil)
		m, id = over.of("g")
	}
}

// Preparing buckets changes no result, and metrics without hits get no buckets.
func TestRecorder_Preparing(t *testing.T) {
	t.Parallel()
	day := MinuteOf(noon).Day()
	hour := MinuteOf(noon).Hour()
	for _, test := range []struct {
		name        string
		rand        float64
		at          time.Duration
		hours, days []int64
		unprepared  bool
	}{
		{name: "always", rand: 0, hours: []int64{hour, hour + 1}, days: []int64{day, day + 1}},
		{name: "never", rand: .9999, hours: []int64{hour}, days: []int64{day}},
		{name: "likely enough for the hour", rand: 1. / 61, hours: []int64{hour, hour + 1}, days: []int64{day}},
		{name: "the last minute of an hour", rand: .9999, at: 59 * time.Minute, hours: []int64{hour, hour + 1},
			days: []int64{day}},
		{name: "the last minute of the day", rand: .9999, at: 12*time.Hour - time.Minute,
			hours: []int64{hour + 11, hour + 12}, days: []int64{day, day + 1}},
		{name: "the last hour of the day", rand: 1. / 61, at: 11 * time.Hour, hours: []int64{hour + 11, hour + 12},
			days: []int64{day, day + 1}},
		{name: "switched off", unprepared: true, hours: []int64{hour}, days: []int64{day}},
	} {
		over := newCells("a")
		r, clock := open(t, over, func(o *Options) {
			o.Rand, o.Unprepared = func() float64 { return test.rand }, test.unprepared
		})
		at := noon.Add(test.at)
		clock.set(at)
		add(t, r, Batch{Hits: []Hit{{Metric: "x", At: at, N: 1}, {Metric: "x", N: 2}, {Metric: "x", Kind: Gauge, N: 1}}}, nil,
			nil, ErrKind)
		if err := r.Close(); err != nil { // buckets are prepared after the answer
			t.Error(err)
		}
		m, id := over.of("x")
		for table, want := range map[Table][]int64{Hours: test.hours, Days: test.days, GaugeQuarters: nil, GaugeDays: nil} {
			var got []int64
			for key := range m.buckets[table] {
				got = append(got, key.Unit())
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%s: buckets %v of table %d, want %v", test.name, got, table, want)
			}
		}
		if wantMinute(t, over, "x", at, 3); m.metrics[id].First != day {
			t.Errorf("%s: first is %d", test.name, m.metrics[id].First)
		}
	}
}

func TestRecorder_PreparingGauges(t *testing.T) {
	t.Parallel()
	over := newCells("a")
	r, clock := open(t, over, nil)
	at := noon.Add(12*time.Hour - time.Minute)
	clock.set(at)
	add(t, r, Batch{Hits: []Hit{{Metric: "g", Kind: Gauge, N: 1}}})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	m, id := over.of("g")
	for table, unit := range map[Table]int64{GaugeQuarters: MinuteOf(at).QuarterOf() + 1, GaugeDays: MinuteOf(at).Day() + 1} {
		if values := m.buckets[table][NewBucketKey(unit, id)]; values == nil || slices.Max(values) != 0 {
			t.Errorf("table %d: %v", table, values)
		}
	}
}

// A metric that is hit every minute has its next hour and its next day prepared before they begin.
func TestRecorder_PreparedInTime(t *testing.T) {
	t.Parallel()
	over := newCells("a")
	n := 0.0
	for minute := range 5 * 60 {
		r, clock := open(t, over, func(o *Options) {
			o.Rand = func() float64 { n += .618; return n - math.Floor(n) }
		})
		clock.set(noon.Add(time.Duration(8*60+minute) * time.Minute))
		m, id := over.of("x")
		at := MinuteOf(clock.now())
		if m != nil && at.InHour() == 0 && m.buckets[Hours][NewBucketKey(at.Hour(), id)] == nil {
			t.Errorf("at %s the hour was not prepared", clock.now().Format(time.TimeOnly))
		}
		if err := errors.Join(r.Hit(t.Context(), "x"), r.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRecorder_Quota(t *testing.T) {
	t.Parallel()
	over := newCells("a", "b")
	r, clock := open(t, over, func(o *Options) { o.Quota = 3 })
	add(t, r, Batch{Hits: hitsOf("1", "2", "2", "3", "4", "1", "4")}, nil, nil, nil, nil, ErrQuota, nil, ErrQuota)
	add(t, r, Batch{Hits: hitsOf("4", "3"), Key: "k"}, ErrQuota)
	m, _ := over.of("2")
	*m = *newModel() // impossible in practice, but it makes room
	add(t, r, Batch{Hits: hitsOf("4")}, ErrQuota)
	clock.set(noon.Add(time.Minute))
	add(t, r, Batch{Hits: hitsOf("4", "5")}, nil, ErrQuota)
}
