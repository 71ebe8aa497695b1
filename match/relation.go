// SPDX-License-Identifier: Apache-2.0

package match

// relate derives the relation of two records from the words that only one of their names has. One is a part of the
// other if it has a word for a part, while the other has no additional word and is not such a part itself. They are two
// things if each has a different number, word for a part, or person's name. Their types count as well as their words:
// "Bitcoin Depot" next to "Bitcoin Depot ATM" is an ATM, too.
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

// whole is what kind of place a record describes, such as a church or a pharmacy: is by its name and its first
// category, apart without the categories that the other record has, too.
type whole struct{ is, apart parts }

// beside returns what a record is relative to another. A shared category does not make one of them the
// whole: the churches "Joe's" and "Joe's Pizza" are not a church and its pizzeria.
func (r *Record) beside(other *Record) whole {
	return whole{r.name.parts | r.categories.parts, r.name.parts | r.categories.parts&^other.categories.parts}
}

// of reports whether a thing named by the word of a part is a part of the other thing.
func (p parts) of(w whole) bool {
	return p&w.is == 0 && (p&^ownParts != 0 || p != 0 && w.apart != 0)
}

// setRelation sets the likely relation if the two records are at one spot. Two things at one spot are reported only if
// they could be mistaken for one. The same is true of two names with different rare words, unless the other evidence
// outweighs them.
func (m *Matcher) setRelation(v *Vector, likely level) {
	rare := likely == levelNone && v.level(fieldResidual) == residualRare
	if likely == levelNone && !rare || !v.sameSpot() {
		return
	}
	if rare || likely == relationCoLocated {
		if s := m.Sum(*v); s < 0 || rare && s >= Threshold {
			return
		}
		likely = relationCoLocated
	}
	v.set(fieldRelation, likely)
}

// sameSpot reports whether two records are at one spot.
func (v Vector) sameSpot() bool {
	return v.level(fieldAddress) == addressBoth || v.phoneHere() || v.level(fieldDistance) == distance30
}

// phoneHere reports whether a shared phone number is evidence for one spot: branches may share a phone.
func (v Vector) phoneHere() bool {
	address := v.level(fieldAddress)
	return v.level(fieldPhone) == phoneEqual && (address == levelNone || address > addressOtherNumber)
}
