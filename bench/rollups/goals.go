// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"

	"github.com/locus-db/locus/bench/internal/rounds"
)

// verdict is a row of the table of goals.
type verdict struct {
	goal, what, theirs, ours, ratio, gate, aim string
	// reached reports whether the gate was reached; nil if this run cannot tell.
	reached *bool
}

// The minimum size for measuring G10.
const manyDocuments, manyTags = 1_200_000, 350_000

// verdicts compares the reports with the goals. A goal that was not measured has no row.
func verdicts(reports []Report) (all []verdict) {
	add := func(v verdict, ok bool) {
		if ok {
			all = append(all, v)
		}
	}
	add(speed(reports, "G1", "single documents, the text's load", shared, 10, 80, 100))
	add(speed(reports, "G1", "the same, a transaction each, 16 writers", single, 10, 80, 100))
	add(speed(reports, "G2", "100 documents a transaction", hundreds, 50, 400, 600))
	add(againstTriggers(reports, "single documents; triggers: 16 writers", single))
	add(againstTriggers(reports, "single documents; triggers: behind the queue too", shared))
	add(deadlocks(reports))
	add(answerOf(reports, "all tags; scan per tag", "gin", 200, 300))
	add(answerOf(reports, "all tags; one GROUP BY", "group", 15, 25))
	add(undisturbed(reports))
	add(large(reports))
	return all
}

// speed compares the updates of a closed load with the text's load, and the time until they are visible.
func speed(reports []Report, goal, what string, l Load, p99, gate, aim float64) (verdict, bool) {
	rate := ofRun(reports, "locus", l, func(r *Run) float64 { return r.PerSecond })
	late := ofRun(reports, "locus", l, func(r *Run) float64 { return r.VisibleP99 })
	ratio := scaled(rate, 1/textLoad)
	return verdict{
		goal: goal, what: what,
		theirs:  rounds.Figure(textLoad) + "/s",
		ours:    fmt.Sprintf("%s/s, p99 visible %s ms", rounds.Figure(rate.Median()), rounds.Figure(late.Median())),
		ratio:   ratio.Ranged(rounds.Figure, "x"),
		gate:    fmt.Sprintf(">= %gx, p99 <= %g ms", gate, p99),
		aim:     fmt.Sprintf("%gx", aim),
		reached: new(ratio.Median() >= gate && late.Median() <= p99),
	}, len(rate) > 0
}

// scaled multiplies a series.
func scaled(s rounds.Series, by float64) (scaled rounds.Series) {
	for _, v := range s {
		scaled = append(scaled, v*by)
	}
	return scaled
}

// triggers are the peers that count in the transaction.
var triggers = []string{"trigger-row", "trigger-sum"}

// faster returns the trigger that writes more per second under a load.
func faster(r *Report, l Load) (best *Run) {
	for _, key := range triggers {
		if run := r.run(key, l); run != nil && (best == nil || run.PerSecond > best.PerSecond) {
			best = run
		}
	}
	return best
}

func againstTriggers(reports []Report, what string, l Load) (verdict, bool) {
	theirs := rounds.Over(reports, func(r *Report) float64 {
		return rounds.Of(faster(r, l), func(r *Run) float64 { return r.PerSecond })
	})
	ours := ofRun(reports, "locus", shared, func(r *Run) float64 { return r.PerSecond })
	ratio := rounds.Over(reports, func(r *Report) float64 {
		mine, best := r.run("locus", shared), faster(r, l)
		if mine == nil || best == nil {
			return math.NaN()
		}
		return mine.PerSecond / best.PerSecond
	})
	return verdict{
		goal: "G5", what: what, theirs: rounds.Figure(theirs.Median()) + "/s", ours: rounds.Figure(ours.Median()) + "/s",
		ratio: ratio.Ranged(rounds.Figure, "x"),
		gate:  ">= 2x", aim: "2.5x", reached: new(ratio.Median() >= 2),
	}, len(ratio) > 0
}

// deadlocks counts the deadlocks of writers of many documents.
func deadlocks(reports []Report) (verdict, bool) {
	count := func(key string) (n int, measured bool) {
		for i := range reports {
			for _, l := range []Load{tens, hundreds} {
				if run := reports[i].run(key, l); run != nil {
					n, measured = n+run.Deadlocks, true
				}
			}
		}
		return n, measured
	}
	ours, ok := count("locus")
	rows, _ := count("trigger-row")
	sums, _ := count("trigger-sum")
	return verdict{
		goal: "G5", what: "deadlocks of writers of 10 and 100 documents", theirs: fmt.Sprintf("rows %d, sums %d", rows, sums),
		ours: fmt.Sprint(ours), gate: "0", aim: "0", reached: new(ours == 0),
	}, ok
}

func answerOf(reports []Report, what, peer string, gate, aim float64) (verdict, bool) {
	all := func(a *Answer) float64 { return a.All }
	theirs, ours := ofAnswer(reports, peer, all), ofAnswer(reports, "locus", all)
	ratio := rounds.Over(reports, func(r *Report) float64 {
		mine, other := r.answer("locus"), r.answer(peer)
		if mine == nil || other == nil {
			return math.NaN()
		}
		return other.All / mine.All
	})
	return verdict{
		goal: "G6", what: what, theirs: rounds.Figure(theirs.Median()) + " ms", ours: rounds.Figure(ours.Median()) + " ms",
		ratio: ratio.Ranged(rounds.Figure, "x"),
		gate:  fmt.Sprintf(">= %gx", gate), aim: fmt.Sprintf("%gx", aim), reached: new(ratio.Median() >= gate),
	}, len(ratio) > 0
}

// undisturbed returns the verdict on the foreign transaction.
func undisturbed(reports []Report) (verdict, bool) {
	late := func(r *Run) float64 { return r.VisibleP99 }
	theirs, ours := ofRun(reports, "xmin", disturbed, late), ofRun(reports, "locus", disturbed, late)
	before := ofRun(reports, "locus", at(disturbed.Rate), late)
	ratio := rounds.Over(reports, func(r *Report) float64 {
		mine, other := r.run("locus", disturbed), r.run("xmin", disturbed)
		if mine == nil || other == nil {
			return math.NaN()
		}
		return other.VisibleP99 / mine.VisibleP99
	})
	if len(ratio) == 0 {
		return verdict{}, false
	}
	return verdict{
		goal: "G7", what: fmt.Sprintf("p99 visible under a foreign transaction of %g s; below xmin", reports[0].Foreign),
		theirs: rounds.Figure(theirs.Median()) + " ms",
		ours:   fmt.Sprintf("%s ms (without it %s)", rounds.Figure(ours.Median()), rounds.Figure(before.Median())),
		ratio:  ratio.Ranged(rounds.Figure, "x"), gate: ">= 100x", aim: "400x", reached: new(ratio.Median() >= 100),
	}, true
}

// large returns the verdict at about ten times the text's size.
func large(reports []Report) (verdict, bool) {
	ours := ofAnswer(reports, "locus", func(a *Answer) float64 { return a.All })
	v := verdict{
		goal: "G10", what: "all tags, 10 times tags and documents", gate: "<= 250 ms", aim: "100 ms",
		ours: fmt.Sprintf("not in this run: -documents %d -tags %d", manyDocuments, manyTags),
	}
	if reports[0].Documents >= manyDocuments && reports[0].Tags >= manyTags {
		v.ours, v.reached = rounds.Figure(ours.Median())+" ms", new(ours.Median() <= 250)
	}
	return v, len(ours) > 0
}
