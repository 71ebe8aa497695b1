// SPDX-License-Identifier: Apache-2.0

package eval

// BCubed holds the B-cubed figures of clusters: for each row, the share of its cluster that belongs to the same thing,
// and the share of the rows of that thing that are in its cluster, averaged over all rows. A large entity weighs as
// much as it has rows, not pairs.
type BCubed struct {
	Precision Figure `json:"precision"`
	Recall    Figure `json:"recall"`
	F1        Figure `json:"f1"`
}

// share holds the sums over the rows of one true entity, in billionths: integer sums do not depend on the order of
// rows.
type share struct {
	precision, recall, rows int64
}

func billionths(part, whole int) int64 { return int64(part) * 1e9 / int64(whole) }

func (s *share) add(t share) {
	s.precision, s.recall, s.rows = s.precision+t.precision, s.recall+t.recall, s.rows+t.rows
}

func (s share) figures() [3]float64 {
	p, r := float64(s.precision)/1e9/float64(s.rows), float64(s.recall)/1e9/float64(s.rows)
	return [3]float64{p, r, 2 * p * r / (p + r)}
}

func bCubed(cluster []int, truth []string) *BCubed {
	type cell struct {
		cluster int
		truth   string
	}
	inCluster, inTruth, inBoth := map[int]int{}, map[string]int{}, map[cell]int{}
	for i, t := range truth {
		inCluster[cluster[i]]++
		inTruth[t]++
		inBoth[cell{cluster[i], t}]++
	}
	unit := map[string]int{}
	for n, t := range sortedKeys(inTruth) {
		unit[t] = n
	}
	units := make([]share, len(unit))
	for i, t := range truth {
		both := inBoth[cell{cluster[i], t}]
		units[unit[t]].add(share{billionths(both, inCluster[cluster[i]]), billionths(both, inTruth[t]), 1})
	}
	var all share
	for _, u := range units {
		all.add(u)
	}
	if all.rows == 0 {
		return nil
	}
	of := bootstrap(len(units), func(drawn func() int) [3]float64 {
		var sum share
		for range units {
			sum.add(units[drawn()])
		}
		return sum.figures()
	}, all.figures())
	return &BCubed{of[0], of[1], of[2]}
}
