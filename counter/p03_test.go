// SPDX-License-Identifier: Apache-2.0

package counter_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/conformance/countertest"
	"github.com/locus-db/locus/internal/conformance/perdocumenttest"
)

var zones = []string{"UTC", "Asia/Kathmandu", "Australia/Lord_Howe", "America/New_York", "Pacific/Chatham",
	"America/St_Johns"}

// machine makes random calls and compares every answer with the hits sent. roll returns 0 to n - 1.
func machine(t testing.TB, w *readWorld, steps int, roll func(n int) int) {
	t.Helper()
	w.opts.Retention = []counter.Retention{
		{Prefix: "cx", Minutes: 8 * 24 * time.Hour, Quarters: 12 * 24 * time.Hour},
		{Prefix: "gx", Minutes: 8 * 24 * time.Hour, Quarters: 12 * 24 * time.Hour},
	}
	names := []counter.Metric{"ca", "cx", "gx"}
	// draw draws a hit: late ones, ahead of the clock, and repeatedly in the same few minutes.
	draw := func() (hit func() error) {
		m, n := names[roll(len(names))], int64(1+roll(9))
		at := w.minute([]int{0, roll(90), roll(7 * 24 * 60), -5, 1440 + roll(3)}[roll(5)])
		return func() error { return w.hit(m, at, n) }
	}
	for _, m := range names {
		w.must(w.hit(m, w.minute(roll(1440)), 1))
	}
	for range steps {
		switch what := roll(10); what {
		case 0, 1, 2:
			for range 1 + roll(5) {
				w.must(draw()())
			}
		case 3:
			w.prepare(names[roll(len(names))], w.minute(0))
		case 4, 5:
			w.now = w.now.Add([]time.Duration{time.Minute, time.Hour, 9 * time.Hour, 3 * 24 * time.Hour}[roll(4)])
		case 6:
			w.must(w.maintain())
		default:
			q := counter.Query{Metrics: names, Zone: zone(t, zones[roll(len(zones))])}
			hours := 1 + roll(20*24)
			if q.Step = []counter.Step{counter.ByMinute, counter.ByHour, counter.ByDay}[roll(3)]; q.Step == counter.ByMinute {
				hours = 1 + roll(30)
			}
			q.From = w.now.Add(-time.Duration(roll(16*24)) * time.Hour).Add(-time.Duration(roll(60)) * time.Minute)
			q.To = q.From.Add(time.Duration(hours) * time.Hour)
			if what == 9 && !w.apart {
				// A concurrent hit or compaction, between the reads of the days and of the minutes. Cells have separate
				// snapshots, so only one is read.
				q.Metrics = names[:1]
				hit := draw()
				w.beside(q, func() error { return errors.Join(hit(), w.maintain()) })
				continue
			}
			w.check(q, w.series(q))
		}
	}
	w.now = w.now.Add(14 * 24 * time.Hour)
	w.must(w.maintain())
	q := counter.Query{Metrics: names, Step: counter.ByDay, From: w.now.Add(-60 * 24 * time.Hour), To: w.now}
	w.check(q, w.series(q))
}

// beside reads while do runs: the answer is from before do.
func (w *readWorld) beside(q counter.Query, do func() error) {
	w.t.Helper()
	before := *w
	before.came = map[counter.Metric]map[counter.Minute][]int64{}
	for m, came := range w.came {
		before.came[m] = maps.Clone(came)
	}
	w.between = do
	s := w.series(q)
	w.between = nil
	before.check(q, s)
}

// An answer is from one snapshot: a process counts in the same minute, and compacts the day, between the reads of the
// days and of the minutes.
func TestP03_OneSnapshot(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) counter.Database{
		"memory": func(testing.TB) counter.Database { return countertest.NewMemory() }, "sqlite": onSQLite,
		// each day is read in one step
		"apart": func(testing.TB) counter.Database { return perdocumenttest.NewMemory(nil).Counters() },
	} {
		for _, m := range []counter.Metric{"c", "g"} {
			t.Run(fmt.Sprintf("%s/%s", name, m), func(t *testing.T) {
				t.Parallel()
				w := newReadWorld(t, p03Begin, open(t))
				late := func() error { return w.hit(m, w.minute(3000), 7) }
				w.must(late())
				q := counter.Query{Metrics: []counter.Metric{m}, Step: counter.ByMinute, From: w.now.Add(-51 * time.Hour),
					To: w.now.Add(-49 * time.Hour)}
				w.beside(q, late)
				w.beside(q, w.maintain)
				w.beside(q, late)
				w.beside(q, w.maintain)
				w.check(q, w.series(q))
			})
		}
	}
}

var p03Begin = time.Date(2026, 9, 28, 13, 7, 0, 0, time.UTC)

// While hits are counted, compacted and dropped, each value of an answer equals the hits sent, and days equal the
// sum of their hours and minutes.
func TestP03_Machine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newReadWorld(rt, p03Begin, countertest.NewMemory())
		machine(t, w, rapid.IntRange(3, 20).Draw(rt, "steps"), func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "roll") })
	})
}

// The same with a database that writes each day on its own, without concurrent changes while several days are read.
func TestP03_MachineApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newReadWorld(rt, p03Begin, perdocumenttest.NewMemory(nil).Counters())
		w.apart = true
		machine(t, w, rapid.IntRange(3, 20).Draw(rt, "steps"), func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "roll") })
	})
}

// The same over a real database.
func TestP03_MachineOnSQLite(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 1))
	machine(t, newReadWorld(t, p03Begin, onSQLite(t), onSQLite(t)), 50, rng.IntN)
}
