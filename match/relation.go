// SPDX-License-Identifier: Apache-2.0

package match

// relate says what the words that two names keep for themselves, beside those that they share, make
// of the two: one a part of the other, because it keeps the word of a part where the other keeps
// nothing of its own and is no such thing itself; or two things, because each keeps a number, the
// word of another part, or another person's name. What the two are decides, not only what they keep:
// "Bitcoin Depot" beside "Bitcoin Depot ATM" is an ATM too.
func relate(x, y *residual, a, b whole) level {
	switch {
	case x.number && y.number, x.title && y.title && x.rare && y.rare:
		return relationCoLocated
	case x.parts != 0 && y.parts != 0 && x.parts&y.parts == 0 && (x.parts|y.parts)&^ownParts != 0:
		return relationCoLocated
	case y.parts == 0 && !y.own && x.parts.of(b):
		return relationFirstPart
	case x.parts == 0 && !x.own && y.parts.of(a):
		return relationSecondPart
	default:
		return levelNone
	}
}

// whole is what a record says it is, by its name and its first category; beside another record,
// apart is what of it the category of the other does not say too.
type whole struct{ is, apart parts }

// beside answers with what a record is beside another. A category that both have does not make one of
// them the whole: two churches named "Joe's" and "Joe's Pizza" are no church and its pizzeria.
func (r *Record) beside(other *Record) whole {
	return whole{r.name.parts | r.categories.parts, r.name.parts | r.categories.parts&^other.categories.parts}
}

// of says whether something that is named by the word of a part is a part of what is such and such.
func (p parts) of(w whole) bool {
	return p&w.is == 0 && (p&^ownParts != 0 || p != 0 && w.apart != 0)
}

// setRelation sets the relation that the names make likely, where the two stand at one spot. Two
// things at one spot are worth a look only if they could be taken for one; so are two whose names
// both keep rare words, unless the rest outweighs it.
func (m *Matcher) setRelation(v *Vector, likely level) {
	rare := likely == levelNone && v.level(fieldResidual) == residualRare
	if likely == levelNone && !rare || !v.sameSpot() {
		return
	}
	if rare || likely == relationCoLocated {
		if s := m.Score(*v); s < 0 || rare && s >= Threshold {
			return
		}
		likely = relationCoLocated
	}
	v.set(fieldRelation, likely)
}

// sameSpot says whether two records stand where one thing could.
func (v Vector) sameSpot() bool {
	return v.level(fieldAddress) == addressBoth || v.phoneHere() || v.level(fieldDistance) == distance30
}

// phoneHere says whether one phone speaks for one spot: branches share a phone.
func (v Vector) phoneHere() bool {
	address := v.level(fieldAddress)
	return v.level(fieldPhone) == phoneEqual && (address == levelNone || address > addressOtherNumber)
}
