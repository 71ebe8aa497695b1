// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math/bits"
)

// softSimilar is the similarity from which two different words count as equal.
const softSimilar = 0.88

// alignment is the pairing of the words of two names.
type alignment struct {
	usedA, usedB uint32 // bit per token
	weight       weight // of the common words
	named        bool   // one of the paired words describes neither a trade nor an address

	whereA, whereB weight // of the words that leaveWhere removed
}

// align pairs the words of two names: first equal words, then one word with the same word written as two, then similar
// words, then an initial with a word at half weight.
func align(a, b []token) alignment {
	var l alignment
	for i := range a {
		for j := range b {
			if l.usedB&(1<<j) == 0 && a[i].hash == b[j].hash {
				l.usedA |= 1 << i
				l.usedB |= 1 << j
				l.weight += a[i].weight
				l.named = l.named || !a[i].general
				break
			}
		}
	}
	l.usedA, l.usedB = l.apart(a, b, l.usedA, l.usedB)
	l.usedB, l.usedA = l.apart(b, a, l.usedB, l.usedA)
	for i := range a {
		if l.usedA&(1<<i) != 0 || len(a[i].text) <= 3 {
			continue
		}
		best, similarity := -1, softSimilar
		for j := range b {
			if l.usedB&(1<<j) != 0 {
				continue
			}
			if s := alike(a[i].text, b[j].text, a[i].letters, b[j].letters); s >= similarity && (best < 0 || s > similarity) {
				best, similarity = j, s
			}
		}
		if best >= 0 {
			l.usedA |= 1 << i
			l.usedB |= 1 << best
			l.weight += (a[i].weight + b[best].weight) / 2
			l.named = l.named || !a[i].general || !b[best].general
		}
	}
	for i := range a {
		if l.usedA&(1<<i) != 0 {
			continue
		}
		for j := range b {
			if l.usedB&(1<<j) == 0 && initial(&a[i], &b[j]) {
				l.usedA |= 1 << i
				l.usedB |= 1 << j
				l.weight += (a[i].weight + b[j].weight) / 4
				l.named = true
				break
			}
		}
	}
	return l
}

func initial(a, b *token) bool {
	return (len(a.text) == 1) != (len(b.text) == 1) && a.text[0] == b.text[0] && isLetter(a.text[0]) && !a.number && !b.number
}

// alike returns the similarity of two words if a typo may be the only difference, otherwise 0: short words
// and words with digits must be equal.
func alike(a, b string, la, lb uint32) float64 {
	if len(a) <= 3 || len(b) <= 3 || !mayBeSimilar(a, b, la, lb) || hasDigit(a) || hasDigit(b) {
		return 0
	}
	return similar(a, b)
}

// mayBeSimilar is a cheap filter: if it returns false, the similarity is below softSimilar, because letters
// that the other word lacks stay unmatched. With m matched letters Jaro is at most (m/la + m/lb + 1)/3,
// plus Winkler's bonus for a common prefix. It counts bytes, so it is slightly too strict for words that
// mix scripts.
func mayBeSimilar(a, b string, la, lb uint32) bool {
	matched := min(len(a)-bits.OnesCount32(la&^lb), len(b)-bits.OnesCount32(lb&^la))
	needed := 139 // hundredths of m/la + m/lb: Jaro 0.8 with four common letters
	if a[0] != b[0] {
		needed = 163 // Jaro 0.88 without
	}
	return 100*matched*(len(a)+len(b)) >= needed*len(a)*len(b)
}

// compareNames sets the levels of name and residual and returns the relation that the names suggest.
func compareNames(v *Vector, first, second *Record) (related level) {
	a, b := &first.name, &second.name
	if len(a.tokens) == 0 || len(b.tokens) == 0 || !a.latin && !b.foreign || !b.latin && !a.foreign {
		return levelNone
	}
	var grade, rest level
	rough, common := v.isRough(), a.total
	alone := v.namesAlone()
	if v.level(fieldCity) == cityDifferent && v.namesChain() {
		v.put(fieldCity, cityElsewhere)
	}
	if a.compact == b.compact {
		grade, rest = exactName(a.total), residualNothing
		switch {
		case len(a.tokens) == 1 && a.tokens[0].general && v.namesChain():
			grade = nameHalf // Services
		case grade == nameExactRare && !first.matcher.terms.only(a.total, v.level(fieldCity)):
			grade = nameAll
		}
	} else {
		l := alignFirms(a.tokens, b.tokens)
		x, y := residue(a.tokens, l.usedA), residue(b.tokens, l.usedB)
		sisters := v.level(fieldID) == idWorldDifferent // two firms of one group, if their names differ at all
		elsewhere := l.leaveWhere(a.tokens, b.tokens, &x, &y, sisters || alone && v.level(fieldCity) < cityContained)
		if rough {
			x, l.whereA = leftWhere(a.tokens, l.usedA)
			y, l.whereB = leftWhere(b.tokens, l.usedB)
			elsewhere = false
		}
		common = l.weight
		if l.weight > 0 {
			related = relate(&x, &y, first.beside(second), second.beside(first))
		}
		rest = compareResiduals(&x, &y, &l, related)
		if rest == residualSomething {
			rest = compareAlone(&x, &y, alone && a.roman == b.roman, elsewhere, a.form.text != "" && b.form.text != "")
		}
		if rest == residualSomething && sisters {
			rest = residualSister
		}
		grade = gradeTokens(a, b, &l)
		if grade > nameNone && !l.named && x.named && y.named && similar(kept(a.tokens, l.usedA), kept(b.tokens, l.usedB)) < 0.9 {
			grade = nameNone // the paired words are generic ("Street", "Salon"), and each name has another word
		} else if rest > residualPart { // otherwise a word differs, not only the spacing
			grade = max(grade, gradeCompact(a, b, grade))
		}
	}
	if (rest == residualSomething || rest == residualNothing) && formsDiffer(a.form, b.form) {
		rest = residualForm
	}
	if (a.chain || b.chain) && grade >= nameHalf {
		switch {
		case !v.namesSpot():
			grade = nameChainAlone
		case grade >= nameMost:
			grade = nameChain
		}
	}
	if a.roman != b.roman && grade < nameHalf {
		return levelNone // a translation, perhaps
	}
	v.set(fieldName, grade)
	v.set(fieldResidual, rest)
	v.denyRough(first, second, common)
	return related
}

// kept returns the unpaired words of a name, without spaces.
func kept(tokens []token, used uint32) string {
	var b []byte
	for i := range tokens {
		if used&(1<<i) == 0 {
			b = append(b, tokens[i].text...)
		}
	}
	return string(b)
}

// namesSpot reports whether a field other than the name ties both records to one spot.
func (v Vector) namesSpot() bool {
	return v.phoneHere() || v.level(fieldAddress) == addressBoth || v.level(fieldDistance) >= distance100 || v.level(fieldWeb) == webPage
}

// gradeTokens grades two names by the weight of their common words.
func gradeTokens(a, b *name, l *alignment) level {
	totalA, totalB := a.total-l.whereA, b.total-l.whereB
	return gradeCommon(l.weight, totalA, totalB)
}

// gradeCommon grades two names by the weight of their common words and of all words of each.
func gradeCommon(common, totalA, totalB weight) level {
	union := totalA + totalB - common
	smaller := min(totalA, totalB)
	j := float64(common) / float64(max(union, 1))
	c := float64(common) / float64(max(smaller, 1))
	switch {
	case j >= 0.8:
		return nameAll
	case j >= 0.55 || c >= 0.95 && smaller >= 300:
		return nameMost
	case j >= 0.35 || c >= 0.75 && smaller >= 300:
		return nameHalf
	case j >= 0.2:
		return nameLittle
	case j >= 0.08:
		return nameHardly
	default:
		return nameNone
	}
}

func exactName(total weight) level {
	if total >= 700 {
		return nameExactRare
	}
	return nameAll
}

// only reports whether a name of a weight is so rare that two records in different cities hardly have it by chance. In one
// city any rare name is. Without counts it is, unless nothing besides the names was compared.
func (p *TermFrequencies) only(name weight, city level) bool {
	if p.records == 0 || city != cityDifferent && city != cityElsewhere {
		return city != cityElsewhere
	}
	return name >= p.onlyName
}

// gradeCompact grades the names without spaces, if that can raise the grade.
func gradeCompact(a, b *name, grade level) level {
	steps := [...]struct {
		similarity float64
		grade      level
	}{{0.95, nameAll}, {0.90, nameMost}, {0.80, nameLittle}, {0.65, nameHardly}}
	bound := 1.0
	if a.ascii && b.ascii {
		bound = similarBound(a.compact, b.compact, &a.counts, &b.counts)
	}
	needed := 2.0
	for _, s := range steps {
		if s.grade > grade {
			needed = s.similarity
		}
	}
	if bound < needed {
		return grade
	}
	s := similar(a.compact, b.compact)
	for _, step := range steps {
		if s >= step.similarity {
			return step.grade
		}
	}
	return grade
}

// rareWord is the weight from which a word that only one name has separates two things.
const rareWord weight = 450

// compareResiduals compares the unpaired words of both names. If the names share no words, common words
// separate them as well as rare ones.
func compareResiduals(x, y *residual, l *alignment, related level) level {
	switch {
	case x.number && y.number:
		return residualNumbers
	case related == relationCoLocated, x.rare && y.rare, x.any && y.any && l.weight == 0:
		return residualRare
	case related != levelNone:
		return residualPart
	case x.any || y.any:
		return residualSomething
	default:
		return residualNothing
	}
}

// residual describes the unpaired words of a name.
type residual struct {
	any, rare, number bool
	own               bool  // a word that is not just a description of the thing
	named             bool  // a word other than of trades, addresses and numbers
	where             bool  // the country or the city of the thing
	title             bool  // the name, including its paired words, is a person's
	parts             parts // named by the words
}

// isLabel reports whether a word distinguishes siblings: Profile 1, Building B.
func isLabel(tokens []token, i int) bool {
	return tokens[i].number || len(tokens[i].text) == 1 && i == len(tokens)-1
}

// isKept reports whether a word belongs to the residual: it is unpaired and not a stop word.
func isKept(tokens []token, used uint32, i int) bool {
	return used&(1<<i) == 0 && (!tokens[i].stop || isLabel(tokens, i))
}

// keptWords returns the words that residue describes, or the numbers among them.
func keptWords(tokens []token, used uint32, numbers bool) (words []string) {
	for i := range tokens {
		if isKept(tokens, used, i) && (!numbers || isLabel(tokens, i) || hasDigit(tokens[i].text)) {
			words = append(words, tokens[i].text)
		}
	}
	return words
}

func residue(tokens []token, used uint32) (r residual) {
	for i := range tokens {
		t := &tokens[i]
		r.title = r.title || t.title
		if !isKept(tokens, used, i) {
			continue
		}
		r.any = true
		r.parts |= t.parts
		r.number = r.number || isLabel(tokens, i)
		r.rare = r.rare || t.weight >= rareWord && !t.number
		r.named = r.named || !t.general && !t.number
		r.where = r.where || t.where
		r.own = r.own || !t.plain && t.parts == 0
	}
	return r
}
