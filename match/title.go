// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"
)

// title is the parsed name of a product or a work.
type title struct {
	name     name
	words    []string
	coded    uint32 // bit per token of the name: it is a model number
	varied   uint32 // bit per token of the name: it has alternatives
	telling  uint32 // bit per token of the name: it tells titles of the catalogue apart
	omitted  uint32 // bit per token of the name: titles without it are of other things
	codes    codes
	numbers  []string // words with digits that are neither model numbers nor measures: 2007, s60
	volumes  []string // numbers of parts, volumes and editions
	years    []string // of the dates of the record, which a title may repeat
	variants []variant
	counted  []counted
	measures []measure
	terms    *TermFrequencies
	colours  colours
	audience colours  // for whom it is
	lead     string   // number of an episode or an issue before the title
	parts    []string // words of accessories: case, battery
	bag      bag
}

// parseTitle parses a title. The parts of a hyphenated model number are joined. A number and the unit after
// it form one word.
func parseTitle(terms *TermFrequencies, raw string) *title {
	t := &title{terms: terms}
	t.lead, raw = cutLead(raw)
	folded := fold(raw)
	if isNothing(folded) {
		return t
	}
	t.words, t.measures = splitTitle(raw)
	spellVolumes(t.words)
	t.volumes, t.counted = volumesOf(t.words, folded), countedOf(t.words, raw)
	t.measures = t.measures[:min(len(t.measures), maxMeasures)]
	t.colours, t.audience = coloursOf(t.words), audienceOf(t.words)
	var purpose []string
	if of := purposeOf(raw); of != "" {
		purpose, _ = splitTitle(of)
	}
	for i, w := range t.words {
		if hasDigit(w) {
			t.addJoined(terms, i)
			w = plainNumber(w)
		}
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
	for i, w := range t.words {
		t.words[i] = plainNumber(w)
	}
	t.name = parseName(terms, strings.Join(t.words, " "))
	_, t.name.roman = romanise(folded)
	for i := range t.name.tokens {
		if isCode(t.name.tokens[i].text) {
			t.coded |= 1 << i
		}
		if terms.contrasts && terms.tellsWord(t.name.tokens[i].text) {
			t.telling |= 1 << i
		}
		if terms.contrasts && terms.alternatives(t.name.tokens[i].hash, 0) {
			t.varied |= 1 << i
		}
		if terms.contrasts && terms.omitsWord(t.name.tokens[i].text) {
			t.omitted |= 1 << i
		}
	}
	return t
}

// plainNumber returns a short number without zeros before it, and any other word as it is.
func plainNumber(w string) string {
	if w[0] != '0' || len(w) >= minDigits || !digits(w) {
		return w
	}
	return withoutZeros(w)
}

// addJoined adds the model number that begins or ends with a word of the title and is written apart.
func (t *title) addJoined(terms *TermFrequencies, i int) {
	before := ""
	if i > 0 {
		before = t.words[i-1]
	}
	joined := joinedCode(before, t.words[i])
	if joined == "" && !digits(before) {
		joined = spacedCode(before, t.words[i:])
	}
	if joined != "" {
		t.codes.joined = addCode(t.codes.joined, terms, joined)
	}
}

// purposeOf returns the words of a title behind "for", up to a dash, a bracket or a comma: the thing that a part or an
// accessory is made for.
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

// purposes are the words before the thing that something is made for.
var purposes = wordSet(`for fits compatible für pour para per voor`)

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
		grade, rest := exactName(x.total), residualNothing
		if x.chain && y.chain {
			grade = nameChain
		}
		if leadsDiffer(a, b) {
			rest = titleNumbers
		}
		v.set(fieldName, grade)
		v.set(fieldResidual, rest)
		return
	}
	l := align(x.tokens, y.tokens)
	grade := gradeTokens(x, y, &l)
	if x.cut() || y.cut() {
		grade = max(grade, gradeBags(&a.bag, &b.bag))
	}
	rest := compareTitleResiduals(a, b, &l)
	differ := v.level(fieldSize) == sizeDifferent // covers everything that the residual would
	if rest >= residualSomething && rest < titleNumber && !differ {
		grade = max(grade, gradeCompact(x, y, grade))
	}
	if x.roman != y.roman && grade < nameHalf {
		return // a translation, perhaps
	}
	v.set(fieldName, grade)
	if !differ {
		v.set(fieldResidual, rest)
	}
}

// compareTitleResiduals compares model numbers first: they distinguish neighbours in a catalogue whose
// other words are all equal.
func compareTitleResiduals(a, b *title, l *alignment) level {
	said := compareCodes(&a.codes, &b.codes)
	partA, partB := missing(a.parts, b.parts), missing(b.parts, a.parts)
	switch {
	case said == codesDiffer:
		return residualNumbers
	case (partA || partB) && said == codesAgreeRare && !a.codes.madeFor(&b.codes) &&
		(!partA || residue(b.name.tokens, l.usedB).any) && (!partB || residue(a.name.tokens, l.usedA).any):
		return titleModelPart // two descriptions of one thing, neither of which has the word of a part
	case partA || partB:
		return residualPart
	}
	usedA, usedB := a.met(l.usedA, b), b.met(l.usedB, a)
	tellsA, tellsB := a.keepsAny(a.telling, usedA, b, usedB), b.keepsAny(b.telling, usedB, a, usedA)
	omits := a.keepsAny(a.omitted, usedA, b, usedB) || b.keepsAny(b.omitted, usedB, a, usedA)
	numbers := a.adds(b) && b.adds(a)
	unsure := said < codesAgreeRare || a.terms.texts == 0 // a model number that may be in other titles
	first := firstVolume(a, b, usedA, usedB)
	switch {
	case a.alternates(b, l.usedA, l.usedB), unsure && !first && (tellsA && tellsB || omits), a.audience != 0 && b.audience != 0 && a.audience&b.audience == 0:
		return titleVariants
	case said == codesBoth:
		return titleModelBoth
	case said != codesSilent && unsure && numbers:
		return titleNumbers
	case said == codesAgreeRare:
		return titleModelRare
	case said == codesAgree:
		return titleModel
	case said == codesAgreeCommon:
		return titleModelCommon
	}
	x, y := residue(a.name.tokens, usedA), residue(b.name.tokens, usedB)
	switch {
	case otherVolume(a, b, usedA, usedB), otherTake(a, b):
		return titleVolume
	case numbers, leadsDiffer(a, b), countedApart(a, b):
		return titleNumbers
	case x.number && y.number:
		return titleNumbers
	case x.rare && y.rare, x.any && y.any && (l.weight == 0 || replaced(a, b, usedA, usedB)):
		return residualRare
	case !first && (tellsA || tellsB):
		return titleVariant
	case !first && (x.number || y.number):
		return titleNumber
	case bothModels(&a.codes, &b.codes): // of different forms
		return titleNumber
	case x.any || y.any:
		return residualSomething
	}
	return residualNothing
}

// met returns the words of a title that occur elsewhere in the other's text. It also returns model numbers, because
// catalogues have their own, years that repeat a date, and words that repeat a variant.
func (t *title) met(used uint32, other *title) uint32 {
	used |= t.coded
	for i := range t.name.tokens {
		w := &t.name.tokens[i]
		if used&(1<<i) == 0 && (other.bag.holds(w.hash^textSalt) || other.colours != 0 && colourOf(w.text) != 0 || t.dated(other, w.text) || other.isVariant(w.text) || other.measured(w.text)) {
			used |= 1 << i
		}
	}
	return used
}

// replaced reports whether all that differs in two titles is one word that stands for another: Intense and Sport.
func replaced(a, b *title, usedA, usedB uint32) bool {
	x, y := onlyKept(a.name.tokens, usedA), onlyKept(b.name.tokens, usedB)
	return x != "" && y != "" && !hasDigit(x) && !hasDigit(y) && !volumeNames[x] && !volumeNames[y] &&
		!likeWord(x, y) && !mistyped(x, y) && !abbreviates(x, y) && !abbreviates(y, x)
}

// onlyKept returns the word that residue describes, "" if there are several.
func onlyKept(tokens []token, used uint32) (word string) {
	for i := range tokens {
		if !isKept(tokens, used, i) {
			continue
		}
		if word != "" {
			return ""
		}
		word = tokens[i].text
	}
	return word
}

// distinguishing returns the words of a record that distinguish things of one name: model numbers, numbers, and words
// for accessories.
func (t *title) distinguishing() (words []string) {
	for _, list := range [...][]code{t.codes.own, t.codes.ids, t.codes.told} {
		for _, c := range list {
			if !slices.Contains(words, c.text) {
				words = append(words, c.text)
			}
		}
	}
	if t.lead != "" {
		words = append(words, t.lead)
	}
	return slices.Concat(words, t.numbers, t.parts)
}

// writtenApart returns the model numbers that are two words in one title and one word in the other.
func (t *title) writtenApart(other *title) (words []string) {
	for _, c := range t.codes.joined {
		if !other.codes.lacks(c.text) && !slices.Contains(other.codes.joined, c) {
			words = append(words, c.text)
		}
	}
	return words
}

// sizes returns the measures as words.
func (t *title) sizes() (words []string) {
	for _, m := range t.measures {
		words = append(words, m.word())
	}
	return words
}

// colourWords returns the words that name colours.
func (t *title) colourWords() (words []string) {
	for _, w := range t.words {
		if colourOf(w) != 0 {
			words = append(words, w)
		}
	}
	return words
}

// adds reports whether a title has a number that the other has nowhere in its text.
func (t *title) adds(other *title) bool {
	return slices.ContainsFunc(t.numbers, func(w string) bool { return !other.bag.has(w) && !t.dated(other, w) })
}

// dated reports whether a word is the year of the other record's date, or repeats the year of its own date and the
// other has no date.
func (t *title) dated(other *title, w string) bool {
	return slices.Contains(other.years, w) || len(other.years) == 0 && slices.Contains(t.years, w)
}

func missing(of, in []string) bool {
	return slices.ContainsFunc(of, func(w string) bool { return !slices.Contains(in, w) })
}

// accessories are words for accessories, which carry the name of their main product.
var accessories = wordSet(`accessory adapter adaptor armband battery batteries bag bracket cable case charger cleaner cover cord dock
filter film grip holder holster kit lens mount pouch protector refill remote replacement sleeve skin stand strap stylus tripod
upgrade warranty`)
