// SPDX-License-Identifier: Apache-2.0

package learn

import "github.com/locus-db/locus/match"

// unites sets United, Chance and Opposed of a draft: what is known of the pairs of things that the learned weights join.
// The things are the components of the current matches. Few pairs give no result.
func (l *model) unites(d *Draft, today, learned []bool) {
	var edges []match.Edge
	for i, p := range l.pairs {
		if today[i] {
			edges = append(edges, match.Edge{A: p[0], B: p[1], Weight: match.Threshold})
		}
	}
	of, _ := match.Components(len(l.records), edges, match.Threshold)
	records := map[int]int{}
	for _, thing := range of {
		records[thing]++
	}
	several := 0
	for _, n := range records {
		if n > 1 {
			several++
		}
	}
	joined, opposed := map[[2]int]bool{}, map[[2]int]bool{}
	for i, p := range l.pairs {
		a, b := of[p[0]], of[p[1]]
		things := [2]int{min(a, b), max(a, b)}
		joined[things] = joined[things] || learned[i] && a != b
		opposed[things] = opposed[things] || l.opposed(l.vectors[i])
	}
	all, united, differ := 0.0, 0, 0
	for things, is := range joined {
		if !is {
			continue
		}
		all++
		if records[things[0]] > 1 && records[things[1]] > 1 {
			united++
		}
		if opposed[things] {
			differ++
		}
	}
	if united >= fewest {
		chance := float64(several) / float64(len(records))
		d.United, d.Chance = float64(united)/all, chance*chance
	}
	if differ >= fewOpposed {
		d.Opposed = float64(differ) / all
	}
}

// opposed reports whether identifiers of two records differ.
func (l *model) opposed(v match.Vector) bool {
	for f := range l.fields {
		if l.fields[f].Levels[v.Level(f)].Contradicts {
			return true
		}
	}
	return false
}
