// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"math"
	"strconv"
)

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

// Sum is the evidence of many pairs, in hundredths of a bit as a Score.
type Sum int

// String answers with the bits and their sign: "+19.70".
func (s Sum) String() string { return fmt.Sprintf("%+.2f", float64(s)/100) }

// MarshalJSON writes the bits as a number: 19.7.
func (s Sum) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(s)/100, 'f', -1, 64), nil
}

// UnmarshalJSON reads a number of bits.
func (s *Sum) UnmarshalJSON(b []byte) error {
	bits, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return err
	}
	*s = Sum(roundHundred(bits))
	return nil
}

// Outcome is what is decided about a pair.
type Outcome uint8

// The outcomes.
const (
	Different Outcome = iota // nothing is stored
	Unsure                   // an edge that does not cluster; a person may decide
	Same                     // an edge that clusters
	// PartOf is a relation and never a merge: one of the two is a part of the other, as the pharmacy in
	// the store is. Vector.Part tells which.
	PartOf
	// CoLocated is a relation and never a merge: two things at one spot.
	CoLocated
)

var outcomes = [...]string{Different: "different", Unsure: "unsure", Same: "same", PartOf: "part_of", CoLocated: "co_located"}

// String answers with "different", "unsure", "same", "part_of" or "co_located".
func (o Outcome) String() string { return outcomes[o] }

// MarshalText writes the word of String.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Relation tells whether the two are different things that have to do with each other.
func (o Outcome) Relation() bool { return o == PartOf || o == CoLocated }

// Vector is the outcome of a comparison: the level of every field, four bits
// each. It is all that an edge stores, and all that an explanation needs.
type Vector uint64

func (v Vector) level(f field) level { return level(v >> (4 * f) & 15) }

func (v *Vector) set(f field, l level) { *v |= Vector(l) << (4 * f) }

func (v *Vector) put(f field, l level) { *v &^= 15 << (4 * f); v.set(f, l) }

// Score is the sum of the bits of the levels, but below the threshold for a pair in which nothing names the thing:
// many things stand at one address, and share its city and its coordinates.
func (m *Matcher) Score(v Vector) Score {
	sum := m.sum(v)
	if sum >= m.threshold && !m.named(v) {
		return m.threshold - 1
	}
	return sum
}

// sum adds up the bits of the levels.
func (m *Matcher) sum(v Vector) Score {
	var sum int32
	for f := range fieldCount {
		sum += int32(m.bits[f][v.level(f)])
	}
	return Score(max(sum, math.MinInt16)) // two identifiers that differ, and more
}

// naming are the fields that tell one thing from the others at its address. fieldResidual holds the given names of a
// person; a date of birth is here, since few people of one house share it.
var naming = [...]field{fieldName, fieldResidual, fieldPhone, fieldWeb, fieldEmail, fieldID, fieldDate}

// named reports whether the two agree in a field that names the thing. Records of a kind that has no such field are
// named by their address.
func (m *Matcher) named(v Vector) bool {
	for _, f := range naming {
		if m.bits[f][v.level(f)] > 0 {
			return true
		}
	}
	return !m.names
}

// Decide answers with what a comparison means for its pair.
func (m *Matcher) Decide(v Vector) Outcome {
	switch v.level(fieldRelation) {
	case relationFirstPart, relationSecondPart:
		return PartOf
	case relationCoLocated:
		return CoLocated
	}
	switch s := m.Score(v); {
	case s >= m.threshold:
		return Same
	case s >= 0:
		return Unsure
	default:
		return Different
	}
}

// Weight is what a pair that is not Different weighs when clusters are joined: its score, and
// AbsentPair if it is a relation.
func (m *Matcher) Weight(v Vector) Score {
	if m.Decide(v).Relation() {
		return AbsentPair
	}
	return m.Score(v)
}

// Part tells, of the vector of a pair that is PartOf, whether the first record by (source, key) is
// the part; else the second is.
func (v Vector) Part() (first bool) { return v.level(fieldRelation) == relationFirstPart }
