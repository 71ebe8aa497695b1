// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"slices"

	"github.com/locus-db/locus/bench/internal/rounds"
)

// Options of an invocation.
type Options struct {
	Documents  int      `json:"documents"`
	Tags       int      `json:"tags"`
	PerTag     int      `json:"per_tag"` // tags per document
	Zipf       float64  `json:"zipf"`
	Seconds    float64  `json:"seconds"`
	Foreign    float64  `json:"foreign"`
	Cells      []string `json:"cells"`
	Batch      int      `json:"batch,omitempty"`   // changes that the follower reads at once; 0 is its default
	Methods    []string `json:"methods,omitempty"` // the methods to measure; all if empty
	Invocation int      `json:"invocation"`
}

// textLoad is the rate of changes in the text, in updates per second.
const textLoad = 10_000.0 / 60

// Report is the result of an invocation.
type Report struct {
	Options
	Machine string   `json:"machine"`
	Runs    []Run    `json:"runs"`
	Answers []Answer `json:"answers"`
	// Fresh is how stale the answers were around the foreign transaction.
	Fresh []Fresh `json:"fresh"`
}

// Run is one load on one method.
type Run struct {
	Method string `json:"method"`
	Load   Load   `json:"load"`
	// PerSecond is the number of documents written, and counted, per second.
	PerSecond float64 `json:"per_second"`
	// VisibleP50 and VisibleP99 run from commit to visible; CommitP50 and CommitP99 are how long a client waited
	// for its commit. In milliseconds.
	VisibleP50 float64 `json:"visible_p50"`
	VisibleP99 float64 `json:"visible_p99"`
	CommitP50  float64 `json:"commit_p50"`
	CommitP99  float64 `json:"commit_p99"`
	Deadlocks  int     `json:"deadlocks"`
	// Server and Program are the processor time per update there, in microseconds; 0 where the system does not
	// report it.
	Server  float64 `json:"server"`
	Program float64 `json:"program"`
	// Others is the number of processors that other programs used.
	Others float64 `json:"others"`
}

// Load is how documents are written.
type Load struct {
	Clients int `json:"clients"`
	Batch   int `json:"batch"` // documents per transaction
	// Queue makes the clients share transactions.
	Queue bool `json:"queue,omitempty"`
	// Rate is a multiple of the text's load; 0 is full speed.
	Rate float64 `json:"rate,omitempty"`
	// Foreign opens a foreign transaction in the middle.
	Foreign bool `json:"foreign,omitempty"`
}

// Answer is how long an answer takes while nothing is written, in milliseconds.
type Answer struct {
	Method string  `json:"method"`
	All    float64 `json:"all"` // all tags
	One    float64 `json:"one"` // a single update; 0 if the method is not used that way
	// Server and Program are the processor time of the answer for all tags there.
	Server  float64 `json:"server"`
	Program float64 `json:"program"`
	Note    string  `json:"note,omitempty"`
}

// Fresh is how stale a method's answers were.
type Fresh struct {
	Method string `json:"method"`
	// Points are times, in seconds since the beginning, with the age of the oldest committed update that was not
	// visible then, in milliseconds.
	Points [][2]float64 `json:"points"`
	// From and To are when the foreign transaction was open.
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// Method is a way to get the counts.
type Method struct{ Key, Title string }

// methods in the order of the tables.
var methods = []Method{
	{"locus", "**Locus**, PostgreSQL cell"},
	{"locus-sqlite", "**Locus**, SQLite cell"},
	{"ceiling", "documents alone"},
	{"trigger-row", "trigger, rows"},
	{"trigger-sum", "trigger, sums"},
	{"view", "materialised view, refreshed in a loop"},
	{"xmin", "follower below xmin"},
	{"gin", "scan per tag, GIN"},
	{"gin-4", "scan per tag, GIN, 4 connections"},
	{"group", "GROUP BY"},
}

func title(key string) string {
	i := slices.IndexFunc(methods, func(m Method) bool { return m.Key == key })
	if i < 0 {
		return key
	}
	return methods[i].Title
}

// Loads that goals and tables refer to.
var (
	shared   = Load{Clients: 256, Batch: 1, Queue: true}
	single   = Load{Clients: 16, Batch: 1}
	tens     = Load{Clients: 16, Batch: 10}
	hundreds = Load{Clients: 16, Batch: 100}
)

// at returns the load at a multiple of the text's.
func at(rate float64) Load { return Load{Clients: 256, Batch: 1, Queue: true, Rate: rate} }

// disturbed is the load with a foreign transaction in the middle.
var disturbed = Load{Clients: 256, Batch: 1, Queue: true, Rate: 10, Foreign: true}

// run returns the run of a method, or nil.
func (r *Report) run(method string, l Load) *Run {
	return rounds.Find(r.Runs, func(run *Run) bool { return run.Method == method && run.Load == l })
}

func (r *Report) answer(method string) *Answer {
	return rounds.Find(r.Answers, func(a *Answer) bool { return a.Method == method })
}

// ofRun collects a figure of a run.
func ofRun(reports []Report, method string, l Load, figure func(*Run) float64) rounds.Series {
	return rounds.Over(reports, func(r *Report) float64 { return rounds.Of(r.run(method, l), figure) })
}

// ofAnswer collects a figure of an answer.
func ofAnswer(reports []Report, method string, figure func(*Answer) float64) rounds.Series {
	return rounds.Over(reports, func(r *Report) float64 { return rounds.Of(r.answer(method), figure) })
}

// loads returns the loads that were measured: closed ones first, then by rate.
func loads(reports []Report, method string) (all []Load) {
	for i := range reports {
		for _, run := range reports[i].Runs {
			if run.Method == method && !slices.Contains(all, run.Load) {
				all = append(all, run.Load)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Load) int {
		return cmp.Or(order(a.Foreign, b.Foreign), cmp.Compare(a.Rate, b.Rate), order(b.Queue, a.Queue),
			cmp.Compare(a.Batch, b.Batch))
	})
	return all
}

func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
