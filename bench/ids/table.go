// SPDX-License-Identifier: Apache-2.0

package main

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
func write(w io.Writer, all []*invocation) error {
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
			fmt.Fprintf(&b, "%s/%s, %s, %s.\n\n", c["goos"], c["goarch"], c["cpu"], plural(len(r), "invocation"))
		}
		r.writeGoals(&b)
		r.writeAll(&b)
	}
	_, err := io.WriteString(w, strings.TrimSuffix(b.String(), "\n"))
	return err
}

func (r runs) writeGoals(b *strings.Builder) {
	b.WriteString("| what | against | theirs, ns | ours, ns | allocs | ratio (range) | goal | reached |\n")
	b.WriteString("|---|---|--:|--:|--:|---|---|---|\n")
	for _, res := range r.results() {
		against := res.peer.title
		if res.against.title != "" {
			against = res.against.title + ": " + against
		}
		what := work(res.bench, res.goroutines)
		if res.ours != "locus" {
			_, variant, _ := strings.Cut(peerOf(res.ours).title, ", ")
			what += ", " + variant
		}
		target := fmt.Sprintf(">= %gx", res.ratio)
		if res.peer.kind == floor {
			target = fmt.Sprintf("<= %gx", res.ratio)
		}
		if res.noAllocs {
			target += ", 0 allocs"
		}
		reached := "yes"
		if !res.reached() {
			reached = "**no**"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %.0f | %sx (%s to %s) | %s | %s |\n", what, against,
			figure(res.theirs), figure(res.mine), res.allocs,
			figure(res.ratios.median()), figure(res.ratios.min()), figure(res.ratios.max()), target, reached)
	}
	b.WriteByte('\n')
}

func (r runs) writeAll(b *strings.Builder) {
	b.WriteString("| what | who | ns | allocs | times Locus | |\n|---|---|--:|--:|--:|---|\n")
	for _, bench := range r.benches() {
		for _, cpu := range r.cpus(bench) {
			if cpu != r.cpus(bench)[0] && !slices.Contains(minting, bench) {
				continue
			}
			r.writeBench(b, bench, cpu)
		}
	}
	b.WriteByte('\n')
}

// writeBench writes a row for everybody who did the work, the fastest first.
func (r runs) writeBench(b *strings.Builder, bench string, cpu int) {
	var who []measured
	for _, m := range r.measured() {
		if m.bench == bench && m.cpu == cpu {
			who = append(who, m)
		}
	}
	slices.SortStableFunc(who, func(x, y measured) int { return cmp.Compare(r.ns(x).median(), r.ns(y).median()) })
	what := work(bench, cpu)
	for _, m := range who {
		p := peerOf(m.peer)
		var ratio string
		if s := r.ratios(m, measured{bench, "locus", cpu}); len(s) > 0 && m.peer != "locus" {
			ratio = figure(s.median()) + "x"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %.0f | %s | %s |\n", what, p.title, figure(r.ns(m).median()), r.allocs(m), ratio, p.note)
		what = ""
	}
}

// measured returns all that was measured: benchmarks by name, peers in their order.
func (r runs) measured() []measured {
	seen := map[measured]bool{}
	for _, inv := range r {
		for m := range inv.samples {
			seen[m] = true
		}
	}
	rank := func(m measured) int {
		return slices.IndexFunc(peers, func(p peer) bool { return p.key == m.peer })
	}
	return slices.SortedFunc(maps.Keys(seen), func(x, y measured) int {
		return cmp.Or(cmp.Compare(x.bench, y.bench), cmp.Compare(rank(x), rank(y)), cmp.Compare(x.peer, y.peer))
	})
}

// benches returns the benchmarks in the order of the goals, then those that have none.
func (r runs) benches() (names []string) {
	var all []string
	for _, g := range goals {
		all = append(all, g.bench)
	}
	for _, m := range r.measured() {
		all = append(all, m.bench)
	}
	for _, bench := range all {
		if !slices.Contains(names, bench) {
			names = append(names, bench)
		}
	}
	return names
}

func work(bench string, goroutines int) string {
	title := cmp.Or(titles[bench], bench)
	if goroutines > 1 && slices.Contains(minting, bench) {
		title += fmt.Sprintf(", %d goroutines", goroutines)
	}
	return title
}

// figure prints what is certain of a number, and not more.
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
