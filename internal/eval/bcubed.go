// SPDX-License-Identifier: Apache-2.0

package eval

// BCubed are the figures of clusters from the view of a row: of those that lie with it the share that
// belong there, and of those that belong with it the share that lie there; the mean of all rows. Large
// entities weigh as much as they have rows, and not as much as they have pairs.
type BCubed struct {
	Precision Figure `json:"precision"`
	Recall    Figure `json:"recall"`
	F1        Figure `json:"f1"`
}

// share is the sum of the rows of one true entity.
type share struct {
	precision, recall float64
	rows              int
}

func (s *share) add(t share) {
	s.precision, s.recall, s.rows = s.precision+t.precision, s.recall+t.recall, s.rows+t.rows
}

func (s share) figures() [3]float64 {
	p, r := s.precision/float64(s.rows), s.recall/float64(s.rows)
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
	var units []share
	for i, t := range truth {
		n, ok := unit[t]
		if !ok {
			n = len(units)
			unit[t], units = n, append(units, share{})
		}
		both := float64(inBoth[cell{cluster[i], t}])
		units[n].add(share{both / float64(inCluster[cluster[i]]), both / float64(inTruth[t]), 1})
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
