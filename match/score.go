// SPDX-License-Identifier: Apache-2.0

package match

import "strconv"

// Score is the weight of evidence that two records speak of one thing, in
// hundredths of a bit: the base-2 logarithm of how many times likelier the
// observed agreement is if they do. Integers make a sum independent of its order.
type Score int16

const (
	// Threshold is the score at which two records are one thing: T in the design.
	Threshold Score = 500
	// CannotLink is the score at and below which two records are never in one
	// cluster, whatever else speaks for it.
	CannotLink Score = -8000
)

// String answers with the bits and their sign: "+19.70".
func (s Score) String() string {
	if s >= 0 {
		return "+" + strconv.FormatFloat(float64(s)/100, 'f', 2, 64)
	}
	return strconv.FormatFloat(float64(s)/100, 'f', 2, 64)
}

// MarshalJSON writes the bits as a number: 19.7.
func (s Score) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(s)/100, 'f', -1, 64), nil
}

// UnmarshalJSON reads a number of bits.
func (s *Score) UnmarshalJSON(b []byte) error {
	bits, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return err
	}
	*s = Score(roundHundred(bits))
	return nil
}

func roundHundred(bits float64) float64 {
	if bits < 0 {
		return float64(int(bits*100 - 0.5))
	}
	return float64(int(bits*100 + 0.5))
}

// Outcome is what a score decides about a pair. Relations between two things,
// such as a shop inside a mall, will join the list.
type Outcome uint8

// The outcomes.
const (
	Different Outcome = iota // nothing is stored
	Unsure                   // an edge that does not cluster; a person may decide
	Same                     // an edge that clusters
)

// String answers with "different", "unsure" or "same".
func (o Outcome) String() string {
	switch o {
	case Same:
		return "same"
	case Unsure:
		return "unsure"
	default:
		return "different"
	}
}

// MarshalText writes the word of String.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Vector is the outcome of a comparison: the level of every field, four bits
// each. It is all that an edge stores, and all that an explanation needs.
type Vector uint64

func (v Vector) level(f field) level { return level(v >> (4 * f) & 15) }

func (v *Vector) set(f field, l level) { *v |= Vector(l) << (4 * f) }

// Score is the sum of the bits of the levels.
func (m *Matcher) Score(v Vector) Score {
	var sum Score
	for f := range fieldCount {
		sum += m.bits[f][v.level(f)]
	}
	return sum
}

// Decide answers with what a score means for a pair.
func (m *Matcher) Decide(s Score) Outcome {
	switch {
	case s >= Threshold:
		return Same
	case s >= 0:
		return Unsure
	default:
		return Different
	}
}
