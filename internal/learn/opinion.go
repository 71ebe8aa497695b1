// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"math"
	"slices"

	"github.com/locus-db/locus/match"
)

// mostPartners is the largest share of records that are taken to have a partner in another source. Some have none, or
// the likeliest partner would always be one.
const mostPartners = 0.99

// opinion estimates which candidates match without either table: a latent class model of the candidates alone. Its
// non-matches are candidates, too: blocking found them because they agree in something, so agreement that neighbours
// share weighs little. It begins with today's weights, and a level that few pairs have stays near them.
type opinion struct {
	*model
	group []int32    // of each candidate
	spots [][2]int32 // of both records of each candidate, -1 for none
	sizes []float64  // number of candidates by spot
	pools []int32    // pool by spot
	pool  []float64  // number of spots by pool: records of one source with candidates in another
	match []float64  // probability of each candidate
}

// A spot is a record and another source that describes nothing twice: at most one of its candidates there matches.
type spot struct {
	record int
	source string
}

func (l *model) opinion() *opinion {
	o := &opinion{model: l, match: make([]float64, len(l.pairs))}
	spots, pools := map[spot]int32{}, map[[2]string]int32{}
	for i, p := range l.pairs {
		o.group = append(o.group, int32(l.of[l.vectors[i]]))
		at := [2]int32{-1, -1}
		for side := range at {
			mine, other := l.records[p[side]], l.records[p[1-side]]
			if !other.Deduplicated() || mine.Source() == other.Source() {
				continue
			}
			s, known := spots[spot{p[side], other.Source()}]
			if !known {
				s = int32(len(spots))
				spots[spot{p[side], other.Source()}] = s
				pool, known := pools[[2]string{mine.Source(), other.Source()}]
				if !known {
					pool = int32(len(pools))
					pools[[2]string{mine.Source(), other.Source()}] = pool
					o.pool = append(o.pool, 0)
				}
				o.sizes, o.pools = append(o.sizes, 0), append(o.pools, pool)
				o.pool[pool]++
			}
			o.sizes[s]++
			at[side] = s
		}
		o.spots = append(o.spots, at)
	}
	for i, g := range o.group {
		o.match[i] = likely(l.groups[g].today)
	}
	for range rounds {
		o.round()
	}
	return o
}

func likely(bits float64) float64 { return 1 / (1 + math.Exp2(-bits)) }

// round weighs the levels by the probabilities, and these by the levels.
func (o *opinion) round() {
	found, all := make([]float64, len(o.groups)), float64(len(o.pairs))
	for i, g := range o.group {
		found[g] += o.match[i]
	}
	matches, others, total := o.table(), o.table(), 0.0
	for g, of := range o.groups {
		matches.add(of.vector, found[g])
		others.add(of.vector, of.pairs[0]+of.pairs[1]-found[g])
		total += found[g]
	}
	levels := o.table()
	for f := range levels {
		copy(levels[f], o.today.levels[f])
		if !o.fields[f].Fixed {
			o.weigh(f, matches, others, levels[f])
		}
	}
	prior := math.Log2((total + .5) / (all - total + .5))
	evidence := make([]float64, len(o.groups))
	for g, of := range o.groups {
		evidence[g] = (&weights{0, levels}).of(of.vector)
	}
	o.share(evidence, prior)
}

func (o *opinion) weigh(f int, matches, others table, to []float64) {
	for level := 1; level < len(to); level++ {
		counted, noise := ratio(f, level, matches, others)
		to[level] = (counted*spread*spread + to[level]*noise) / (spread*spread + noise)
		o.keepApart(f, level, to)
	}
}

// share sets the probability of each candidate. Of the candidates of a record in a source that describes nothing twice
// one matches, or none.
func (o *opinion) share(evidence []float64, prior float64) {
	likelihood := make([]float64, len(o.sizes))
	partners := make([]float64, len(o.pool))
	for i, at := range o.spots {
		for _, s := range at {
			if s >= 0 {
				likelihood[s] += math.Exp2(evidence[o.group[i]])
				partners[o.pools[s]] += o.match[i]
			}
		}
	}
	for i, at := range o.spots {
		bits := evidence[o.group[i]]
		p := likely(prior + bits)
		if at != [2]int32{-1, -1} {
			p = 1
		}
		for _, s := range at {
			if s >= 0 {
				some := min(partners[o.pools[s]]/o.pool[o.pools[s]], mostPartners)
				each := some / o.sizes[s]
				p = min(p, each*math.Exp2(bits)/(1-some+each*likelihood[s]))
			}
		}
		o.match[i] = p
	}
}

// taken returns which candidates a table of weights makes matches: the best first, where a record has at most one.
func (o *opinion) taken(m *match.Matcher) []bool {
	score := make([]match.Weight, len(o.groups))
	for g, of := range o.groups {
		if score[g] = math.MinInt16; m.Decide(of.vector) == match.Same {
			score[g] = m.Sum(of.vector)
		}
	}
	var order []int
	for i, g := range o.group {
		if score[g] > math.MinInt16 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(score[o.group[j]], score[o.group[i]]) })
	used, taken := make([]bool, len(o.sizes)), make([]bool, len(o.pairs))
	for _, i := range order {
		at := o.spots[i]
		if at[0] >= 0 && used[at[0]] || at[1] >= 0 && used[at[1]] {
			continue
		}
		for _, s := range at {
			if s >= 0 {
				used[s] = true
			}
		}
		taken[i] = true
	}
	return taken
}

// quality estimates the figures of a table of weights.
func (o *opinion) quality(taken []bool) Quality {
	var same, right, n float64
	for i, p := range o.match {
		same += p
		if taken[i] {
			right += p
			n++
		}
	}
	return Quality{Precision: right / max(n, 1), Recall: right / max(same, 1), F1: 2 * right / max(n+same, 1)}
}

// gain returns the F1 of one table minus that of another, and the standard error. Only candidates that exactly one of
// them accepts count.
func (o *opinion) gain(one, other []bool) (gain, deviation float64) {
	q, r := o.quality(one), o.quality(other)
	both, same, variance := 0.0, 0.0, 0.0
	for i, p := range o.match {
		same += p
		if one[i] {
			both++
		}
		if other[i] {
			both++
		}
		if one[i] != other[i] {
			by := p - (q.F1+r.F1)/4 // a match more raises F1 if it is right with more than half of F1
			variance += p*(1-p) + by*by
		}
	}
	return q.F1 - r.F1, 2 * math.Sqrt(variance) / max(both/2+same, 1)
}
