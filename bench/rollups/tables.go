// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/locus-db/locus/bench/internal/rounds"
	"github.com/locus-db/locus/internal/term"
)

// tables returns the comparison as Markdown.
func tables(reports []Report) string {
	var b strings.Builder
	o := reports[0].Options
	tags := "all tags alike"
	if o.Zipf > 0 {
		tags = fmt.Sprintf("tags by Zipf's law, exponent %g", o.Zipf)
	}
	invocations := fmt.Sprintf("median of %d invocations", len(reports))
	if len(reports) == 1 {
		invocations = "one invocation"
	}
	fmt.Fprintf(&b, "%s documents with %d of %s tags each, %s; loads of %g s, %s; %s.\n\n",
		term.Count(int64(o.Documents)), o.PerTag, term.Count(int64(o.Tags)), tags, o.Seconds, invocations, reports[0].Machine)
	writeGoals(&b, reports)
	writeRuns(&b, reports)
	writeAnswers(&b, reports)
	return strings.TrimSuffix(b.String(), "\n")
}

func writeGoals(b *strings.Builder, reports []Report) {
	b.WriteString("| goal | what | theirs | Locus | ratio (range) | gate | aim | reached |\n|---|---|--:|--:|---|---|---|---|\n")
	for _, v := range verdicts(reports) {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", v.goal, v.what, v.theirs, v.ours, v.ratio, v.gate,
			v.aim, rounds.Reached(v.reached))
	}
	b.WriteByte('\n')
}

// atCommit are the methods that count in the transaction.
var atCommit = map[string]bool{"trigger-row": true, "trigger-sum": true}

func writeRuns(b *strings.Builder, reports []Report) {
	b.WriteString("| who | load | updates/s | times the text's | p50, p99 visible, ms | p50, p99 of a commit, ms | deadlocks | processor an update, µs: server, program | others' processors |\n")
	b.WriteString("|---|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, m := range methods {
		who := m.Title
		for _, l := range loads(reports, m.Key) {
			get := func(f func(*Run) float64) float64 { return ofRun(reports, m.Key, l, f).Median() }
			rate := get(func(r *Run) float64 { return r.PerSecond })
			p50, p99 := get(func(r *Run) float64 { return r.VisibleP50 }), get(func(r *Run) float64 { return r.VisibleP99 })
			visible := rounds.Figure(p50) + ", " + rounds.Figure(p99)
			switch {
			case atCommit[m.Key]:
				visible = "0, at commit"
			case p99 == 0:
				visible = ""
			}
			others := ofRun(reports, m.Key, l, func(r *Run) float64 { return r.Others })
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s, %s | %.0f | %.0f, %.0f | %.2f |\n", who, l, rounds.Figure(rate), rounds.Figure(rate/textLoad), visible,
				rounds.Figure(get(func(r *Run) float64 { return r.CommitP50 })), rounds.Figure(get(func(r *Run) float64 { return r.CommitP99 })),
				get(func(r *Run) float64 { return float64(r.Deadlocks) }),
				get(func(r *Run) float64 { return r.Server }), get(func(r *Run) float64 { return r.Program }), others.Median())
			who = ""
		}
	}
	b.WriteByte('\n')
}

func writeAnswers(b *strings.Builder, reports []Report) {
	b.WriteString("| who | all tags, ms | times Locus | processor, ms: server, program | one tag, ms | |\n|---|--:|--:|--:|--:|---|\n")
	for _, m := range methods {
		all := ofAnswer(reports, m.Key, func(a *Answer) float64 { return a.All })
		if len(all) == 0 {
			continue
		}
		ratio := rounds.Over(reports, func(r *Report) float64 {
			mine, other := r.answer("locus"), r.answer(m.Key)
			if mine == nil || other == nil || mine == other {
				return math.NaN()
			}
			return other.All / mine.All
		})
		one, note, cost := "", "", ""
		server := ofAnswer(reports, m.Key, func(a *Answer) float64 { return a.Server }).Median()
		program := ofAnswer(reports, m.Key, func(a *Answer) float64 { return a.Program }).Median()
		if server+program > 0 {
			cost = rounds.Figure(server) + ", " + rounds.Figure(program)
		}
		if v := ofAnswer(reports, m.Key, func(a *Answer) float64 { return a.One }).Median(); v > 0 {
			one = rounds.Figure(v)
		}
		for i := range reports {
			if a := reports[i].answer(m.Key); a != nil {
				note = a.Note
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", m.Title, rounds.Figure(all.Median()),
			ratio.Ranged(rounds.Figure, "x"), cost, one, note)
	}
}

// String describes the load.
func (l Load) String() string {
	text := fmt.Sprintf("%d writers, %d a transaction", l.Clients, l.Batch)
	if l.Queue {
		text = fmt.Sprintf("%d clients, shared transactions", l.Clients)
	}
	if l.Rate > 0 {
		text = fmt.Sprintf("%s/s, open", rounds.Figure(l.Rate*textLoad))
	}
	if l.Foreign {
		text += ", a foreign transaction in the middle"
	}
	return text
}

// csv returns the data of the picture and the tables, a figure per line: the median of the invocations.
func csv(reports []Report) string {
	var b strings.Builder
	b.WriteString("part,method,load,figure,value\n")
	line := func(part, method, load, figure string, v float64) {
		fmt.Fprintf(&b, "%s,%s,%q,%s,%s\n", part, method, load, figure, strconv.FormatFloat(v, 'g', 5, 64))
	}
	for _, m := range methods {
		for _, l := range loads(reports, m.Key) {
			for _, f := range []struct {
				name  string
				value func(*Run) float64
			}{
				{"updates_per_second", func(r *Run) float64 { return r.PerSecond }},
				{"visible_p50_ms", func(r *Run) float64 { return r.VisibleP50 }},
				{"visible_p99_ms", func(r *Run) float64 { return r.VisibleP99 }},
				{"commit_p50_ms", func(r *Run) float64 { return r.CommitP50 }},
				{"commit_p99_ms", func(r *Run) float64 { return r.CommitP99 }},
				{"deadlocks", func(r *Run) float64 { return float64(r.Deadlocks) }},
				{"server_us_an_update", func(r *Run) float64 { return r.Server }},
				{"program_us_an_update", func(r *Run) float64 { return r.Program }},
				{"others_processors", func(r *Run) float64 { return r.Others }},
			} {
				line("load", m.Key, l.String(), f.name, ofRun(reports, m.Key, l, f.value).Median())
			}
		}
		if all := ofAnswer(reports, m.Key, func(a *Answer) float64 { return a.All }); len(all) > 0 {
			line("answer", m.Key, "", "all_tags_ms", all.Median())
			line("answer", m.Key, "", "one_tag_ms", ofAnswer(reports, m.Key, func(a *Answer) float64 { return a.One }).Median())
		}
	}
	for _, m := range methods {
		for _, p := range freshness(reports, m.Key) {
			line("freshness", m.Key, fmt.Sprintf("after %.1f s", p[0]), "oldest_update_not_visible_ms", p[1])
		}
	}
	return b.String()
}
