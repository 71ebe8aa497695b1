// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/locus-db/locus/bench/internal/rounds"
	"github.com/locus-db/locus/internal/term"
)

// tables returns the comparison as Markdown.
func tables(reports []Report) string {
	var b strings.Builder
	o := reports[0].Options
	often := fmt.Sprintf("median of %d rounds", len(reports))
	if len(reports) == 1 {
		often = "one round"
	}
	servers := reports[0].Redis
	if reports[0].MongoDB != "" {
		servers += "; " + reports[0].MongoDB
	}
	synced := rounds.Over(reports, func(r *Report) float64 { return r.Syncs })
	fmt.Fprintf(&b, "%d metrics, %d hits a transaction, %d minutes of the day; loads of %g s; %s; %s; %s. The disk syncs %s blocks a second.\n\n",
		o.Metrics, o.Batch, 24*60/max(o.Every, 1), o.Seconds, often, reports[0].Machine, servers, figure(synced.Median()))
	writeGoals(&b, reports)
	writeDays(&b, reports)
	writeRuns(&b, reports)
	writeTurns(&b, reports)
	return strings.TrimSuffix(b.String(), "\n")
}

func writeGoals(b *strings.Builder, reports []Report) {
	all := verdicts(reports)
	if len(all) == 0 {
		return
	}
	b.WriteString("| goal | theirs | Locus | ratio (range) | gate | aim | reached |\n|---|--:|--:|---|---|---|---|\n")
	for _, v := range all {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", v.goal, v.theirs, v.ours, v.ratio, v.gate, v.aim,
			rounds.Reached(v.reached))
	}
	b.WriteByte('\n')
}

func writeDays(b *strings.Builder, reports []Report) {
	if len(reports[0].Days) == 0 {
		return
	}
	b.WriteString("| hits a second | 00h | 12h | 23h | last/first hour (range) | mean of the hours | log bytes a hit | afterwards, MB | others' processors |\n")
	b.WriteString("|---|--:|--:|--:|---|--:|--:|--:|--:|\n")
	for _, m := range methods {
		get := func(f func(*Day) float64) rounds.Series { return ofDay(reports, m.Key, f) }
		if len(get((*Day).mean)) == 0 {
			continue
		}
		hour := func(h int) string { return figure(get(func(d *Day) float64 { return d.hour(h) }).Median()) }
		known := func(v float64) string {
			if v == 0 {
				return ""
			}
			return figure(v)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %.2f |\n", m.Title, hour(0), hour(12), hour(23),
			get((*Day).level).Ranged(figure, ""), figure(get((*Day).mean).Median()),
			known(get(func(d *Day) float64 { return d.WAL }).Median()),
			known(get(func(d *Day) float64 { return float64(d.Size) / 1e6 }).Median()),
			get(func(d *Day) float64 { return d.Others }).Median())
	}
	b.WriteByte('\n')
}

func writeRuns(b *strings.Builder, reports []Report) {
	if len(reports[0].Runs) == 0 {
		return
	}
	b.WriteString("| who | load | hits/s | p50, p99 of a call, ms | hits a commit | processor a hit, µs: servers, program | others' processors |\n")
	b.WriteString("|---|---|--:|--:|--:|--:|--:|\n")
	for _, m := range methods {
		who := m.Title
		for _, l := range loads(reports, m.Key) {
			get := func(f func(*Run) float64) float64 { return ofRun(reports, m.Key, l, f).Median() }
			group := ""
			if v := get(func(r *Run) float64 { return r.Group }); v > 0 {
				group = figure(v)
			}
			server := figure(get(func(r *Run) float64 { return r.Server }))
			if onMongoDB(m.Key) {
				server = "?"
			}
			fmt.Fprintf(b, "| %s | %s | %s | %s, %s | %s | %s, %s | %.2f |\n", who, l, figure(get(func(r *Run) float64 { return r.PerSecond })),
				figure(get(func(r *Run) float64 { return r.P50 })), figure(get(func(r *Run) float64 { return r.P99 })), group,
				server, figure(get(func(r *Run) float64 { return r.Program })),
				get(func(r *Run) float64 { return r.Others }))
			who = ""
		}
	}
	b.WriteByte('\n')
}

func writeTurns(b *strings.Builder, reports []Report) {
	if len(reports[0].Turns) == 0 {
		return
	}
	fmt.Fprintf(b, "| %s metrics, each hit once a minute | first minute of the hour: p99 of a call, ms; hits/s | of the day | all others | others' processors |\n|---|--:|--:|--:|--:|\n",
		term.Count(int64(reports[0].Around)))
	for _, m := range methods {
		for _, prepared := range []bool{true, false} {
			get := func(f func(*Turn) float64) float64 { return ofTurn(reports, m.Key, prepared, f).Median() }
			if math.IsNaN(get(func(t *Turn) float64 { return t.Else })) {
				continue
			}
			how := "prepared by chance"
			if !prepared {
				how = "unprepared"
			}
			pair := func(p99, rate func(*Turn) float64) string { return figure(get(p99)) + "; " + figure(get(rate)) }
			fmt.Fprintf(b, "| %s, %s | %s | %s | %s | %.2f |\n", m.Title, how,
				pair(func(t *Turn) float64 { return t.Hour }, func(t *Turn) float64 { return t.HourRate }),
				pair(func(t *Turn) float64 { return t.Day }, func(t *Turn) float64 { return t.DayRate }),
				pair(func(t *Turn) float64 { return t.Else }, func(t *Turn) float64 { return t.ElseRate }),
				get(func(t *Turn) float64 { return t.Others }))
		}
	}
	b.WriteByte('\n')
}

// figure prints the significant digits of a number, also below a tenth.
func figure(v float64) string {
	if v < 0.1 {
		return fmt.Sprintf("%.3f", v)
	}
	return rounds.Figure(v)
}

// csv returns the data of the picture: a line per minute of the day with the hits per second of every method, the
// median of the rounds.
func csv(reports []Report) string {
	var b strings.Builder
	b.WriteString("minute")
	dots := map[string]map[int]float64{}
	var at []int
	for _, m := range methods {
		of := dotsOf(reports, m.Key)
		if len(of) == 0 {
			continue
		}
		b.WriteString("," + m.Key)
		dots[m.Key] = of
		if at == nil {
			at = slices.Sorted(maps.Keys(of))
		}
	}
	b.WriteByte('\n')
	for _, minute := range at {
		fmt.Fprintf(&b, "%02d:%02d", minute/60, minute%60)
		for _, m := range methods {
			if v, ok := dots[m.Key][minute]; ok {
				b.WriteString("," + strconv.Itoa(int(math.Round(v))))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// dotsOf returns the hits per second of a method in each minute played, the median of the rounds.
func dotsOf(reports []Report, method string) map[int]float64 {
	all := map[int]rounds.Series{}
	for i := range reports {
		if d := reports[i].day(method); d != nil {
			for _, dot := range d.Dots {
				all[dot.Minute] = append(all[dot.Minute], 1000*float64(dot.Hits)/dot.Took)
			}
		}
	}
	dots := map[int]float64{}
	for minute, s := range all {
		slices.Sort(s)
		dots[minute] = s.Median()
	}
	return dots
}
