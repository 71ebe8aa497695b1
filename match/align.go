// SPDX-License-Identifier: Apache-2.0

package match

import "math/bits"

// softSimilar is the similarity at which two different words count as one.
const softSimilar = 0.88

// alignment is which words of two names were taken for one.
type alignment struct {
	usedA, usedB uint32 // bit per token
	weight       weight // of the common words
	named        bool   // one of them is no word of trades or addresses
}

// align pairs the words of two names: equal ones first, then similar ones, then
// an initial with a word at half weight.
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

// alike is the similarity of two words if a slip of the pen may be what tells
// them apart, else 0: short words have none to spare, and another digit is
// another thing.
func alike(a, b string, la, lb uint32) float64 {
	if len(a) <= 3 || len(b) <= 3 || !mayBeSimilar(a, b, la, lb) || hasDigit(a) || hasDigit(b) {
		return 0
	}
	return similar(a, b)
}

// mayBeSimilar is false only if two words cannot reach softSimilar: letters
// that the other lacks stay unmatched. With m matched letters Jaro is at most
// (m/la + m/lb + 1)/3; a common first letter lets Winkler forgive more of it. It
// counts bytes: for words that mix scripts it is a little too strict.
func mayBeSimilar(a, b string, la, lb uint32) bool {
	matched := min(len(a)-bits.OnesCount32(la&^lb), len(b)-bits.OnesCount32(lb&^la))
	needed := 139 // hundredths of m/la + m/lb: Jaro 0.8 with four common letters
	if a[0] != b[0] {
		needed = 163 // Jaro 0.88 without
	}
	return 100*matched*(len(a)+len(b)) >= needed*len(a)*len(b)
}

// compareNames sets the levels of name and residual, and answers with the
// relation that the names make likely.
func compareNames(v *Vector, first, second *Record) (related level) {
	a, b := &first.name, &second.name
	if len(a.tokens) == 0 || len(b.tokens) == 0 || !a.latin && !b.foreign || !b.latin && !a.foreign {
		return levelNone
	}
	var grade, rest level
	if a.compact == b.compact {
		grade, rest = exactName(a.total), residualNothing
	} else {
		l := align(a.tokens, b.tokens)
		x, y := residue(a.tokens, l.usedA), residue(b.tokens, l.usedB)
		if l.weight > 0 {
			related = relate(&x, &y, first.beside(second), second.beside(first))
		}
		rest = compareResiduals(&x, &y, &l, related)
		grade = gradeTokens(a, b, &l)
		if grade > nameNone && !l.named && x.named && y.named && similar(kept(a.tokens, l.usedA), kept(b.tokens, l.usedB)) < 0.9 {
			grade = nameNone // "Street" and "Salon" say what many are and where, and each has a name beside them
		} else if rest > residualPart { // else a word tells them apart, and not the spaces
			grade = max(grade, gradeCompact(a, b, grade))
		}
	}
	if (a.chain || b.chain) && grade >= nameHalf {
		switch {
		case !v.namesSpot():
			grade = nameChainAlone
		case grade >= nameMost:
			grade = nameChain
		}
	}
	v.set(fieldName, grade)
	v.set(fieldResidual, rest)
	return related
}

// kept are the words that a name keeps for itself, without spaces.
func kept(tokens []token, used uint32) string {
	var b []byte
	for i := range tokens {
		if used&(1<<i) == 0 {
			b = append(b, tokens[i].text...)
		}
	}
	return string(b)
}

// namesSpot says whether something else than the name ties two records to one spot.
func (v Vector) namesSpot() bool {
	return v.phoneHere() || v.level(fieldAddress) == addressBoth || v.level(fieldDistance) >= distance100 || v.level(fieldWeb) == webPage
}

// gradeTokens looks at the weight of the words that two names share.
func gradeTokens(a, b *name, l *alignment) level {
	union := a.total + b.total - l.weight
	smaller := min(a.total, b.total)
	j := float64(l.weight) / float64(max(union, 1))
	c := float64(l.weight) / float64(max(smaller, 1))
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

// gradeCompact looks at the names without spaces, if that could better a grade.
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

// rareWord is the weight from which a word that only one name has tells two
// things apart.
const rareWord weight = 450

// compareResiduals looks at the words that both names keep for themselves. If
// they share none, common words tell them apart as well as rare ones.
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

// residual is what a name keeps for itself.
type residual struct {
	any, rare, number bool
	own               bool  // a word that says more than what something is
	named             bool  // a word that is none of trades, addresses and numbers
	title             bool  // the name, with all of its words, is somebody's
	parts             parts // that its words name
}

func residue(tokens []token, used uint32) (r residual) {
	for i := range tokens {
		t := &tokens[i]
		r.title = r.title || t.title
		label := t.number || len(t.text) == 1 && i == len(tokens)-1 // Profile 1, Building B
		if used&(1<<i) != 0 || t.stop && !label {
			continue
		}
		r.any = true
		r.parts |= t.parts
		r.number = r.number || label
		r.rare = r.rare || t.weight >= rareWord && !t.number
		r.named = r.named || !t.general && !t.number
		r.own = r.own || !t.plain && t.parts == 0
	}
	return r
}
