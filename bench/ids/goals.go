// SPDX-License-Identifier: Apache-2.0

package main

// goal is what one of our figures should reach.
type goal struct {
	bench string
	ours  string // a key of peers
	// than is the benchmark of the peer; the same by default.
	than    string
	against rival
	// ratio is what theirs / ours should reach, or for a floor what ours / floor should not exceed.
	ratio float64
	// noAllocs asks for no allocations too.
	noAllocs bool
	// many is for more than one goroutine.
	many bool
}

// rival is the peer of a goal: of those that fit the one to which the ratio is least.
type rival struct {
	title string // if several fit
	fits  func(peer) bool
}

func only(key string) rival {
	return rival{fits: func(p peer) bool { return p.key == key }}
}

var (
	bestTimed = rival{"best with a time", func(p peer) bool { return p.kind == timed }}
	best36    = rival{"best of 36 characters", func(p peer) bool { return p.chars == 36 && p.kind != own }}
)

// goals in the order of the table.
var goals = []goal{
	{bench: "New", ours: "locus", against: bestTimed, ratio: 1.5, noAllocs: true},
	{bench: "New", ours: "locus", against: only("std-v4"), ratio: 2},
	{bench: "New", ours: "locus", against: only("std-v7"), ratio: 3},
	{bench: "New", ours: "locus", against: only("google-v7"), ratio: 4},
	{bench: "New", ours: "locus", against: bestTimed, ratio: 1.5, noAllocs: true, many: true},
	{bench: "New", ours: "locus-lease", against: bestTimed, ratio: 1.5, noAllocs: true, many: true},
	{bench: "New", ours: "locus-local", against: bestTimed, ratio: 1.5, noAllocs: true, many: true},
	{bench: "Fill", ours: "locus", than: "New", against: bestTimed, ratio: 12, noAllocs: true},
	{bench: "NewIn", ours: "locus", against: only("monotonic"), ratio: 2.5, noAllocs: true},
	{bench: "NewIn", ours: "locus-odd", against: only("monotonic"), ratio: 2.5, noAllocs: true},
	{bench: "String", ours: "locus", against: only("google"), ratio: 1.3},
	{bench: "String", ours: "locus", against: only("gofrs"), ratio: 1.3},
	{bench: "String", ours: "locus", against: only("std"), ratio: 1.3},
	{bench: "StringLocal", ours: "locus", against: only("google"), ratio: 3, noAllocs: true},
	{bench: "AppendText", ours: "locus", against: only("std"), ratio: 1.6, noAllocs: true},
	{bench: "NewString", ours: "locus", against: only("google-v4-pooled"), ratio: 1.5},
	{bench: "NewString", ours: "locus", against: only("std-v4"), ratio: 1.7},
	{bench: "NewString", ours: "locus", against: only("std-v7"), ratio: 2},
	{bench: "Parse", ours: "locus", against: best36, ratio: 1.4, noAllocs: true},
	{bench: "PgxEncode", ours: "locus", against: only("google"), ratio: 20, noAllocs: true},
	{bench: "PgxScan", ours: "locus", against: only("google"), ratio: 5, noAllocs: true},
}

// result is a row of the first table.
type result struct {
	goal
	goroutines   int
	peer         peer
	theirs, mine float64 // nanoseconds, medians of all invocations
	allocs       float64
	ratios       series
}

func (r result) reached() bool {
	if r.noAllocs && r.allocs > 0 {
		return false
	}
	if r.peer.kind == floor {
		return r.ratios.median() <= r.ratio
	}
	return r.ratios.median() >= r.ratio
}

// results compares with each goal what was measured. A goal has a row for each number of goroutines,
// and none if one of the two sides was not measured.
func (r runs) results() (all []result) {
	for _, g := range goals {
		for i, cpu := range r.cpus(g.bench) {
			wanted := i == 0
			if g.many {
				wanted = cpu > 1
			}
			if one, ok := r.result(g, cpu); ok && wanted {
				all = append(all, one)
			}
		}
	}
	return all
}

func (r runs) result(g goal, cpu int) (result, bool) {
	if g.than == "" {
		g.than = g.bench
	}
	ours := measured{g.bench, g.ours, cpu}
	res := result{goal: g, goroutines: cpu, mine: r.ns(ours).median(), allocs: r.allocs(ours)}
	for _, p := range peers {
		if !g.against.fits(p) {
			continue
		}
		theirs := measured{g.than, p.key, cpu}
		ratios := r.ratios(theirs, ours)
		if p.kind == floor {
			ratios = r.ratios(ours, theirs)
		}
		if len(ratios) > 0 && (len(res.ratios) == 0 || ratios.median() < res.ratios.median()) {
			res.peer, res.theirs, res.ratios = p, r.ns(theirs).median(), ratios
		}
	}
	return res, len(res.ratios) > 0
}
