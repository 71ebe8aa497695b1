// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/locus-db/locus/bench/internal/rounds"
	"github.com/locus-db/locus/internal/term"
)

// verdict is a row of the table of goals.
type verdict struct {
	goal, theirs, ours, ratio, gate, aim string
	// reached reports whether the gate was reached; nil if there is none.
	reached *bool
}

// ratio is a goal: a figure of Locus divided by a peer's in the same round.
type ratio struct {
	goal         string
	ours, theirs func(*Report) float64
	unit         string  // of both figures; "" if only the ratio is meaningful
	gate, aim    float64 // 0 means none
	below        bool    // the ratio must be below the gate
}

// rateOf returns the hits per second of a run.
func rateOf(method string, l Load) func(*Report) float64 {
	return runOf(method, l, func(r *Run) float64 { return r.PerSecond })
}

func hourly(h int) func(*Day) float64 { return func(d *Day) float64 { return d.hour(h) } }

func syncsOf(r *Report) float64 { return r.Syncs }

// level returns a goal for the rate of the last hour divided by that of the first.
func level(who, method string, gate, aim float64, below bool) ratio {
	return ratio{
		goal: "last hour / first hour, " + who, ours: dayOf(method, hourly(23)), theirs: dayOf(method, hourly(0)),
		unit: "/s", gate: gate, aim: aim, below: below,
	}
}

// goals in the order of the table.
var goals = []ratio{
	level("Locus on PostgreSQL", "locus", 0.95, 0.98, false),
	level("Locus on SQLite", "locus-sqlite", 0.95, 0.98, false),
	level("growing jsonb, for comparison", "growing", 0.05, 0, true),
	level("growing JSON on SQLite, for comparison", "growing-sqlite", 0.1, 0, true),
	level("Locus on MongoDB", "locus-mongodb", 0, 0, false), // no measurements yet to set a goal by
	level("growing document on MongoDB, for comparison", "growing-mongodb", 0, 0, false),
	level("hierarchical document on MongoDB, for comparison", "tree-mongodb", 0, 0, false),
	{"MongoDB, a day's mean; growing document", dayOf("locus-mongodb", (*Day).mean), dayOf("growing-mongodb", (*Day).mean),
		"/s", 0, 0, false},
	{"MongoDB, a day's mean; hierarchical document", dayOf("locus-mongodb", (*Day).mean),
		dayOf("tree-mongodb", (*Day).mean), "/s", 0, 0, false},
	{"PostgreSQL, a day's mean; growing document", dayOf("locus", (*Day).mean), dayOf("growing", (*Day).mean), "/s",
		10, 15, false},
	{"PostgreSQL, a day's last hour; growing document", dayOf("locus", hourly(23)), dayOf("growing", hourly(23)), "/s",
		50, 80, false},
	{"PostgreSQL, 64 callers; hour rows without combining", rateOf("locus", load(64, 1)), rateOf("rows", load(64, 1)),
		"/s", 3, 5, false},
	{"SQLite, one waiting caller; the disk's syncs", rateOf("locus-sqlite", load(1, 1)), syncsOf, "/s", 0.5, 0.7, false},
	{"PostgreSQL, one waiting caller; the disk's syncs", rateOf("locus", load(1, 1)), syncsOf, "/s", 0.4, 0.55, false},
	{"SQLite embedded, 64 callers; Redis `always`", rateOf("locus-sqlite", load(64, 1)), rateOf("redis", load(64, 1)),
		"/s", 0.9, 1.2, false},
	{"PostgreSQL embedded, 64 callers; Redis `always`", rateOf("locus", load(64, 1)), rateOf("redis", load(64, 1)), "/s",
		1.1, 1.6, false},
	{"SQLite embedded, 8 x 1,000; Redis `always`, pipelined", rateOf("locus-sqlite", load(8, 1000)),
		rateOf("redis", load(8, 1000)), "/s", 4, 6, false},
	{"PostgreSQL embedded, 8 x 1,000; Redis `always`, pipelined", rateOf("locus", load(8, 1000)),
		rateOf("redis", load(8, 1000)), "/s", 8, 14, false},
	{"SQLite over HTTP, 8 x 1,000; Redis `always`, pipelined", rateOf("locus-sqlite-http", load(8, 1000)),
		rateOf("redis", load(8, 1000)), "/s", 2, 5, false},
	{"PostgreSQL over HTTP, 8 x 1,000; Redis `always`, pipelined", rateOf("locus-http", load(8, 1000)),
		rateOf("redis", load(8, 1000)), "/s", 2, 5, false},
	{"SQLite over HTTP, 64 callers; Redis `always`", rateOf("locus-sqlite-http", load(64, 1)),
		rateOf("redis", load(64, 1)), "/s", 0, 1, false},
	{"PostgreSQL over HTTP, 64 callers; Redis `always`", rateOf("locus-http", load(64, 1)), rateOf("redis", load(64, 1)),
		"/s", 0, 1, false},
	{"SQLite over HTTP, 64 callers share a client; Redis `always`", rateOf("locus-sqlite-client", load(64, 1)),
		rateOf("redis", load(64, 1)), "/s", 0, 1, false},
	{"PostgreSQL over HTTP, 64 callers share a client; Redis `always`", rateOf("locus-client", load(64, 1)),
		rateOf("redis", load(64, 1)), "/s", 0, 1, false},
}

// verdicts compares the reports with the goals. A goal that was not measured has no row.
func verdicts(reports []Report) (all []verdict) {
	for _, g := range goals {
		ratios := rounds.Over(reports, func(r *Report) float64 { return g.ours(r) / g.theirs(r) })
		if len(ratios) == 0 {
			continue
		}
		v := verdict{
			goal: g.goal, ratio: ratios.Ranged(figure, "x"), aim: bound(">=", g.aim), gate: bound(">=", g.gate),
			theirs: figure(rounds.Over(reports, g.theirs).Median()) + g.unit,
			ours:   figure(rounds.Over(reports, g.ours).Median()) + g.unit,
		}
		if g.below {
			v.gate = bound("<", g.gate)
		}
		if g.gate > 0 {
			v.reached = new((ratios.Median() < g.gate) == g.below)
		}
		all = append(all, v)
	}
	for _, m := range []string{"locus", "locus-sqlite"} {
		if v, ok := combined(reports, m); ok {
			all = append(all, v)
		}
	}
	for _, m := range []string{"locus", "locus-sqlite"} {
		if v, ok := manyMetrics(reports, m); ok {
			all = append(all, v)
		}
	}
	return all
}

func bound(how string, v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%s %g", how, v)
}

// combined returns the verdict on the number of hits per commit.
func combined(reports []Report, method string) (verdict, bool) {
	group := ofRun(reports, method, load(64, 1), func(r *Run) float64 { return r.Group })
	return verdict{
		goal: "hits a commit at 64 callers, " + title(method), ours: group.Ranged(figure, ""), gate: bound(">=", 30),
		aim:     bound(">=", 60),
		reached: new(group.Median() >= 30),
	}, len(group) > 0
}

// manyMetrics compares a load with many metrics to the same load with few.
func manyMetrics(reports []Report, method string) (verdict, bool) {
	n := reports[0].Many
	few, many := rateOf(method, load(8, 1000)), rateOf(method, Load{Callers: 8, Batch: 1000, Metrics: n})
	ratios := rounds.Over(reports, func(r *Report) float64 { return many(r) / few(r) })
	return verdict{
		goal:   fmt.Sprintf("8 x 1,000, %s metrics / 100 metrics, %s", term.Count(int64(n)), title(method)),
		theirs: figure(rounds.Over(reports, few).Median()) + "/s", ours: figure(rounds.Over(reports, many).Median()) + "/s",
		ratio: ratios.Ranged(figure, "x"),
	}, len(ratios) > 0
}
