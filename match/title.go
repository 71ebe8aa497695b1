// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strconv"
	"strings"
)

// title is the parsed name of a product or a work.
type title struct {
	name     name
	models   []string // words with digits that are not measures: dscw55, sx120, 2600
	measures []measure
	parts    []string // words of accessories: case, battery
}

type measure struct {
	value float64
	unit  string
}

// minModel is the length from which one equal model number is evidence for a match.
const minModel = 4

// parseTitle parses a title. The parts of a hyphenated model number are joined. A number and the unit after
// it form one word.
func parseTitle(terms *TermFrequencies, raw string) title {
	var t title
	if isNothing(fold(raw)) {
		return t
	}
	var words []string
	for chunk := range strings.FieldsFuncSeq(raw, func(r rune) bool { return strings.ContainsRune(" \t\r\n/,;:()[]|\"", r) }) {
		folded := strings.Fields(fold(chunk))
		switch {
		case len(folded) == 0:
		case hasDigit(chunk) && !strings.ContainsAny(chunk, "'&+"):
			if m, ok := parseMeasure(chunk); ok {
				words = t.measure(words, m)
			} else {
				words = append(words, strings.Join(folded, ""))
			}
		case len(words) > 0 && units[folded[0]] != "" && isNumber(words[len(words)-1]):
			value, _ := strconv.ParseFloat(words[len(words)-1], 64)
			words = t.measure(words[:len(words)-1], measure{value, units[folded[0]]})
			words = append(words, folded[1:]...)
		default:
			words = append(words, folded...)
		}
	}
	for _, w := range words {
		switch {
		case accessories[w]:
			t.parts = append(t.parts, w)
		case hasDigit(w) && !isMeasureWord(w) && !slices.Contains(t.models, w):
			t.models = append(t.models, w)
		}
	}
	t.name = parseName(terms, strings.Join(words, " "))
	return t
}

func (t *title) measure(words []string, m measure) []string {
	t.measures = append(t.measures, m)
	return append(words, strconv.FormatFloat(m.value, 'f', -1, 64)+m.unit)
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && digits(strings.ReplaceAll(s, ".", ""))
}

// parseMeasure parses a number followed by a unit: 500GB, 7.2MP.
func parseMeasure(chunk string) (m measure, ok bool) {
	chunk = strings.ToLower(strings.TrimSuffix(chunk, "."))
	i := 0
	for i < len(chunk) && (isDigit(chunk[i]) || chunk[i] == '.') {
		i++
	}
	unit := units[strings.TrimPrefix(chunk[i:], "-")]
	value, err := strconv.ParseFloat(chunk[:i], 64)
	return measure{value, unit}, err == nil && unit != ""
}

func isMeasureWord(w string) bool {
	_, ok := parseMeasure(w)
	return ok
}

func compareTitles(v *Vector, a, b *title) {
	x, y := &a.name, &b.name
	if len(x.tokens) == 0 || len(y.tokens) == 0 || !x.latin && !y.foreign || !y.latin && !x.foreign {
		return
	}
	if x.compact == y.compact {
		v.set(fieldName, exactName(x.total))
		v.set(fieldResidual, residualNothing)
		return
	}
	l := align(x.tokens, y.tokens)
	grade := gradeTokens(x, y, &l)
	rest := compareTitleResiduals(a, b, &l)
	if rest >= residualSomething {
		grade = max(grade, gradeCompact(x, y, grade))
	}
	v.set(fieldName, grade)
	v.set(fieldResidual, rest)
}

// compareTitleResiduals compares model numbers first: they distinguish neighbours in a catalogue whose
// other words are all equal.
func compareTitleResiduals(a, b *title, l *alignment) level {
	agree, differ := compareModels(a.models, b.models)
	switch {
	case slices.ContainsFunc(a.measures, func(m measure) bool { return m.contradicts(b.measures) }):
		return residualNumbers
	case !slices.Equal(a.parts, b.parts) && (missing(a.parts, b.parts) || missing(b.parts, a.parts)):
		return residualPart
	case agree:
		return titleModel
	case differ:
		return residualNumbers
	}
	x, y := residue(a.name.tokens, l.usedA), residue(b.name.tokens, l.usedB)
	switch {
	case x.rare && y.rare, x.any && y.any && l.weight == 0:
		return residualRare
	case x.any || y.any:
		return residualSomething
	}
	return residualNothing
}

// compareModels reports whether two titles share a model number, and whether each has one that the other
// lacks. A number with a suffix of letters, such as a colour, is the same number.
func compareModels(a, b []string) (agree, differ bool) {
	same := func(x, y string) bool {
		return x == y || min(len(x), len(y)) >= minModel && (suffixed(x, y) || suffixed(y, x))
	}
	left := func(from, to []string) bool {
		return slices.ContainsFunc(from, func(x string) bool {
			return !slices.ContainsFunc(to, func(y string) bool { return same(x, y) })
		})
	}
	for _, x := range a {
		for _, y := range b {
			agree = agree || len(x) >= minModel && len(y) >= minModel && same(x, y)
		}
	}
	return agree, left(a, b) && left(b, a)
}

// suffixed reports whether long is short with up to three letters appended.
func suffixed(short, long string) bool {
	rest, ok := strings.CutPrefix(long, short)
	return ok && len(rest) <= 3 && !hasDigit(rest)
}

// contradicts reports whether others have measures of the same unit, none of which agrees.
func (m measure) contradicts(others []measure) bool {
	found := false
	for _, o := range others {
		if o.unit == m.unit {
			if compareQuantities(o.value, m.value) >= quantityNear && (!exactUnits[m.unit] || o.value == m.value) {
				return false
			}
			found = true
		}
	}
	return found
}

func missing(of, in []string) bool {
	return slices.ContainsFunc(of, func(w string) bool { return !slices.Contains(in, w) })
}

// accessories are words for accessories, which carry the name of their main product.
var accessories = wordSet(`accessory adapter adaptor armband battery batteries bag bracket cable case charger cleaner cover cord dock
filter film grip holder holster kit lens mount pouch protector refill remote replacement sleeve skin stand strap stylus tripod
upgrade warranty`)

// units maps units to a canonical spelling.
var units = func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(unitSpellings) {
		words := strings.Fields(line)
		for _, w := range words {
			m[w] = words[0]
		}
	}
	return m
}()

const unitSpellings = `gb gbyte gigabyte gigabytes gig
tb terabyte terabytes
mb megabyte megabytes
mp megapixel megapixels mpix
in inch inches
ft foot feet
cm centimeter centimeters
mm millimeter millimeters
oz ounce ounces
lb lbs pound pounds
kg kilogram kilograms
g gram grams
ml milliliter milliliters
l liter liters litre litres
ghz
mhz
hz
w watt watts
v volt volts
mah
pack pk pcs pc ct count pieces
user users
x
rpm
ms
dpi
`

// exactUnits are the units of fixed sizes: another number means another thing.
var exactUnits = map[string]bool{"gb": true, "tb": true, "mb": true, "pack": true, "user": true, "oz": true, "ml": true}
