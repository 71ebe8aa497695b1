// SPDX-License-Identifier: Apache-2.0

package eval

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/locus-db/locus/internal/learn"
	"github.com/locus-db/locus/match"
)

// wellJoined is the weight from the threshold from which a pair within an entity is no question, as in the review
// queue.
const wellJoined match.Weight = 400

// right is the share of right answers of a judge and of people who err.
const right = 0.9

// Judged are the figures of entities about which a judge was asked all that is unsure.
type Judged struct {
	Questions int    `json:"questions"`
	Before    Figure `json:"f1_before"` // of the entities without answers
	Precision Figure `json:"precision"`
	Recall    Figure `json:"recall"`
	F1        Figure `json:"f1"`
	// AtRecall is, of given pairs, the best precision at a recall of .80 or more, in the order of the weights and the
	// answers.
	AtRecall float64 `json:"precision_at_recall_80,omitempty"`

	answers map[[2]int]bool // by the records of the pair
}

// answerBits is the weight of an answer as evidence: it is right nine times as often as wrong.
var answerBits = match.Weight(math.Round(100 * math.Log2(right/(1-right))))

// weigh returns a pair's weight with the answer about it as further evidence, if there is one.
func (j *Judged) weigh(c compared) match.Weight {
	same, answered := j.answers[[2]int{c.a, c.b}]
	switch {
	case !answered:
		return c.score
	case same:
		return c.score + answerBits
	}
	return c.score - answerBits
}

// erring returns answers of which one in ten is wrong. Which these are depends on the content of the pair alone.
func (s *set) erring(same func(a, b int) bool) func(a, b int) bool {
	return func(a, b int) bool {
		one, other := s.records[a].Key(), s.records[b].Key()
		hash := xxhash.Sum64String(min(one, other) + "\x00" + max(one, other))
		return same(a, b) == (float64(hash) < right*math.MaxUint64)
	}
}

// judge resolves the compared pairs, and again with the answers of a judge as decisions, until no question is left.
// counts returns the units of the bootstrap for the cluster of every record.
func (s *set) judge(results []compared, same func(a, b int) bool, counts func(cluster []int) []Counts) *Judged {
	answer := s.erring(same)
	compared := s.edges(results)
	edges := slices.Clone(compared) // with decisions
	cluster := s.clusters(edges)
	j := &Judged{answers: map[[2]int]bool{}}
	_, _, j.Before = figures(counts(cluster))
	for {
		questions := s.questions(compared, edges, cluster)
		if len(questions) == 0 {
			j.Precision, j.Recall, j.F1 = figures(counts(cluster))
			return j
		}
		for _, q := range questions {
			j.Questions++
			e := &edges[q]
			e.Weight, e.Decided = match.CannotLink, int64(j.Questions)
			same := answer(e.A, e.B)
			j.answers[[2]int{e.A, e.B}] = same
			if same {
				e.Weight = match.MustLink
			}
		}
		cluster = s.clusters(edges)
	}
}

// questions returns the positions of the edges that locus judge asks about: the best possible match of each two
// entities without a decision between them, and the weakest pair that joins within each entity, below 9 bits, if it is
// not decided. The most informative questions come first. There is one question per entity, because its answer may
// settle the others. decided are the edges with decisions.
func (s *set) questions(edges, decided []match.Edge, cluster []int) []int {
	size, extreme, kept := map[int]int{}, map[[2]int]int{}, map[[2]int]bool{}
	for _, c := range cluster {
		size[c]++
	}
	between := func(e match.Edge) [2]int {
		x, y := cluster[e.A], cluster[e.B]
		return [2]int{min(x, y), max(x, y)}
	}
	threshold := s.matcher.Threshold()
	for i, e := range edges {
		of := between(e)
		joined := of[0] == of[1]
		if decided[i].Decided != 0 && !joined {
			kept[of] = true
		}
		if joined != (e.Weight >= threshold) || e.Weight < 0 || e.Weight >= threshold+wellJoined {
			continue
		}
		was, some := extreme[of]
		if by := cmp.Compare(e.Weight, edges[was].Weight); !some || joined && by < 0 || !joined && by > 0 || by == 0 && s.before(e, edges[was]) {
			extreme[of] = i
		}
	}
	bits := map[int]float64{}
	var asked []int
	for of, i := range extreme {
		if kept[of] || decided[i].Decided != 0 {
			continue
		}
		settles := size[of[0]] * size[of[1]]
		if of[0] == of[1] {
			settles = size[of[0]] - 1
		}
		asked, bits[i] = append(asked, i), learn.Bits(float64(edges[i].Weight-threshold)/100, settles)
	}
	slices.SortFunc(asked, func(i, j int) int {
		if by := cmp.Compare(bits[j], bits[i]); by != 0 || i == j {
			return by
		}
		if s.before(edges[i], edges[j]) {
			return -1
		}
		return 1
	})
	busy := map[int]bool{}
	return slices.DeleteFunc(asked, func(i int) bool {
		of := between(edges[i])
		if busy[of[0]] || busy[of[1]] {
			return true
		}
		busy[of[0]], busy[of[1]] = true, true
		return false
	})
}

// before orders pairs by their content.
func (s *set) before(x, y match.Edge) bool {
	ends := func(e match.Edge) string {
		a, b := s.records[e.A].Key(), s.records[e.B].Key()
		return min(a, b) + "\x00" + max(a, b)
	}
	return strings.Compare(ends(x), ends(y)) < 0
}

// countClusters returns the units of clusters, as judgeClusters counts them.
func countClusters(cluster []int, truth []string) []Counts {
	type cell struct {
		cluster int
		truth   string
	}
	unit := map[string]int{}
	for _, t := range truth {
		if _, ok := unit[t]; !ok {
			unit[t] = len(unit)
		}
	}
	units := make([]Counts, len(unit))
	together, same, both := map[int]int{}, map[string]int{}, map[cell]int{} // of the later rows
	for i := len(truth) - 1; i >= 0; i-- {
		c, t := cluster[i], truth[i]
		found := both[cell{c, t}]
		units[unit[t]].add(Counts{found, together[c] - found, same[t] - found})
		together[c]++
		same[t]++
		both[cell{c, t}]++
	}
	return units
}

// countAcross returns the units of pairs across two tables, as judgeTables counts them.
func countAcross(cluster []int, truth map[[2]int]bool, left int) []Counts {
	units := make([]Counts, left)
	rights := map[int][]int{}
	for j := left; j < len(cluster); j++ {
		rights[cluster[j]] = append(rights[cluster[j]], j)
	}
	for i := range left {
		for _, j := range rights[cluster[i]] {
			units[i].add(decided(true, truth[[2]int{i, j}]))
		}
	}
	for p := range truth {
		if cluster[p[0]] != cluster[p[1]] {
			units[p[0]].FalseNegative++
		}
	}
	return units
}

// sameThings returns whether records are connected by true pairs.
func sameThings(n int, truth map[[2]int]bool) func(a, b int) bool {
	edges := make([]match.Edge, 0, len(truth))
	for p := range truth {
		edges = append(edges, match.Edge{A: p[0], B: p[1]})
	}
	of, _ := match.Components(n, edges, 0)
	return func(a, b int) bool { return of[a] == of[b] }
}
