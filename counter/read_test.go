// SPDX-License-Identifier: Apache-2.0

package counter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance/countertest"
)

// counted is a small installation: two cells, three counters and a gauge.
func counted(t *testing.T) *readWorld {
	t.Helper()
	w := newReadWorld(t, time.Date(2026, 11, 20, 12, 7, 30, 0, time.UTC), countertest.NewMemory(), countertest.NewMemory())
	for i, m := range []counter.Metric{"c/a", "c/b", "c/c", "g"} {
		for ago := range 5 {
			w.must(w.hit(m, w.minute(ago*1000), int64(1+(i+1)%3)))
		}
	}
	return w
}

func TestSeries_ByPrefix(t *testing.T) {
	t.Parallel()
	w := counted(t)
	prefix := counter.Metric("c/")
	q := counter.Query{Prefix: &prefix, Step: counter.ByDay, From: w.now.Add(-4 * 24 * time.Hour),
		To: w.now.Add(24 * time.Hour)}
	s := w.series(q)
	w.check(q, s)
	text, err := json.Marshal(s.Lines[1].Values)
	w.must(err)
	if len(s.Lines) != 3 || s.Lines[1].Metric != "c/b" || string(text) != "[null,3,3,6,3,null]" || s.Lines[1].Total != 15 {
		t.Errorf("%+v, the values are %s", s.Lines, text)
	}
	nothing := counter.Metric("d")
	q.Prefix = &nothing
	if s := w.series(q); len(s.Lines) != 0 || len(s.Times) != 6 {
		t.Errorf("nothing begins with d: %+v", s)
	}
}

func TestSeries_Refuses(t *testing.T) {
	t.Parallel()
	w := counted(t)
	all, day := counter.Metric(""), 24*time.Hour
	good := counter.Query{Metrics: []counter.Metric{"c/a"}, Step: counter.ByDay, From: w.now.Add(-day), To: w.now}
	for what, c := range map[string]struct {
		change func(q *counter.Query)
		want   error // nil is an *InvalidError of the field in the key
	}{
		"metric":          {func(q *counter.Query) { q.Metrics = nil }, nil},
		"prefix":          {func(q *counter.Query) { q.Prefix = &all }, nil},
		"step":            {func(q *counter.Query) { q.Step = "week" }, nil},
		"from":            {func(q *counter.Query) { q.From = time.Time{} }, nil},
		"to":              {func(q *counter.Query) { q.To = q.From }, nil},
		"an unknown name": {func(q *counter.Query) { q.Metrics = []counter.Metric{"c/a", "x"} }, counter.ErrNotFound},
		"too many steps":  {func(q *counter.Query) { q.Step, q.From = counter.ByMinute, q.To.Add(-40*day) }, counter.ErrRange},
		"too many by prefix": {func(q *counter.Query) {
			q.Metrics, q.Prefix, q.Step, q.From = nil, &all, counter.ByMinute, q.To.Add(-15*day)
		}, counter.ErrRange},
		"too many by name": {func(q *counter.Query) {
			q.Metrics, q.Step, q.From = []counter.Metric{"c/a", "c/b", "c/c"}, counter.ByMinute, q.To.Add(-15*day)
		}, counter.ErrRange},
	} {
		q := good
		c.change(&q)
		_, err := w.recorder().Series(t.Context(), q)
		if c.want != nil {
			if !errors.Is(err, c.want) {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		if e, ok := errors.AsType[*counter.InvalidError](err); !ok || len(e.Problems) != 1 || e.Problems[0].Pointer != "/"+what {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Dropped values are Null and never invented; the total is still known where days are whole.
func TestSeries_DroppedDetails(t *testing.T) {
	t.Parallel()
	w := newReadWorld(t, time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC), countertest.NewMemory())
	w.opts.Retention = []counter.Retention{{Minutes: 10 * 24 * time.Hour, Quarters: 20 * 24 * time.Hour}}
	begin := w.now
	for _, m := range []counter.Metric{"c", "g"} {
		w.must(w.hit(m, counter.MinuteOf(begin.Add(70*time.Minute)), 3))
	}
	kathmandu := zone(t, "Asia/Kathmandu")
	for _, c := range []struct {
		after         int
		minute, local bool // known
	}{{9, true, true}, {13, false, true}, {23, false, false}} {
		w.now = begin.AddDate(0, 0, c.after)
		w.must(w.maintain())
		for _, q := range []struct {
			known bool
			counter.Query
		}{
			{c.minute, counter.Query{Step: counter.ByMinute, From: begin, To: begin.Add(24 * time.Hour)}},
			{c.local, counter.Query{Step: counter.ByHour, From: begin, To: begin.Add(24 * time.Hour)}},
			{c.local, counter.Query{Step: counter.ByDay, From: begin, To: begin.Add(12 * time.Hour), Zone: kathmandu}},
			{true, counter.Query{Step: counter.ByDay, From: begin, To: begin.Add(24 * time.Hour)}},
		} {
			q.Metrics = []counter.Metric{"c", "g"}
			s := w.series(q.Query)
			w.check(q.Query, s)
			for _, l := range s.Lines {
				if l.Kept.IsZero() != q.known {
					t.Errorf("after %d days %s by %s is kept since %v", c.after, l.Metric, q.Step, l.Kept)
				}
			}
			if total := s.Lines[0].Total; (total == counter.Null) != (!q.known && q.Zone != nil) || total != counter.Null && total != 3 {
				t.Errorf("after %d days by %s the total is %d", c.after, q.Step, total)
			}
		}
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	w := counted(t)
	for _, c := range []struct {
		prefix, after counter.Metric
		limit         int
		want          string
	}{
		{"", "", 10, "c/a c/b c/c g"}, {"c/", "", 10, "c/a c/b c/c"}, {"", "c/a", 2, "c/b c/c"}, {"x", "", 10, ""},
		{"", "", 0, ""},
	} {
		infos, err := w.recorder().Metrics(t.Context(), c.prefix, c.after, c.limit)
		w.must(err)
		var names []string
		for _, info := range infos {
			names = append(names, string(info.Metric))
			if !info.First.Equal(w.first(info.Metric)) || info.ID == 0 || info.Cell == "" ||
				(info.Kind == counter.Gauge) != isGauge(info.Metric) {
				t.Errorf("%+v", info)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestTop(t *testing.T) {
	t.Parallel()
	w := counted(t)
	w.must(w.maintain()) // compacts the first days
	w.must(w.hit("c/b", w.minute(4000), 40))
	day := w.minute(4000).Time()
	top, err := w.recorder().Top(t.Context(), counter.TopQuery{Day: day, K: 2})
	w.must(err)
	if len(top) != 2 || top[0].Metric != "c/b" || top[0].N < 41 || top[1].Metric != "c/a" {
		t.Errorf("%+v", top)
	}
	top, err = w.recorder().Top(t.Context(), counter.TopQuery{Day: day, Prefix: "c/c"})
	w.must(err)
	if len(top) != 1 || top[0].Metric != "c/c" {
		t.Errorf("%+v", top)
	}
	for field, q := range map[string]counter.TopQuery{"day": {}, "k": {Day: day, K: counter.MaxTop + 1}} {
		_, err := w.recorder().Top(t.Context(), q)
		if e, ok := errors.AsType[*counter.InvalidError](err); !ok || e.Problems[0].Pointer != "/"+field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	w := counted(t)
	e, err := w.recorder().Explain(t.Context(), "c/a", w.now)
	w.must(err)
	var got []string
	for _, touch := range e.Touches {
		got = append(got, fmt.Sprintf("%s[%d] %s = %d", touch.Table, touch.Index, touch.What, touch.Now))
	}
	want := []string{
		"counter_hour[7] minute 12:07 = 2", "counter_day[60] day 2026-11-20 = 2", "counter_day[61] hour 12 = 2",
		"counter_day[62] quarter 12:00 = 2",
	}
	if diff := cmp.Diff(want, got); diff != "" || e.Compacted || e.ID == 0 || e.Kind != "counter" {
		t.Errorf("%+v (-want +got):\n%s", e, diff)
	}
	w.must(w.maintain())
	e, err = w.recorder().Explain(t.Context(), "g", w.minute(4000).Time())
	w.must(err)
	if !e.Compacted || len(e.Touches) != 2*counter.Reading || e.Touches[0].Now != 0 {
		t.Errorf("%+v", e)
	}
	if _, err := w.recorder().Explain(t.Context(), "x", w.now); !errors.Is(err, counter.ErrNotFound) {
		t.Error(err)
	}
	if _, err := w.recorder().Explain(t.Context(), "g", time.Time{}); err == nil {
		t.Error("a hit at no time is explained")
	}
}

// A day that would overflow with late hits keeps them in open buckets forever and reports this; it blocks nothing
// else.
func TestMaintain_LeavesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	w := newReadWorld(t, time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC), countertest.NewMemory())
	at := w.minute(0)
	w.must(w.hit("c", at, math.MaxInt64-1))
	w.now = w.now.Add(3 * 24 * time.Hour)
	w.must(w.maintain())
	for range 2 {
		w.must(w.hit("c", at, 1))
	}
	w.must(w.hit("d", at+1, 1))
	if err := w.maintain(); !errors.Is(err, counter.ErrOverflow) {
		t.Fatalf("%v, want ErrOverflow", err)
	}
	buckets := 0
	w.must(w.cells["c0"].View(t.Context(), func(tx counter.Tx) error {
		left, err := tx.FirstBuckets(t.Context(), counter.Days, math.MaxInt64, 10)
		buckets = len(left)
		return err
	}))
	if buckets != 1 {
		t.Errorf("%d days are open", buckets)
	}
	q := counter.Query{Metrics: []counter.Metric{"c"}, Step: counter.ByDay, From: at.Time(), To: w.now}
	if _, err := w.recorder().Series(t.Context(), q); !errors.Is(err, counter.ErrRange) {
		t.Errorf("%v, want ErrRange", err)
	}
}

// A damaged day is reported by name and blocks nothing else.
func TestMaintain_LeavesWhatIsDamaged(t *testing.T) {
	t.Parallel()
	w := newReadWorld(t, time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC), countertest.NewMemory())
	at := w.minute(0)
	w.must(w.hit("c", at, 5))
	w.must(w.hit("d", at, 5))
	w.now = w.now.Add(3 * 24 * time.Hour)
	w.must(w.maintain())
	key := []counter.BucketKey{counter.NewBucketKey(at.Day(), 1)}
	w.must(w.cells["c0"].Update(t.Context(), func(tx counter.Tx) error {
		days, err := tx.CompactedDays(t.Context(), key)
		days[0].Body = append([]byte{1}, days[0].Body...)
		return errors.Join(err, tx.PutCompactedDays(t.Context(), days))
	}))
	q := counter.Query{Metrics: []counter.Metric{"c"}, Step: counter.ByHour, From: at.Time(), To: w.now}
	if _, err := w.recorder().Series(t.Context(), q); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("read: %v", err)
	}
	w.must(w.hit("c", at, 1))
	w.must(w.hit("d", at, 1))
	w.now = w.now.Add(100 * 24 * time.Hour)
	if err := w.maintain(); err == nil || strings.Count(err.Error(), "damaged") != 2 {
		t.Errorf("maintain: %v", err)
	}
	q.Metrics = []counter.Metric{"d"}
	w.check(q, w.series(q))
}

// A failure in one cell does not stop maintenance of the others.
func TestMaintain_GoesOn(t *testing.T) {
	t.Parallel()
	w := counted(t)
	down := errors.New("down")
	first := w.cells["c0"]
	w.cells["c0"] = counter.Database{
		Update: func(context.Context, func(counter.Tx) error) error { return down },
		View:   func(context.Context, func(counter.Tx) error) error { return down },
	}
	if err := w.maintain(); !errors.Is(err, down) || !strings.Contains(err.Error(), "c0") {
		t.Error(err)
	}
	for name, db := range map[string]counter.Database{"c0": first, "c1": w.cells["c1"]} {
		w.must(db.View(t.Context(), func(tx counter.Tx) error {
			left, err := tx.FirstBuckets(t.Context(), counter.Days, counter.NewBucketKey(counter.MinuteOf(w.now).Day()-1, 0), 10)
			if (len(left) > 0) != (name == "c0") {
				t.Errorf("%s: %d days are open", name, len(left))
			}
			return err
		}))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.recorder().Maintain(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
