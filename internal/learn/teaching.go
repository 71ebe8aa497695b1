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
	// Settles is how many pairs of records the answer decides, at least 1: all pairs of two entities that it joins.
	Settles int
}

// Taught is a question with the value of its answer.
type Taught struct {
	At   int     // position of the question
	Bits float64 // see Bits
	// Turn is how many turns the question waits for. It does not change when earlier questions are answered and become
	// known.
	Turn int
}

// Pattern returns the levels of a pair as a text. An answer to one pair of a pattern is evidence about the others.
func Pattern(lines []match.Line) string {
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(line.Attribute + "\x00" + line.Level + "\x00")
	}
	return text.String()
}

// Bits returns the expected information of an answer about a pair, from 0 to MostTaught: the uncertainty of the answer,
// which is 1 bit at the threshold and nearly 0 far from it, times the number of doublings of the pairs of records that
// it decides. weight is the weight of the pair above the threshold, in bits.
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

// Teaching orders questions by the expected information of their answers, and leaves out those more than 10 bits from
// the threshold. The first question of each Pattern comes before the second of any, and within a turn they are ordered
// by Bits. A question that decides many pairs of records waits for fewer turns, by the logarithm of their number. known
// is the number of answers to each pattern so far, nil for none.
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
