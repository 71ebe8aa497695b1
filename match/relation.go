// SPDX-License-Identifier: Apache-2.0

package match

// sameSpot says whether two records stand where one thing could.
func (v Vector) sameSpot() bool {
	return v.level(fieldAddress) == addressBoth || v.phoneHere() || v.level(fieldDistance) == distance30
}

// phoneHere says whether one phone speaks for one spot: branches share a phone.
func (v Vector) phoneHere() bool {
	address := v.level(fieldAddress)
	return v.level(fieldPhone) == phoneEqual && (address == levelNone || address > addressOtherNumber)
}

// partOf says what the words that two names keep for themselves make of them: one a part of the
// other, because it keeps the word of a part where the other keeps nothing of its own and is no such
// thing itself; or two parts, because each keeps a word of another part or is another person.
func partOf(x, y *residual, a, b parts) level {
	switch {
	case x.number && y.number, x.parts != 0 && y.parts != 0 && x.parts&y.parts == 0 && (x.parts|y.parts)&^ownParts != 0, x.title && y.title && x.rare && y.rare:
		return relationCoLocated
	case y.parts == 0 && !y.own && x.parts.of(b):
		return relationFirstPart
	case x.parts == 0 && !x.own && y.parts.of(a):
		return relationSecondPart
	default:
		return levelNone
	}
}

// of says whether something that is named by a part's word is a part of what is such and such.
func (p parts) of(whole parts) bool {
	return p&whole == 0 && (p&^ownParts != 0 || p != 0 && whole != 0)
}
