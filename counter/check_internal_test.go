// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func fields(err error) string {
	var bad *InvalidError
	if !errors.As(err, &bad) {
		return ""
	}
	var names []string
	for _, p := range bad.Problems {
		names = append(names, p.Field())
	}
	return strings.Join(names, " ")
}

func TestAddBatch_RefusesBatches(t *testing.T) {
	t.Parallel()
	over := newCells("a")
	r, _ := open(t, over, nil)
	one, timeless := hitsOf("x"), []Hit{{Metric: "x", N: 1}}
	for _, test := range []struct {
		batch Batch
		want  string
	}{
		{Batch{}, "hits"},
		{Batch{Hits: make([]Hit, MaxBatch+1)}, "hits"},
		{Batch{Hits: one, Key: Key(strings.Repeat("k", MaxKey+1))}, "key"},
		{Batch{Hits: one, Key: "a b"}, "key"},
		{Batch{Hits: one, Key: "ä"}, "key"},
		{Batch{Hits: one, Key: "a\x7f"}, "key"},
		{Batch{Hits: one, Key: "k", Producer: Producer{1}, Seq: 1}, "key"},
		{Batch{Hits: one, Key: "k", Seq: 1}, "key"},
		{Batch{Hits: one, Producer: Producer{1}}, "seq"},
		{Batch{Hits: one, Seq: 1}, "producer"},
		{Batch{Hits: one, Producer: Producer{1}, Seq: math.MaxInt64 + 1}, "seq"},
		{Batch{Hits: timeless, Key: "k"}, "at"},
		{Batch{Hits: append(one, timeless...), Producer: Producer{1}, Seq: 1}, "at"},
		{Batch{Key: "a b"}, "hits key"},
	} {
		answer, err := r.AddBatch(t.Context(), test.batch)
		if fields(err) != test.want || answer.Results != nil {
			t.Errorf("%+v: %v, want one about %q", test.batch, err, test.want)
		}
	}
	wantMinute(t, over, "x", noon, 0)
}

// An invalid hit has its own error and does not affect the others.
func TestAddBatch_RefusesHits(t *testing.T) {
	t.Parallel()
	over := newCells("a", "b")
	r, _ := open(t, over, nil)
	ns := time.Nanosecond
	tests := []struct {
		hit   Hit
		field string // in an InvalidError
		want  error
	}{
		{hit: Hit{Metric: "", N: 1}, field: "metric"},
		{hit: Hit{Metric: Metric(strings.Repeat("x", MaxMetric)), N: 1}},
		{hit: Hit{Metric: Metric(strings.Repeat("x", MaxMetric+1)), N: 1}, field: "metric"},
		{hit: Hit{Metric: "a\xff", N: 1}, field: "metric"},
		{hit: Hit{Metric: "a\x00b", N: 1}, field: "metric"},
		{hit: Hit{Metric: " a", N: 1}, field: "metric"},
		{hit: Hit{Metric: "a\u3000", N: 1}, field: "metric"},
		{hit: Hit{Metric: "a\u200bb", N: 1}, field: "metric"},
		{hit: Hit{Metric: "a\u2028b", N: 1}, field: "metric"},
		{hit: Hit{Metric: "$set.a/b ü", N: 1}},
		{hit: Hit{Metric: "n", N: 0}, field: "n"},
		{hit: Hit{Metric: "n", N: -1}, field: "n"},
		{hit: Hit{Metric: "n", N: MaxN}},
		{hit: Hit{Metric: "n", N: MaxN + 1}, field: "n"},
		{hit: Hit{Metric: "g", Kind: Gauge, N: -MaxReading}},
		{hit: Hit{Metric: "g", Kind: Gauge, N: -MaxReading - 1}, field: "n"},
		{hit: Hit{Metric: "g", Kind: Gauge, N: math.MinInt64}, field: "n"},
		{hit: Hit{Metric: "g", Kind: 2, N: 1}, field: "kind"},
		{hit: Hit{Metric: "g", N: 1}, want: ErrKind},
		{hit: Hit{Metric: "n", Kind: Gauge, N: 1}, want: ErrKind},
		{hit: Hit{Metric: "t", At: noon.Add(-Window), N: 1}},
		{hit: Hit{Metric: "t", At: noon.Add(-Window - ns), N: 1}, want: ErrTooOld},
		{hit: Hit{Metric: "t", At: time.Unix(-1, 0), N: 1}, want: ErrTooOld},
		{hit: Hit{Metric: "t", At: noon.Add(ahead), N: 1}},
		{hit: Hit{Metric: "t", At: noon.Add(ahead + ns), N: 1}, want: ErrInFuture},
		{hit: Hit{Metric: "late", At: noon.Add(-Window - ns), N: 1}, want: ErrTooOld},
		{hit: Hit{Metric: "late", At: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), N: 1}, want: ErrInFuture},
	}
	hits := make([]Hit, len(tests))
	for i := range tests {
		hits[i] = tests[i].hit
	}
	for range 2 { // with unknown, then known places
		results, err := r.Add(t.Context(), hits)
		if err != nil {
			t.Fatal(err)
		}
		for i, test := range tests {
			if got := results[i]; fields(got) != test.field || !errors.Is(got, test.want) && test.field == "" || got != nil && test.want == nil && test.field == "" {
				t.Errorf("%+v: %v, want %q, %v", test.hit, got, test.field, test.want)
			}
		}
	}
	if _, ok := over.places["late"]; ok {
		t.Error("a hit that was refused has given its metric a place")
	}
	wantMinute(t, over, "n", noon, 2*MaxN)
}

// With a key, a hit with a refused time is looked up first, since it may have been counted before.
func TestAddBatch_RefusedTimesOfABatchWithAKey(t *testing.T) {
	t.Parallel()
	over := newCells("a")
	r, clock := open(t, over, nil)
	hits := hitsOf("x", "y")
	hits[0].At = noon.Add(-Window)
	b := Batch{Hits: hits, Key: "k"}
	add(t, r, b)
	clock.set(noon.Add(time.Second))
	if !add(t, r, b).Replayed {
		t.Error("not replayed")
	}
	add(t, r, Batch{Hits: hits, Key: "l"}, ErrTooOld)
	if add(t, r, Batch{Hits: hits[:1], Key: "m"}, ErrTooOld); over.is["a"].batches["m"].Print != [16]byte{} {
		t.Error("a batch of which nothing was counted is remembered")
	}
	wantMinute(t, over, "x", hits[0].At, 1)
	wantMinute(t, over, "y", noon, 2)
}

func TestNew_NamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	_, err := New(newCells(), &Options{Group: -1, Waiting: -1, Retention: []Retention{
		{Prefix: "short", Minutes: 7 * day, Quarters: 9 * day},
		{Prefix: "turned", Minutes: 10 * day, Quarters: 9 * day},
		{Prefix: "good", Minutes: 10 * day},
		{Prefix: "ever"},
		{Prefix: "endless", Quarters: 9 * day},
	}})
	if err == nil {
		t.Fatal("want an error")
	}
	for _, word := range []string{"Group", "Waiting", `"short"`, `"turned"`, `"endless"`} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not name %s", err, word)
		}
	}
	if strings.Contains(err.Error(), `"good"`) || strings.Contains(err.Error(), `"ever"`) {
		t.Error(err)
	}
}
