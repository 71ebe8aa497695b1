// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// Compare returns how well two records agree, field by field. The pair is ordered by content first, so
// Compare(a, b) equals Compare(b, a), and identical records compare alike. It does not allocate. The
// comparison of names, the most expensive field, is skipped if it could not raise the weight to 0; the level
// records that.
func (m *Matcher) Compare(a, b *Record) Vector {
	if a.content > b.content || a.content == b.content && a.after(b) {
		a, b = b, a
	}
	v := m.compare(a, b)
	if a.after(b) {
		v.turn()
	}
	return v
}

func (r *Record) after(other *Record) bool {
	return r.source > other.source || r.source == other.source && r.key > other.key
}

// turn swaps the sides of a relation, whose first side is the first record by source and key.
func (v *Vector) turn() {
	switch v.level(fieldRelation) {
	case relationFirstPart:
		v.put(fieldRelation, relationSecondPart)
	case relationSecondPart:
		v.put(fieldRelation, relationFirstPart)
	}
}

func (m *Matcher) compare(a, b *Record) (v Vector) {
	v.set(fieldPhone, m.comparePhones(a, b))
	l := compareAddresses(&a.address, &b.address)
	if (!m.names || m.style == StylePerson) && l == addressBoth && otherUnit(a.address.unit, b.address.unit) {
		l = addressOtherNumber // each flat of a house is a home, and one of the things without names
	}
	if a.address.roman == b.address.roman || l > addressPartly {
		v.set(fieldAddress, l) // across scripts, a street may be translated
	}
	v.set(fieldDistance, comparePoints(a.point, b.point))
	v.set(fieldPostcode, comparePostcodes(a.postcode, b.postcode))
	if l := compareCities(a.city, b.city); a.romanCity == b.romanCity || l != cityDifferent {
		v.set(fieldCity, l) // across scripts, a city may have two names: Москва, Moscow
	}
	region := compareRegions(a.region, b.region)
	if a.country != b.country && a.country != "" && b.country != "" {
		region = regionDifferent
	}
	v.set(fieldRegion, region)
	v.set(fieldPeople, comparePeople(a.people, b.people))
	v.set(fieldCategory, compareCategories(&a.categories, &b.categories))
	web := comparePages(a.pages, b.pages)
	if web > webElsewhere && v.level(fieldAddress) == addressDifferent {
		web = webElsewhere // branches share a site
	}
	v.set(fieldWeb, web)
	v.compareEmails(a, b)
	if m.style == StylePerson {
		v.lookCloser(a, b)
	} else {
		v.compareTowns()
	}
	var id level
	if m.style == StyleTitle {
		id = compareModelIDs(a, b)
		// the declared brand of one record is in the title of the other, or spelt in another way
		if v.level(fieldCategory) == categoryDifferent &&
			(a.title.bag.tells(b.brand) || b.title.bag.tells(a.brand) || sameBrand(a.brand, b.brand)) {
			v.put(fieldCategory, categoryOverlap)
		}
	} else {
		id = compareWorldIDs(a.ids, b.ids)
		if at := v.level(fieldAddress); id == idEqual && m.style == StyleBusiness && (at == addressDifferent || at == addressOtherNumber) {
			id = idElsewhere // branches share the numbers of their firm
		}
	}
	if a.source == b.source {
		if own := compareIDs(a.ids, b.ids); own != levelNone {
			id = own
		}
		if a.dedup && a.key != b.key {
			v.set(fieldSource, sourceDeduplicated)
		}
	}
	v.set(fieldID, id)
	compareFacts(&v, a, b)
	if m.style == StylePerson && bornAbout(v, a.dates, b.dates) {
		v.put(fieldDate, dateFewYears)
	}
	v.set(fieldVariant, compareVariants(a, b))
	if m.style == StyleTitle {
		v.set(fieldText, compareText(&a.title.bag, &b.title.bag))
		v.set(fieldSize, compareSizes(a.title.measures, b.title.measures))
		v.set(fieldColour, compareColours(a.title.colours, b.title.colours))
	}
	if m.style == StyleBusiness {
		v.allowRough(a, b)
	}
	if m.total(v)+m.nameMost < 0 {
		v.set(fieldName, nameSkipped)
		return v
	}
	switch m.style {
	case StylePerson:
		m.comparePersons(&v, a, b)
	case StyleTitle:
		compareTitles(&v, a.title, b.title)
	default:
		m.setRelation(&v, compareNames(&v, a, b))
		if v.level(fieldName) == levelNone {
			v.denyRough(a, b, 0)
		}
	}
	return v
}

func otherUnit(a, b string) bool { return a != "" && b != "" && a != b }

func compareCities(a, b string) level {
	switch {
	case a == "" || b == "":
		return levelNone
	case a == b:
		return cityEqual
	case strings.Contains(a, b) || strings.Contains(b, a):
		return cityContained
	default:
		return cityDifferent
	}
}

// regionCode returns the code of a region if it is written as one: two or three Latin letters. Names and
// codes of a region are not compared with each other.
func regionCode(folded string) string {
	if len(folded) < 2 || len(folded) > 3 || strings.ContainsFunc(folded, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return ""
	}
	return folded
}

// compareRegions reports only whether two codes of equal length differ. Equal codes are hardly evidence.
func compareRegions(a, b string) level {
	if a == "" || b == "" || a == b || len(a) != len(b) {
		return levelNone
	}
	return regionDifferent
}

func compareIDs(a, b []identifier) level {
	best := levelNone
	for _, x := range a {
		for _, y := range b {
			if x.world || x.attribute != y.attribute {
				continue
			}
			if x.value != y.value {
				return idDifferent
			}
			best = idEqual
		}
	}
	return best
}

// compareTowns compares house numbers and streets of two towns: there is a Main Street, and a number 12, in each. Names of
// people say more than those of firms, and their addresses less, so it is for other things.
func (v *Vector) compareTowns() {
	if v.level(fieldCity) != cityDifferent || v.level(fieldPostcode) != postcodeDifferent && v.level(fieldDistance) != distanceFar {
		return // one town may have two names
	}
	switch v.level(fieldAddress) {
	case addressNumber:
		v.put(fieldAddress, addressDifferent)
	case addressStreet:
		v.put(fieldAddress, levelNone)
	}
}
