// SPDX-License-Identifier: Apache-2.0

package compare

import "slices"

// Suite is a package of benchmarks with its description.
type Suite struct {
	// Name of the program in messages: bench/ids.
	Name string
	// Package is the import path of the package whose tests are the benchmarks.
	Package string
	// Works are the benchmarks by name, without Benchmark.
	Works map[string]Work
	// Peers in the order in which ties are shown.
	Peers []Peer
	// Goals in the order of the table.
	Goals []Goal

	// busy compares processor time instead of elapsed time.
	busy bool
}

// Work is what a benchmark measures.
type Work struct {
	Title string
	// Unit is a unit that the benchmark reports (testing.B.ReportMetric). Defaults to ns/op. In every unit, less is
	// better.
	Unit string
	// Parallel asks for a measurement with each number of goroutines in -cpu. The others use one.
	Parallel bool
	// Waits says that the work waits for other processes, whose time does not count as processor time of this one.
	Waits bool
	// Once limits an invocation to one measurement of one turn, for work that takes seconds or always gives the
	// same figure.
	Once bool
}

// busyUnit is the unit of processor time, over all goroutines and the garbage collector.
const busyUnit = "cpu-ns/op"

// unit returns the unit of comparison of a benchmark.
func (s *Suite) unit(bench string) string {
	switch w := s.Works[bench]; {
	case w.Unit != "":
		return w.Unit
	case s.busy && !w.Waits:
		return busyUnit
	}
	return "ns/op"
}

// Peer does the work: Locus in one of its variants, another program, or the minimum cost of the work.
type Peer struct {
	// Key follows peer= in a benchmark's name. It must not end in a dash and a number.
	Key   string
	Title string
	Note  string
	// Floor marks the minimum cost: a goal limits how much slower Locus may be.
	Floor bool
}

// Goal is a target for one of our figures.
type Goal struct {
	Bench string
	Ours  string // the key of a Peer
	// Than is the benchmark of the peer. Defaults to Bench.
	Than    string
	Against Rival
	// Ratio is the minimum of theirs / ours, or for a floor the maximum of ours / floor.
	Ratio float64
	// AtMost is the maximum of our figure, in its unit, and replaces Ratio. Such a goal needs no rival.
	AtMost float64
	// NoAllocs also requires zero allocations.
	NoAllocs bool
	// Many is for more than one goroutine.
	Many bool
}

// Rival selects the peer of a goal: of those that fit, the one with the smallest ratio.
type Rival struct {
	Title string // if several fit
	Fits  func(key string) bool
}

// Only returns the rival with this key.
func Only(key string) Rival {
	return Rival{Fits: func(k string) bool { return k == key }}
}

// peer returns the peer with a key; an unknown one is shown by its key.
func (s *Suite) peer(key string) Peer {
	if i := s.rank(key); i >= 0 {
		return s.Peers[i]
	}
	return Peer{Key: key, Title: key}
}

func (s *Suite) rank(key string) int {
	return slices.IndexFunc(s.Peers, func(p Peer) bool { return p.Key == key })
}

// result is a row of the first table.
type result struct {
	Goal
	goroutines   int
	peer         Peer
	theirs, mine series // medians of the invocations
	allocs       float64
	ratios       series
}

func (r result) reached() bool {
	switch {
	case r.NoAllocs && r.allocs > 0:
		return false
	case r.AtMost > 0:
		return r.mine.median() <= r.AtMost
	case r.peer.Floor:
		return r.ratios.median() <= r.Ratio
	default:
		return r.ratios.median() >= r.Ratio
	}
}

// results compares the measurements with each goal. A goal has a row for each number of goroutines, and none if one
// side was not measured.
func (s *Suite) results(r runs) (all []result) {
	for _, g := range s.Goals {
		for i, cpu := range r.cpus(g.Bench) {
			wanted := i == 0
			if g.Many {
				wanted = cpu > 1
			}
			if one, ok := s.result(r, g, cpu); ok && wanted {
				all = append(all, one)
			}
		}
	}
	return all
}

func (s *Suite) result(r runs, g Goal, cpu int) (result, bool) {
	if g.Than == "" {
		g.Than = g.Bench
	}
	unit := s.unit(g.Bench)
	ours := measured{g.Bench, g.Ours, cpu}
	res := result{Goal: g, goroutines: cpu, mine: r.values(ours, unit), allocs: r.allocs(ours)}
	if g.Against.Fits == nil {
		return res, len(res.mine) > 0
	}
	for _, p := range s.Peers {
		if !g.Against.Fits(p.Key) {
			continue
		}
		theirs := measured{g.Than, p.Key, cpu}
		ratios := r.ratios(theirs, ours, unit)
		if p.Floor {
			ratios = r.ratios(ours, theirs, unit)
		}
		if len(ratios) > 0 && (len(res.ratios) == 0 || ratios.median() < res.ratios.median()) {
			res.peer, res.theirs, res.ratios = p, r.values(theirs, unit), ratios
		}
	}
	return res, len(res.ratios) > 0
}
