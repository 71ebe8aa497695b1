// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// write prints both tables for each toolchain.
func (s *Suite) write(w io.Writer, all []*invocation) error {
	var versions []string
	by := map[string]runs{}
	for _, inv := range all {
		if len(inv.samples) == 0 {
			continue
		}
		version := cmp.Or(inv.config["go"], "unknown Go")
		if by[version] == nil {
			versions = append(versions, version)
		}
		by[version] = append(by[version], inv)
	}
	if len(versions) == 0 {
		return errors.New("nothing was measured: no line of a benchmark")
	}
	var b strings.Builder
	for _, version := range versions {
		r := by[version]
		fmt.Fprintf(&b, "## %s\n\n", version)
		if c := r[0].config; c["goos"] != "" {
			fmt.Fprintf(&b, "%s/%s, %s, %s%s.\n\n", c["goos"], c["goarch"], c["cpu"], plural(len(r), "invocation"), s.clock())
		}
		s.writeGoals(&b, r)
		s.writeAll(&b, r)
	}
	_, err := io.WriteString(w, strings.TrimSuffix(b.String(), "\n"))
	return err
}

// clock returns a note on which time is compared, if it is not elapsed time.
func (s *Suite) clock() string {
	if s.busy {
		return "; time of the processor, but for work that waits for others"
	}
	return ""
}

func (s *Suite) writeGoals(b *strings.Builder, r runs) {
	b.WriteString("| what | against | theirs, ns | ours, ns | allocs | ratio (range) | goal | reached |\n")
	b.WriteString("|---|---|--:|--:|--:|---|---|---|\n")
	for _, res := range s.results(r) {
		what := s.work(res.Bench, res.goroutines)
		if _, variant, found := strings.Cut(s.peer(res.Ours).Title, ", "); found {
			what += ", " + variant
		}
		reached := "yes"
		if !res.reached() {
			reached = "**no**"
		}
		work := s.Works[res.Bench]
		theirs, ours, ratio := work.figure(res.theirs.median()), work.figure(res.mine.median()), ""
		if res.Against.Fits == nil {
			theirs, ours = "", fmt.Sprintf("%s (%s to %s)", ours, work.number(res.mine.min()), work.number(res.mine.max()))
		} else {
			ratio = fmt.Sprintf("%sx (%s to %s)", figure(res.ratios.median()), figure(res.ratios.min()),
				figure(res.ratios.max()))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n",
			what, res.against(), theirs, ours, work.allocs(res.allocs), ratio, res.target(work), reached)
	}
	b.WriteByte('\n')
}

// against returns the name of the peer and what it was chosen for.
func (r result) against() string {
	if r.Against.Title != "" {
		return r.Against.Title + ": " + r.peer.Title
	}
	return r.peer.Title
}

// target describes the goal.
func (r result) target(work Work) string {
	text := fmt.Sprintf(">= %gx", r.Ratio)
	switch {
	case r.AtMost > 0:
		text = fmt.Sprintf("<= %g %s", r.AtMost, cmp.Or(work.Unit, "ns"))
	case r.peer.Floor:
		text = fmt.Sprintf("<= %gx", r.Ratio)
	}
	if r.NoAllocs {
		text += ", 0 allocs"
	}
	return text
}

func (s *Suite) writeAll(b *strings.Builder, r runs) {
	b.WriteString("| what | who | ns | allocs | times Locus | |\n|---|---|--:|--:|--:|---|\n")
	for _, bench := range s.benches(r) {
		for _, cpu := range r.cpus(bench) {
			if cpu == r.cpus(bench)[0] || s.Works[bench].Parallel {
				s.writeBench(b, r, bench, cpu)
			}
		}
	}
	b.WriteByte('\n')
}

// writeBench writes a row for every peer that did the work, fastest first.
func (s *Suite) writeBench(b *strings.Builder, r runs, bench string, cpu int) {
	var who []measured
	for _, m := range s.measured(r) {
		if m.bench == bench && m.cpu == cpu {
			who = append(who, m)
		}
	}
	work, unit := s.Works[bench], s.unit(bench)
	slices.SortStableFunc(who, func(x, y measured) int {
		return cmp.Compare(r.values(x, unit).median(), r.values(y, unit).median())
	})
	what := s.work(bench, cpu)
	for _, m := range who {
		p := s.peer(m.peer)
		var ratio string
		if s := r.ratios(m, measured{bench, "locus", cpu}, unit); len(s) > 0 && m.peer != "locus" {
			ratio = figure(s.median()) + "x"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n",
			what, p.Title, work.figure(r.values(m, unit).median()), work.allocs(r.allocs(m)), ratio, p.Note)
		what = ""
	}
}

// measured returns everything that was measured: benchmarks by name, peers in their order.
func (s *Suite) measured(r runs) []measured {
	seen := map[measured]bool{}
	for _, inv := range r {
		for m := range inv.samples {
			seen[m] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(x, y measured) int {
		return cmp.Or(cmp.Compare(x.bench, y.bench), cmp.Compare(s.rank(x.peer), s.rank(y.peer)), cmp.Compare(x.peer, y.peer))
	})
}

// benches returns the benchmarks in the order of the goals, then those without a goal.
func (s *Suite) benches(r runs) (names []string) {
	var all []string
	for _, g := range s.Goals {
		all = append(all, g.Bench)
	}
	for _, m := range s.measured(r) {
		all = append(all, m.bench)
	}
	for _, bench := range all {
		if !slices.Contains(names, bench) {
			names = append(names, bench)
		}
	}
	return names
}

func (s *Suite) work(bench string, goroutines int) string {
	title := cmp.Or(s.Works[bench].Title, bench)
	if goroutines > 1 && s.Works[bench].Parallel {
		title += fmt.Sprintf(", %d goroutines", goroutines)
	}
	return title
}

// figure prints a figure of the work, with its unit if that is not the column's.
func (w Work) figure(v float64) string {
	if w.Unit == "" {
		return w.number(v)
	}
	return w.number(v) + " " + w.Unit
}

// number prints the significant digits of a figure. A figure near 1 that is not a time was counted, so it gets more
// digits.
func (w Work) number(v float64) string {
	if w.Unit != "" && v < 1.9995 {
		return fmt.Sprintf("%.3f", v)
	}
	return figure(v)
}

// allocs prints the allocations per operation, or nothing for work that is not measured in time.
func (w Work) allocs(n float64) string {
	if w.Unit != "" {
		return ""
	}
	return fmt.Sprintf("%.0f", n)
}

// figure prints the significant digits of a number.
func figure(v float64) string {
	switch {
	case v < 9.995:
		return fmt.Sprintf("%.2f", v)
	case v < 99.95:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.0f", v)
	}
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
