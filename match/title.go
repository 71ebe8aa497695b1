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
	words    []string
	coded    uint32 // bit per token of the name: it is a model number
	codes    codes
	numbers  []string // words with digits that are neither model numbers nor measures: 2007, s60
	measures []measure
	parts    []string // words of accessories: case, battery
	bag      bag
}

// parseTitle parses a title. The parts of a hyphenated model number are joined. A number and the unit after
// it form one word.
func parseTitle(terms *TermFrequencies, raw string) *title {
	t := &title{}
	if isNothing(fold(raw)) {
		return t
	}
	t.words, t.measures = splitTitle(raw)
	var purpose []string
	if of := purposeOf(raw); of != "" {
		purpose, _ = splitTitle(of)
	}
	for _, w := range t.words {
		switch {
		case accessories[w]:
			t.parts = append(t.parts, w)
		case isCode(w) && slices.Contains(purpose, w):
			t.codes.told = addCode(t.codes.told, terms, w)
		case isCode(w):
			t.codes.own = addCode(t.codes.own, terms, w)
		case hasDigit(w) && !isMeasureWord(w) && !slices.Contains(t.numbers, w):
			t.numbers = append(t.numbers, w)
		}
	}
	t.name = parseName(terms, strings.Join(t.words, " "))
	for i := range t.name.tokens {
		if isCode(t.name.tokens[i].text) {
			t.coded |= 1 << i
		}
	}
	return t
}

// purposeOf returns the words of a title behind "for", up to a dash, a bracket or a comma: what a part or an accessory is
// made for.
func purposeOf(raw string) string {
	var words []string
	within := false
	for w := range strings.FieldsSeq(raw) {
		switch {
		case purposes[strings.ToLower(w)]:
			within = true
		case strings.HasPrefix(w, "(") || len(w) == 1 && w[0] == '-' || w == "–":
			within = false
		case within:
			words = append(words, w)
			within = !strings.HasSuffix(w, ",")
		}
	}
	return strings.Join(words, " ")
}

// purposes are the words before what something is made for.
var purposes = wordSet(`for fits compatible für pour para per voor`)

// splitTitle returns the words of a text and its measures, which are words, too.
func splitTitle(raw string) (words []string, measures []measure) {
	measured := func(words []string, m measure) []string {
		measures = append(measures, m)
		return append(words, strconv.FormatFloat(m.value, 'f', -1, 64)+m.unit)
	}
	words = make([]string, 0, len(raw)/6+1)
	buf := make([]byte, 0, 64)
	for chunk := range strings.FieldsFuncSeq(raw, func(r rune) bool { return strings.ContainsRune(" \t\r\n/,;:()[]|\"", r) }) {
		folded := chunk
		if !isPlain(chunk) {
			buf = appendFold(buf[:0], chunk)
			folded = string(buf)
		}
		switch {
		case folded == "":
		case hasDigit(chunk) && !strings.ContainsAny(chunk, "'&+"):
			if m, ok := parseMeasure(chunk); ok {
				words = measured(words, m)
			} else {
				words = append(words, strings.ReplaceAll(folded, " ", ""))
			}
		default:
			first, rest, _ := strings.Cut(folded, " ")
			if unit := units[first]; unit != "" && len(words) > 0 && isNumber(words[len(words)-1]) {
				value, _ := strconv.ParseFloat(words[len(words)-1], 64)
				words = measured(words[:len(words)-1], measure{value, unit})
			} else {
				words = append(words, first)
			}
			for w := range strings.FieldsSeq(rest) {
				words = append(words, w)
			}
		}
	}
	return words, measures
}

// isPlain reports whether a word is folded already.
func isPlain(s string) bool {
	for i := range len(s) {
		if plain[s[i]] != s[i] {
			return false
		}
	}
	return true
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
	if rest >= residualSomething && rest < titleNumber {
		grade = max(grade, gradeCompact(x, y, grade))
	}
	v.set(fieldName, grade)
	v.set(fieldResidual, rest)
}

// compareTitleResiduals compares model numbers first: they distinguish neighbours in a catalogue whose
// other words are all equal.
func compareTitleResiduals(a, b *title, l *alignment) level {
	said := compareCodes(&a.codes, &b.codes)
	partA, partB := missing(a.parts, b.parts), missing(b.parts, a.parts)
	switch {
	case slices.ContainsFunc(a.measures, func(m measure) bool { return m.contradicts(b.measures) }), said == codesDiffer:
		return residualNumbers
	case (partA || partB) && said == codesAgreeRare && !a.codes.madeFor(&b.codes) &&
		(!partA || residue(b.name.tokens, l.usedB).any) && (!partB || residue(a.name.tokens, l.usedA).any):
		return titleModelPart // two descriptions of one thing, and not that of a thing with the word of a part
	case partA || partB:
		return residualPart
	case said == codesBoth:
		return titleModelBoth
	case said == codesAgreeRare:
		return titleModelRare
	case said == codesAgree:
		return titleModel
	case said == codesAgreeCommon:
		return titleModelCommon
	case a.adds(b) && b.adds(a):
		return titleNumbers
	}
	x, y := a.keeps(l.usedA, b), b.keeps(l.usedB, a)
	switch {
	case x.number && y.number:
		return titleNumbers
	case x.rare && y.rare, x.any && y.any && l.weight == 0:
		return residualRare
	case x.number || y.number:
		return titleNumber
	case x.any || y.any:
		return residualSomething
	}
	return residualNothing
}

// keeps describes the words of a title that the other has nowhere in its text. A model number is none of them: catalogues
// have their own.
func (t *title) keeps(used uint32, other *title) (r residual) {
	used |= t.coded
	for i := range t.name.tokens {
		if used&(1<<i) == 0 && other.bag.holds(t.name.tokens[i].hash^textSalt) {
			used |= 1 << i
		}
	}
	return residue(t.name.tokens, used)
}

// distinguishing returns the words of a record that distinguish things of one name: model numbers, numbers, and those of
// accessories.
func (t *title) distinguishing() (words []string) {
	for _, list := range [...][]code{t.codes.own, t.codes.ids, t.codes.told} {
		for _, c := range list {
			if !slices.Contains(words, c.text) {
				words = append(words, c.text)
			}
		}
	}
	return slices.Concat(words, t.numbers, t.parts)
}

// adds reports whether a title has a number that the other has nowhere in its text.
func (t *title) adds(other *title) bool {
	return slices.ContainsFunc(t.numbers, func(w string) bool { return !other.bag.has(w) })
}

func missing(of, in []string) bool {
	return slices.ContainsFunc(of, func(w string) bool { return !slices.Contains(in, w) })
}

// accessories are words for accessories, which carry the name of their main product.
var accessories = wordSet(`accessory adapter adaptor armband battery batteries bag bracket cable case charger cleaner cover cord dock
filter film grip holder holster kit lens mount pouch protector refill remote replacement sleeve skin stand strap stylus tripod
upgrade warranty`)
