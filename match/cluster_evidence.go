// SPDX-License-Identifier: Apache-2.0

package match

// compared is the comparison of two groups without an edge.
type compared struct {
	weight Weight
	vector Vector
}

// evidence is what the pairs across two clusters say about joining them.
type evidence struct {
	matcher   *Matcher
	pairs     int
	weights   int // of all pairs
	relations int // pairs that are a relation
	lines     [fieldCount]struct{ sum, pairs int }
	unknown   bool // only the weight of a pair is known
}

// add adds a pair. known reports whether v is the comparison that w is of.
func (g *evidence) add(w Weight, v Vector, known bool) {
	g.pairs++
	g.weights += int(min(max(w, CannotLink), MaxWeight))
	switch {
	case g.matcher == nil || !known:
		g.unknown = true
		return
	case g.matcher.Decide(v).Relation():
		g.relations++
		return
	}
	for f := range fieldCount {
		if l := v.level(f); l != levelNone && (f != fieldName || l != nameSkipped) {
			g.lines[f].sum += int(g.matcher.weights[f][l])
			g.lines[f].pairs++
		}
	}
}

// absent adds pairs that are not compared.
func (g *evidence) absent(n int) {
	g.pairs += n
	g.weights += n * int(AbsentPair)
	g.unknown = g.unknown || n > 0
}

// sum returns the weight of the evidence: the prior and the mean of each line, or the mean of the pairs if lines are not
// known.
func (g *evidence) sum() Weight {
	if g.matcher == nil || g.unknown {
		return floorMean(g.weights, g.pairs)
	}
	sum := int(g.matcher.prior) + int(floorMean(g.relations*int(AbsentPair), g.pairs))
	for _, line := range g.lines {
		if line.pairs > 0 {
			sum += int(floorMean(line.sum, line.pairs))
		}
	}
	return Weight(max(sum, int(CannotLink)))
}

// floorMean returns sum / n rounded down, so that it is negative if the sum is.
func floorMean(sum, n int) Weight {
	if n == 0 {
		return 0
	}
	mean := sum / n
	if sum < 0 && sum%n != 0 {
		mean--
	}
	return Weight(mean) //nolint:gosec // the mean of weights is one
}
