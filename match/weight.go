// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"math"
	"strconv"
)

// Weight is a match weight, the evidence that two records describe the same thing, in hundredths of a bit: the base-2
// logarithm of how much more likely the observed agreement is if they do. Integers make sums independent of
// their order.
type Weight int16

const (
	// Threshold is the weight from which two records match: T in the design.
	Threshold Weight = 500
	// CannotLink is the weight at or below which two records are never in one cluster, whatever other
	// evidence there is.
	CannotLink Weight = -8000
)

// String returns the bits with their sign: "+19.70".
func (s Weight) String() string {
	if s >= 0 {
		return "+" + strconv.FormatFloat(float64(s)/100, 'f', 2, 64)
	}
	return strconv.FormatFloat(float64(s)/100, 'f', 2, 64)
}

// MarshalJSON returns the bits as a number: 19.7.
func (s Weight) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(s)/100, 'f', -1, 64), nil
}

// UnmarshalJSON parses a number of bits.
func (s *Weight) UnmarshalJSON(b []byte) error {
	bits, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return err
	}
	*s = Weight(roundHundred(bits))
	return nil
}

func roundHundred(bits float64) float64 {
	if bits < 0 {
		return float64(int(bits*100 - 0.5))
	}
	return float64(int(bits*100 + 0.5))
}

// Sum is the evidence of many pairs, in hundredths of a bit like Sum.
type Sum int

// String returns the bits with their sign: "+19.70".
func (s Sum) String() string { return fmt.Sprintf("%+.2f", float64(s)/100) }

// MarshalJSON returns the bits as a number: 19.7.
func (s Sum) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(s)/100, 'f', -1, 64), nil
}

// UnmarshalJSON parses a number of bits.
func (s *Sum) UnmarshalJSON(b []byte) error {
	bits, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return err
	}
	*s = Sum(roundHundred(bits))
	return nil
}

// Outcome is the decision about a pair.
type Outcome uint8

// The outcomes.
const (
	Different Outcome = iota // no edge is stored
	Possible                 // a possible match: an edge that does not cluster, for clerical review
	Same                     // a match: an edge that clusters
	// PartOf is a relation and never a merge: one thing is a part of the other, like the pharmacy in a
	// store. Vector.Part reports which one.
	PartOf
	// CoLocated is a relation and never a merge: two things at one spot.
	CoLocated
)

var outcomes = [...]string{Different: "different", Possible: "possible", Same: "same", PartOf: "part_of", CoLocated: "co_located"}

// String returns "different", "possible", "same", "part_of" or "co_located".
func (o Outcome) String() string { return outcomes[o] }

// MarshalText returns the text of String.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Relation reports whether the records are related but different things.
func (o Outcome) Relation() bool { return o == PartOf || o == CoLocated }

// Vector is the result of a comparison: the level of every field, four bits each. Source and region have one level
// each and lend three bits to text and people, category and e-mail two to size and colour, and the relation one to the
// shared mailbox and one to the variant. An edge stores only the vector, and an explanation needs nothing else.
type Vector uint64

// place returns the position of a field in a vector.
func (f field) place() (shift field, mask Vector) {
	switch f {
	case fieldSource:
		return 4 * fieldSource, 1
	case fieldText:
		return 4*fieldSource + 1, 7
	case fieldRegion:
		return 4 * fieldRegion, 1
	case fieldPeople:
		return 4*fieldRegion + 1, 7
	case fieldCategory:
		return 4 * fieldCategory, 3
	case fieldSize:
		return 4*fieldCategory + 2, 3
	case fieldEmail:
		return 4 * fieldEmail, 3
	case fieldColour:
		return 4*fieldEmail + 2, 3
	case fieldRelation:
		return 4 * fieldRelation, 3
	case fieldBox:
		return 4*fieldRelation + 2, 1
	case fieldVariant:
		return 4*fieldRelation + 3, 1
	}
	return 4 * f, 15
}

func (v Vector) level(f field) level {
	shift, mask := f.place()
	return level(v >> shift & mask)
}

func (v *Vector) set(f field, l level) {
	shift, _ := f.place()
	*v |= Vector(l) << shift
}

func (v *Vector) put(f field, l level) {
	shift, mask := f.place()
	*v &^= mask << shift
	v.set(f, l)
}

// Sum returns the prior and the sum of the bits of the levels. It stays below the threshold unless a field
// that identifies the thing agrees, because many things share an address, with its city and coordinates.
func (m *Matcher) Sum(v Vector) Weight {
	sum := m.total(v)
	if sum >= m.threshold && !m.named(v) {
		return m.threshold - 1
	}
	return sum
}

// total returns the prior and the bits of the levels, without the rule of Sum.
func (m *Matcher) total(v Vector) Weight {
	sum := int32(m.prior)
	for i := range m.quads {
		sum += int32(m.quads[i][v>>(4*i)&15])
	}
	return Weight(max(sum, math.MinInt16)) // several contradicting identifiers may go below the range
}

// naming are the fields that distinguish things at one address. fieldResidual holds the given names of a
// person; the date of birth is included, because few people in one house share it. A shared mailbox is not.
var naming = [...]field{fieldName, fieldResidual, fieldPhone, fieldWeb, fieldEmail, fieldID, fieldDate}

// Names reports whether an attribute can distinguish things at one address: a name, a phone, a page, a mailbox, an
// identifier, a date. Records of a kind without such an attribute are identified by their address.
func (a Attribute) Names() bool {
	switch a.Type {
	case TypeName, TypePhone, TypeURL, TypeEmail, TypeID, TypeDate:
		return true
	}
	return false
}

// named reports whether an identifying field agrees. Records of a kind without such a field are identified
// by their address.
func (m *Matcher) named(v Vector) bool {
	for _, f := range naming {
		if m.weights[f][v.level(f)] > 0 && (f != fieldEmail || v.level(fieldBox) == levelNone) {
			return true
		}
	}
	return !m.names
}

// Decide returns the outcome for a vector.
func (m *Matcher) Decide(v Vector) Outcome {
	switch v.level(fieldRelation) {
	case relationFirstPart, relationSecondPart:
		return PartOf
	case relationCoLocated:
		return CoLocated
	}
	switch s := m.Sum(v); {
	case s >= m.threshold:
		return Same
	case s >= 0:
		return Possible
	default:
		return Different
	}
}

// Evidence returns the weight of a pair that is not Different when clusters are joined: its weight, or
// AbsentPair for a relation.
func (m *Matcher) Evidence(v Vector) Weight {
	if m.Decide(v).Relation() {
		return AbsentPair
	}
	return m.Sum(v)
}

// Part reports, for a PartOf vector, whether the first record by (source, key) is the part.
func (v Vector) Part() (first bool) { return v.level(fieldRelation) == relationFirstPart }
