// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/locus-db/locus/match"
)

const (
	// perRecord and mostRandom bound the number of pairs drawn for the shares among different things.
	perRecord, mostRandom = 100, 200_000
	// rounds of expectation maximisation. The weights of the sets in docs/quality.md settle within ten.
	rounds = 15
	// spread is the standard deviation, in bits, of a learned weight around today's weight, before any pair is seen.
	spread = 2
	// anchor is the share of today's weights in the judgement of a pair while the new weights are fitted.
	anchor = 0.8
	// fewest is the number of matches with evidence in a field below which the field keeps its weights.
	fewest = 10
	// telling is how many bits a word that tells things apart stays below equal titles, at least.
	telling = 5
)

// Draft is a kind with learned weights.
type Draft struct {
	// Schema is the kind with the learned prior and weights.
	Schema *match.Schema `json:"-"`
	// Prior is today's prior.
	Prior match.Weight `json:"prior_today"`
	// Levels are the learned weights and today's weights, by field.
	Levels []Level `json:"levels"`
	// Pairs is the number of candidates, Matches how many of them match by the learned weights, Known by today's
	// weights.
	Pairs   int `json:"pairs"`
	Matches int `json:"matches"`
	Known   int `json:"matches_today"`
	// Seen is the number of levels that the matches have.
	Seen int `json:"levels_seen"`
	// Today and Learned estimate the matches of both tables from the candidates, without labels; see the package
	// comment.
	Today   Quality `json:"today"`
	Learned Quality `json:"learned"`
	// Gain is the F1 of Learned minus that of Today, Error its standard error.
	Gain  float64 `json:"gain"`
	Error float64 `json:"error"`
	// NamesAlone reports whether the matches have evidence in the lines of the name only. Those come from one value and
	// depend on each other, so the fit takes most names that share a word for matches.
	NamesAlone bool `json:"names_alone"`
	// Contradicted is the share of the estimated matches that the current weights call different.
	Contradicted float64 `json:"contradicted"`
	// The learned weights join pairs of today's things. United is the share of these pairs where both things have
	// several records, Chance the share for random pairs. A record that was missed is mostly alone. Two things whose
	// own records agree with each other differ by more than slips.
	United float64 `json:"united"`
	Chance float64 `json:"united_by_chance"`
	// Opposed is the share of these pairs whose records have different identifiers, such as two tax numbers.
	Opposed float64 `json:"opposed"`
	// Stable is the agreement of two drafts that are learned from one half of the candidates each: the matches of both
	// as a share of the matches of either.
	Stable float64 `json:"stable"`
}

// Level is the evidence for the weight of one level.
type Level struct {
	Field  string       `json:"field"`
	Text   string       `json:"level"`
	Before match.Weight `json:"today"`
	After  match.Weight `json:"learned"`
	// Match and Random are m and u: the shares of the level among the matches and among the random pairs that have
	// evidence in the field.
	Match  float64 `json:"of_matches"`
	Random float64 `json:"of_random_pairs"`
}

// table is a count or a weight for each level of each field.
type table [][]float64

func (m *model) table() table {
	t := make(table, len(m.fields))
	for f := range t {
		t[f] = make([]float64, len(m.fields[f].Levels))
	}
	return t
}

func (t table) add(v match.Vector, n float64) {
	for f := range t {
		t[f][v.Level(f)] += n
	}
}

// evidence returns the number of pairs with evidence in a field.
func (t table) evidence(f int) (n float64) {
	for _, of := range t[f][1:] {
		n += of
	}
	return n
}

// weights are a prior and the weight of each level, in bits.
type weights struct {
	prior  float64
	levels table
}

func (w *weights) of(v match.Vector) float64 {
	sum := w.prior
	for f := range w.levels {
		sum += w.levels[f][v.Level(f)]
	}
	return sum
}

// group is the candidates with one vector.
type group struct {
	vector match.Vector
	today  float64    // weight
	pairs  [2]float64 // number of them in each half
}

// model holds what the fit reads.
type model struct {
	matcher *match.Matcher
	records []*match.Record
	fields  []match.Field
	pairs   [][2]int             // candidates
	vectors []match.Vector       // of the candidates
	of      map[match.Vector]int // group by vector
	groups  []group
	today   weights
	random  table
}

// Weights fits the prior and the weights of the matcher's kind to the records, which the matcher has normalised. It
// compares every candidate (match.Candidates) and 100 random pairs for each record, up to 200,000, and keeps the
// vectors of the candidates in memory: 24 bytes each.
func Weights(m *match.Matcher, records []*match.Record) *Draft {
	l := newModel(m, records)
	learned, matches := l.fit(1, 1)
	first, _ := l.fit(1, 0)
	second, _ := l.fit(0, 1)
	d := l.draft(learned, matches)
	l.judge(d, matches, first, second)
	return d
}

func newModel(m *match.Matcher, records []*match.Record) *model {
	l := &model{matcher: m.Thorough(), records: slices.Clone(records)}
	slices.SortFunc(l.records, func(a, b *match.Record) int {
		return match.NodeKey{Source: a.Source(), Key: a.Key()}.Compare(match.NodeKey{Source: b.Source(), Key: b.Key()})
	})
	l.fields = l.matcher.Fields()
	l.today = weights{float64(m.Prior()) / 100, l.table()}
	for f := range l.fields {
		for n, level := range l.fields[f].Levels {
			l.today.levels[f][n] = float64(level.Weight) / 100
		}
	}
	l.pairs = match.Candidates(l.records)
	l.of = map[match.Vector]int{}
	for n, p := range l.pairs {
		v := l.compare(p[0], p[1])
		l.vectors = append(l.vectors, v)
		i, seen := l.of[v]
		if !seen {
			i = len(l.groups)
			l.of[v] = i
			l.groups = append(l.groups, group{vector: v, today: float64(l.matcher.Sum(v)) / 100})
		}
		l.groups[i].pairs[n%2]++
	}
	l.random = l.table()
	if len(records) < 2 {
		return l
	}
	drawn := rand.New(rand.NewPCG(1969, 1183))
	for range min(perRecord*len(records), mostRandom) {
		a, b := drawn.IntN(len(records)), drawn.IntN(len(records)-1)
		if b >= a {
			b++
		}
		// A random pair that is a match today would count as a difference.
		if v := l.compare(a, b); l.matcher.Sum(v) < m.Threshold() {
			l.random.add(v, 1)
		}
	}
	return l
}

func (l *model) compare(a, b int) match.Vector {
	return l.matcher.Compare(l.records[a], l.records[b])
}

// fit learns from the two halves of the candidates, weighed by first and second. It also returns the number of matches
// by level.
func (l *model) fit(first, second float64) (weights, table) {
	n := float64(len(l.records))
	all := n * (n - 1) / 2 * (first + second) / 2
	w, matches := l.today, l.table()
	for round := range rounds {
		matches = l.table()
		found := 0.0
		for _, g := range l.groups {
			bits := g.today
			if round > 0 {
				bits = anchor*g.today + (1-anchor)*w.of(g.vector)
			}
			p := (g.pairs[0]*first + g.pairs[1]*second) / (1 + math.Exp2(-bits))
			matches.add(g.vector, p)
			found += p
		}
		// Half a match and half a difference more than were counted keep the odds finite.
		w = weights{math.Log2((found + .5) / (max(all-found, 0) + .5)), l.table()}
		for f := range l.fields {
			l.weigh(f, matches, w.levels[f])
		}
	}
	return w, matches
}

// weigh sets the weights of a field to the mean of the counted and the expected weight, each weighed by its certainty.
// The expected weight is today's. Levels in favour of a match are expected to move together: if agreement means more
// than today, it does so also at a level that no pair has yet.
func (l *model) weigh(f int, matches table, to []float64) {
	copy(to, l.today.levels[f])
	if l.fields[f].Fixed || matches.evidence(f) < fewest {
		return
	}
	const known = spread * spread
	counted, noise := make([]float64, len(to)), make([]float64, len(to))
	moved, certain := 0.0, 1.0/known
	for level := 1; level < len(to); level++ {
		counted[level], noise[level] = ratio(f, level, matches, l.random)
		if to[level] > 0 {
			moved += (counted[level] - to[level]) / (known + noise[level])
			certain += 1 / (known + noise[level])
		}
	}
	for level := 1; level < len(to); level++ {
		if keeps(l.fields[f].Levels[level]) {
			continue
		}
		expected := to[level]
		if expected > 0 {
			expected += moved / certain
		}
		to[level] = (counted[level]*known + expected*noise[level]) / (known + noise[level])
		l.keepApart(f, level, to)
	}
}

// keepApart keeps identifiers that differ at least as much evidence as today, and a word that tells things apart far
// below titles that are equal. Only things that were taken for one without it would weaken it, such as the variants of
// a catalogue.
func (l *model) keepApart(f, level int, to []float64) {
	of := l.fields[f].Levels[level]
	if of.Contradicts {
		to[level] = min(to[level], l.today.levels[f][level])
	}
	if of.Below > 0 {
		to[level] = min(to[level], to[of.Below]-telling)
	}
}

// ratio returns the weight that the counts of a level give, and its variance. Half a pair more than was counted keeps
// it finite.
func ratio(f, level int, matches, others table) (bits, variance float64) {
	m, u := matches[f][level]+.5, others[f][level]+.5
	bits = math.Log2(m/(matches.evidence(f)+1)) - math.Log2(u/(others.evidence(f)+1))
	return bits, (1/m + 1/u) / (math.Ln2 * math.Ln2) // of the logarithm of a ratio of counts
}
