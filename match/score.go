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

// field is one line of a comparison: what was compared, not an attribute, since
// some lines look at several of them.
type field uint8

const (
	fieldName field = iota
	fieldResidual
	fieldPhone
	fieldAddress
	fieldDistance
	fieldPostcode
	fieldCity
	fieldCategory
	fieldWeb
	fieldEmail
	fieldID
	fieldSource
	fieldCount
)

// level is how well two records agree in a field; higher levels never weigh
// less. Level 0 says nothing: a side has no value.
type level uint8

const levelNone level = 0

// The levels of every field, in the order of their bits.
const (
	nameNone level = 1 + iota
	nameHardly
	nameLittle
	nameHalf
	nameMost
	nameAll
	nameExactRare
	nameChain      // a chain's name, and other evidence of the spot
	nameChainAlone // a chain's name and nothing that names the spot
	nameSkipped    // the other fields rule it out, whatever the names
)

const (
	residualNumbers level = 1 + iota
	residualRare
	residualPart
	residualSomething
	residualNothing
)

const (
	phoneDifferent level = 1 + iota
	phoneOneOff
	phoneSeven
	phoneEqual
)

const (
	addressDifferent level = 1 + iota
	addressOtherNumber
	addressPartly
	addressStreet
	addressNumber
	addressBoth
)

const (
	distanceFar level = 1 + iota
	distance2500
	distance700
	distance250
	distance100
	distance30
)

const (
	postcodeDifferent level = 1 + iota
	postcodeNear
	postcodeEqual
)

const (
	cityDifferent level = 1 + iota
	cityContained
	cityEqual
)

const (
	categoryDifferent level = 1 + iota
	categoryOverlap
	categoryFirst
)

const (
	webDifferent level = 1 + iota
	webDomain
	webPage
)

const emailEqual level = 1

const (
	idDifferent level = 1 + iota
	idEqual
)

const sourceDeduplicated level = 1

// grade is a level's word and bits.
type grade struct {
	word string
	bits Score
}

// table is the fixed scoring table: one for all data, nothing trained. The
// first grade of a field is level 0.
var table = [fieldCount][]grade{
	fieldName: {{}, {"different", -700}, {"hardly alike", -350}, {"a little alike", -100}, {"half alike", 200},
		{"mostly alike", 450}, {"alike", 650}, {"equal and rare", 900}, {"a chain's name", 450}, {"a chain's name, the spot unknown", -400},
		{"not compared, the rest rules it out", 0}},
	fieldResidual: {{}, {"numbers differ", -600}, {"both keep a rare word", -500}, {"one keeps a part's word", -250},
		{"one keeps a word", -30}, {"nothing is left over", 30}},
	fieldPhone: {{}, {"different", -350}, {"one digit off", 200}, {"last seven digits equal", 250}, {"equal", 900}},
	fieldAddress: {{}, {"different", -450}, {"same street, other number", -300}, {"partly alike", -100},
		{"same street", 200}, {"same number", 400}, {"street and number equal", 650}},
	fieldDistance: {{}, {"over 2.5 km", -900}, {"under 2.5 km", -600}, {"under 700 m", -200}, {"under 250 m", 50},
		{"under 100 m", 250}, {"under 30 m", 400}},
	fieldPostcode: {{}, {"different", -200}, {"first three equal", 0}, {"equal", 150}},
	fieldCity:     {{}, {"different", -150}, {"one contains the other", 50}, {"equal", 100}},
	fieldCategory: {{}, {"different", -70}, {"overlapping", 30}, {"first equal", 70}},
	fieldWeb:      {{}, {"different", -150}, {"same domain", 250}, {"same page", 500}},
	fieldEmail:    {{}, {"equal", 400}},
	fieldID:       {{}, {"different", -10000}, {"equal", 900}},
	fieldSource:   {{}, {"one source that lists nothing twice", -10000}},
}

// fieldNames are the names of the lines of an explanation.
var fieldNames = [fieldCount]string{"name", "name residual", "phone", "address", "distance", "postcode", "city",
	"category", "web", "email", "id", "source"}

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
