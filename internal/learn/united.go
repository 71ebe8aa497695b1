// SPDX-License-Identifier: Apache-2.0

package learn

import "github.com/locus-db/locus/match"

// unites returns, for the pairs of things that a table of weights joins, the share where both sides have several
// records, and the share expected for random pairs of things. The things are the components of the current matches. Few
// pairs give no result.
func (l *model) unites(today, learned []bool) (share, chance float64) {
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
	joined := map[[2]int]bool{}
	united := 0
	for i, p := range l.pairs {
		a, b := of[p[0]], of[p[1]]
		things := [2]int{min(a, b), max(a, b)}
		if !learned[i] || a == b || joined[things] {
			continue
		}
		joined[things] = true
		if records[a] > 1 && records[b] > 1 {
			united++
		}
	}
	if united < fewest {
		return 0, 0
	}
	chance = float64(several) / float64(len(records))
	return float64(united) / float64(len(joined)), chance * chance
}
