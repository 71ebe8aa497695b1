// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

// MostTaught is the largest number of bits of a question.
const MostTaught = 9

// Question is a pair that a person can be asked about.
type Question struct {
	Lines []match.Line // of the explanation of the pair
	// Settles is how many pairs of records the answer is about, at least 1: all pairs of two entities that it joins.
	Settles int
}

// Taught is a question and what an answer to it teaches.
type Taught struct {
	At   int     // position of the question
	Bits float64 // see Bits
	// Turn is how many turns the question waits for. It stays the same as questions before it are answered and become known.
	Turn int
}

// Pattern returns the levels of a pair as a text. An answer to one pair of a pattern says much about the others.
func Pattern(lines []match.Line) string {
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(line.Attribute + "\x00" + line.Level + "\x00")
	}
	return text.String()
}

// Bits returns how much an answer about a pair teaches, from 0 to MostTaught: how uncertain the answer is, 1 bit at the
// threshold and nearly 0 far from it, for each doubling of the pairs of records that it settles. weight is the weight of
// the pair from the threshold, in bits.
func Bits(weight float64, settles int) float64 {
	return min(doubt(weight)*doublings(settles), MostTaught)
}

// doubt returns the uncertainty of an answer in bits.
func doubt(weight float64) float64 {
	p := 1 / (1 + math.Exp2(math.Abs(weight))) // 1/2 and less
	if p == 0 {
		return 0
	}
	return -p*math.Log2(p) - (1-p)*math.Log2(1-p)
}

// doublings is 1 for a single pair.
func doublings(settles int) float64 { return math.Log2(1 + float64(max(settles, 1))) }

// Teaching orders questions by how much an answer to each teaches, and leaves out those more than 10 bits from the
// threshold: one of each Pattern before a second one, and among these by Bits. A question that settles many pairs of
// records waits for fewer turns, in proportion to its doublings. known is how many answers there are to each pattern
// already, nil for none.
func Teaching(questions []Question, threshold match.Weight, known map[string]int) []Taught {
	order := make([]Taught, 0, len(questions))
	for i, q := range questions {
		var bits float64
		for _, line := range q.Lines {
			bits += float64(line.Weight) / 100
		}
		if bits -= float64(threshold) / 100; math.Abs(bits) <= sure {
			order = append(order, Taught{At: i, Bits: Bits(bits, q.Settles)})
		}
	}
	slices.SortStableFunc(order, func(a, b Taught) int { return cmp.Compare(b.Bits, a.Bits) })
	turns := map[string]int{}
	for i := range order {
		q := questions[order[i].At]
		of := Pattern(q.Lines)
		order[i].Turn = int(float64(known[of]+turns[of]) / doublings(q.Settles))
		turns[of]++
	}
	slices.SortStableFunc(order, func(a, b Taught) int { return cmp.Compare(a.Turn, b.Turn) })
	return order
}
