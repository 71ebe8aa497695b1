// SPDX-License-Identifier: Apache-2.0

package dedupe

import (
	"maps"
	"slices"

	"github.com/locus-db/locus/match"
)

// Matches returns the pairs of records that match by their weights, as positions, the smaller one as A. Of identical
// records of one source it takes two, which show that the source lists a thing twice.
func Matches(m *match.Matcher, records []*match.Record) (pairs []Pair) {
	leads, equal := match.Leaders(records), map[int][]int{}
	for i, lead := range leads {
		of := equal[lead]
		if n := len(of); n < 2 || records[of[n-2]].Source() != records[i].Source() {
			equal[lead] = append(of, i)
		}
	}
	add := func(one, two []int) {
		for _, i := range one {
			for _, j := range two {
				if v := m.Compare(records[i], records[j]); m.Decide(v) == match.Same {
					pairs = append(pairs, Pair{A: min(i, j), B: max(i, j), Weight: m.Sum(v)})
				}
			}
		}
	}
	for _, p := range match.Candidates(records) {
		if leads[p[1]] == p[1] {
			add(equal[p[0]], equal[p[1]])
		}
	}
	for i, lead := range leads {
		if of := equal[i]; i == lead {
			for n := range of {
				add(of[:n], of[n:n+1])
			}
		}
	}
	return pairs
}

const (
	// fewApart is the number of pairs of neighbours below which they may be mistakes.
	fewApart = 3
	// mostRows is the share of rows in pairs of one source above which the source is taken to repeat itself.
	mostRows = .4
)

// ListOnce returns the sources that list nothing twice, in their order, judging by the pairs of records that match. Two
// records of one source that match are one thing, or neighbours, such as two models of a catalogue. Records of one thing
// have the same partner in another source; neighbours have one each. A source lists nothing twice if at least half as
// many of its pairs have partners of their own as would have if all were neighbours.
func ListOnce(records []*match.Record, pairs []Pair) (once []string) {
	p := partnersOf(records, pairs)
	for _, source := range p.sources {
		apart, expected, own := 0.0, 0.0, map[int]bool{}
		for _, pair := range p.within[source] {
			own[pair.A], own[pair.B] = true, true
			a, e := p.apart(source, pair)
			apart, expected = apart+a, expected+e
		}
		if apart >= fewApart && 2*apart >= expected && float64(len(own)) <= mostRows*float64(p.rows[source]) {
			once = append(once, source)
		}
	}
	return once
}

// partners are the matches of records in other sources than their own.
type partners struct {
	sources []string
	rows    map[string]int          // records by source
	within  map[string][]Pair       // pairs of one source
	weight  map[[2]int]match.Weight // of these
	best    map[place]Pair          // the best match of a record in a source, as B
	matched map[[2]string]int       // records of one source with a match in another
}

// place is a record and another source.
type place struct {
	record int
	source string
}

func partnersOf(records []*match.Record, pairs []Pair) *partners {
	p := &partners{rows: map[string]int{}, within: map[string][]Pair{}, weight: map[[2]int]match.Weight{},
		best: map[place]Pair{}, matched: map[[2]string]int{}}
	for _, r := range records {
		p.rows[r.Source()]++
	}
	p.sources = slices.Sorted(maps.Keys(p.rows))
	for _, pair := range pairs {
		a, b := records[pair.A].Source(), records[pair.B].Source()
		if a == b {
			p.within[a] = append(p.within[a], pair)
			p.weight[[2]int{pair.A, pair.B}] = pair.Weight
			continue
		}
		p.add(a, b, pair)
		p.add(b, a, Pair{pair.B, pair.A, pair.Weight})
	}
	return p
}

func (p *partners) add(from, to string, pair Pair) {
	at := place{pair.A, to}
	best, known := p.best[at]
	if !known {
		p.matched[[2]string{from, to}]++
	}
	if !known || pair.Weight > best.Weight || pair.Weight == best.Weight && pair.B < best.B {
		p.best[at] = pair
	}
}

// apart returns the share of the other sources with partners of a pair where each record has one of its own, and the
// share expected of neighbours.
func (p *partners) apart(source string, pair Pair) (share, expected float64) {
	seen := 0.0
	for _, other := range p.sources {
		a, one := p.best[place{pair.A, other}]
		b, two := p.best[place{pair.B, other}]
		if !one && !two {
			continue
		}
		seen++
		// both have a partner, of those that have at least one, if neighbours have partners as often as other records
		has := float64(p.matched[[2]string{source, other}]) / float64(p.rows[source])
		expected += has / (2 - has)
		if one && two && p.differ(pair, a, b) {
			share++
		}
	}
	if seen == 0 {
		return 0, 0
	}
	return share / seen, expected / seen
}

// differ reports whether two partners are different things. Partners that match are nevertheless neighbours as well if
// each matches its own record better than the other partner does, and better than the records match each other.
func (p *partners) differ(pair, a, b Pair) bool {
	weight, known := p.weight[[2]int{min(a.B, b.B), max(a.B, b.B)}]
	return a.B != b.B && (!known || min(a.Weight, b.Weight) > max(pair.Weight, weight))
}
