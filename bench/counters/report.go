// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/locus-db/locus/bench/internal/rounds"
	"github.com/locus-db/locus/internal/term"
)

// Options of a round.
type Options struct {
	// Of the simulated day.
	Metrics int     `json:"metrics"`
	Batch   int     `json:"batch"`   // hits per transaction, each for another metric
	Tx      int     `json:"tx"`      // minimum number of transactions per minute
	Least   float64 `json:"least"`   // minimum milliseconds spent per minute
	Every   int     `json:"every"`   // play every n-th minute
	Shuffle bool    `json:"shuffle"` // random order of the hours in every second round

	Seconds float64 `json:"seconds"` // duration of a load of callers
	Callers int     `json:"callers"` // maximum
	Many    int     `json:"many"`    // metrics of the load with many; 0 leaves it out
	Around  int     `json:"around"`  // metrics of the test of turning hours; 0 leaves it out
	// processors that other programs may use before a load is repeated; 0 means no limit
	Foreign float64  `json:"foreign"`
	Parts   []string `json:"parts,omitempty"`   // day, callers, turn; all if empty
	Methods []string `json:"methods,omitempty"` // the methods to measure; all if empty
	Round   int      `json:"round"`
}

// part reports whether a part is to be measured.
func (o *Options) part(name string) bool { return len(o.Parts) == 0 || slices.Contains(o.Parts, name) }

// method reports whether a method is to be measured.
func (o *Options) method(name string) bool {
	return len(o.Methods) == 0 || slices.Contains(o.Methods, name)
}

// Report is the result of a round.
type Report struct {
	Options
	Machine string `json:"machine"`
	Redis   string `json:"redis"`             // its version, or why it was not measured
	MongoDB string `json:"mongodb,omitempty"` // as given by the user
	// Syncs is how many blocks per second the disk makes durable.
	Syncs float64 `json:"syncs"`
	Days  []Day   `json:"days"`
	Runs  []Run   `json:"runs"`
	Turns []Turn  `json:"turns"`
}

// Day is the simulated day of a method.
type Day struct {
	Method   string `json:"method"`
	Shuffled bool   `json:"shuffled,omitempty"`
	// Dots are the minutes played, in the order of the day.
	Dots []Dot `json:"dots"`
	// WAL is the number of bytes of the server's log per hit; 0 if unknown. Size is the size of the database
	// afterwards, in bytes.
	WAL    float64 `json:"wal,omitempty"`
	Size   int64   `json:"size,omitempty"`
	Others float64 `json:"others"`
}

// Dot is a minute of the day with the number of hits written and the time it took.
type Dot struct {
	Minute int     `json:"m"`
	Hits   int     `json:"n"`
	Took   float64 `json:"ms"`
}

// rate returns the hits per second in the minutes [from, to).
func (d *Day) rate(from, to int) float64 {
	hits, took := 0, 0.0
	for _, dot := range d.Dots {
		if dot.Minute >= from && dot.Minute < to {
			hits, took = hits+dot.Hits, took+dot.Took
		}
	}
	return 1000 * float64(hits) / took
}

// hour returns the rate in an hour of the day.
func (d *Day) hour(h int) float64 { return d.rate(60*h, 60*h+60) }

// mean returns the mean of the hourly rates, unweighted.
func (d *Day) mean() float64 {
	sum, n := 0.0, 0
	for h := range 24 {
		if v := d.hour(h); !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(n)
}

// level returns the rate of the last hour divided by that of the first.
func (d *Day) level() float64 { return d.hour(23) / d.hour(0) }

// Load is how callers hit.
type Load struct {
	Callers int `json:"callers"`
	Batch   int `json:"batch"` // hits per call
	Metrics int `json:"metrics"`
	// Keyed gives each call a key that makes it count once.
	Keyed bool `json:"keyed,omitempty"`
	// Servers is the number of recorders that share the cell; 0 means one.
	Servers int `json:"servers,omitempty"`
}

// String describes the load.
func (l Load) String() string {
	text := fmt.Sprintf("%d callers x %s", l.Callers, term.Count(int64(l.Batch)))
	if l.Callers == 1 {
		text = fmt.Sprintf("1 caller x %s", term.Count(int64(l.Batch)))
	}
	if l.Keyed {
		text += ", keyed"
	}
	if l.Servers > 1 {
		text += fmt.Sprintf(", %d recorders", l.Servers)
	}
	if l.Metrics != few {
		text += fmt.Sprintf(", %s metrics", term.Count(int64(l.Metrics)))
	}
	return text
}

// few is the default number of metrics of a load.
const few = 100

// load returns a load with batch hits per call.
func load(callers, batch int) Load { return Load{Callers: callers, Batch: batch, Metrics: few} }

// Run is one load on one method.
type Run struct {
	Method string `json:"method"`
	Load   Load   `json:"load"`
	// PerSecond is the number of durable hits per second.
	PerSecond float64 `json:"per_second"`
	// P50 and P99 are the durations of a call, in milliseconds.
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	// Group is the number of hits per commit; 0 if unknown.
	Group float64 `json:"group,omitempty"`
	// Server and Program are the processor time per hit there, in microseconds.
	Server  float64 `json:"server"`
	Program float64 `json:"program"`
	// Others is the number of processors that other programs used.
	Others float64 `json:"others"`
}

// Turn is how long calls took while hours and days turn, with many metrics hit once a minute each.
type Turn struct {
	Method   string `json:"method"`
	Prepared bool   `json:"prepared"`
	Metrics  int    `json:"metrics"`
	// Hour is the p99 of calls in the first minute of an hour, Day in that of the day, Else in the others; in
	// milliseconds. Rates are hits per second in these minutes.
	Hour     float64 `json:"hour"`
	Day      float64 `json:"day"`
	Else     float64 `json:"else"`
	HourRate float64 `json:"hour_rate"`
	DayRate  float64 `json:"day_rate"`
	ElseRate float64 `json:"else_rate"`
	Others   float64 `json:"others"`
}

// Method is a way to count.
type Method struct{ Key, Title string }

// methods in the order of the tables.
var methods = []Method{
	{"locus", "**Locus**, PostgreSQL"},
	{"growing", "jsonb, growing"},
	{"flat", "jsonb, preallocated flat"},
	{"tree", "jsonb, preallocated hierarchical"},
	{"rows", "hour rows, a transaction a call"},
	{"locus-sqlite", "**Locus**, SQLite"},
	{"growing-sqlite", "JSON on SQLite, growing"},
	{"locus-http", "**Locus**, PostgreSQL, over HTTP"},
	{"locus-client", "the same, callers share a client"},
	{"locus-sqlite-http", "**Locus**, SQLite, over HTTP"},
	{"locus-sqlite-client", "the same, callers share a client"},
	{"locus-mongodb", "**Locus**, MongoDB"},
	{"growing-mongodb", "MongoDB, growing"},
	{"flat-mongodb", "MongoDB, preallocated flat"},
	{"tree-mongodb", "MongoDB, preallocated hierarchical"},
	{"redis", "Redis `always`, hash tables"},
	{"redis-list", "Redis `always`, its default of listpacks"},
	{"redis-everysec", "Redis `everysec`, a weaker promise"},
}

// givenMongoDB is the environment variable with the URI of the MongoDB to measure, which may contain a password.
const givenMongoDB = "LOCUS_BENCH_MONGODB_URI"

// onMongoDB reports whether a method needs the given MongoDB. The processor time of that server is unknown: on this
// machine it counts as other programs'.
func onMongoDB(key string) bool { return strings.HasSuffix(key, "-mongodb") }

func title(key string) string {
	i := slices.IndexFunc(methods, func(m Method) bool { return m.Key == key })
	if i < 0 {
		return key
	}
	return methods[i].Title
}

// ofDay collects a figure of a method's day.
func ofDay(reports []Report, method string, figure func(*Day) float64) rounds.Series {
	return rounds.Over(reports, dayOf(method, figure))
}

// ofRun collects a figure of a run.
func ofRun(reports []Report, method string, l Load, figure func(*Run) float64) rounds.Series {
	return rounds.Over(reports, runOf(method, l, figure))
}

// ofTurn collects a figure of a turn.
func ofTurn(reports []Report, method string, prepared bool, figure func(*Turn) float64) rounds.Series {
	return rounds.Over(reports, func(r *Report) float64 {
		return rounds.Of(rounds.Find(r.Turns, func(t *Turn) bool { return t.Method == method && t.Prepared == prepared }),
			figure)
	})
}

// day returns the day of a method, or nil.
func (r *Report) day(method string) *Day {
	return rounds.Find(r.Days, func(d *Day) bool { return d.Method == method })
}

// dayOf returns a figure of a method's day.
func dayOf(method string, figure func(*Day) float64) func(*Report) float64 {
	return func(r *Report) float64 { return rounds.Of(r.day(method), figure) }
}

// runOf returns a figure of a run.
func runOf(method string, l Load, figure func(*Run) float64) func(*Report) float64 {
	return func(r *Report) float64 {
		return rounds.Of(rounds.Find(r.Runs, func(run *Run) bool { return run.Method == method && run.Load == l }), figure)
	}
}

// loads returns the loads measured on a method, in the order of the first round.
func loads(reports []Report, method string) (all []Load) {
	for i := range reports {
		for _, run := range reports[i].Runs {
			if run.Method == method && !slices.Contains(all, run.Load) {
				all = append(all, run.Load)
			}
		}
	}
	return all
}
