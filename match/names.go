// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"math"

	"github.com/cespare/xxhash/v2"
)

// Names is how many different names the live records have that carry an identifier, such as a telephone number, by its
// feature: the more there are, the less it says that two of them share it. Features with at most PhoneNames need not be
// in it; a generic one has Crowd.
type Names map[uint64]int

// Crowd is the number of names of a generic identifier: so many carry it that they are not counted.
const Crowd = math.MaxInt32

// Among returns the matcher that weighs an identifier of two records by how many names it has among all live records. The
// pack says it too, of the records that it was counted of: the larger number counts. Numbers that are equal but no
// common feature, such as one without its area code or the fifth of a record, are weighed by the pack alone.
func (m *Matcher) Among(n Names) *Matcher {
	if len(n) == 0 && len(m.among) == 0 {
		return m
	}
	among := *m
	among.among = n
	return &among
}

// Identifies reports whether a feature is an identifier that says the less the more names it has.
func (f Feature) Identifies() bool { return f.Kind == FeaturePhone }

// CountNames counts the names of all identifiers of a set of records.
func CountNames(records []*Record) Names {
	leads := Leaders(records)
	carriers := map[uint64][]*Record{}
	for i, r := range records {
		for _, f := range r.features {
			if leads[i] == i && f.Identifies() {
				carriers[f.Hash] = append(carriers[f.Hash], r)
			}
		}
	}
	names := Names{}
	for f, list := range carriers {
		if len(list) > MostCarriers(f) {
			names[f] = Crowd
		} else {
			names[f] = DifferentNames(list)
		}
	}
	return names
}

// DifferentNames counts the different names of records. Names with one rarest word are one, but for words of trades and
// addresses, since a thing is called in several ways; and persons whose family names sound alike have one, since a
// household is no crowd. A record without a name has none.
func DifferentNames(records []*Record) int {
	names := make(map[uint64]struct{}, len(records))
	for _, r := range records {
		if name := cmp.Or(r.family(), r.matcher.pack.rarest(r.name.tokens)); name != 0 {
			names[name] = struct{}{}
		}
	}
	return len(names)
}

// family names the sound of the family name of a person, 0 if there is none.
func (r *Record) family() uint64 {
	if r.person.family.key == "" {
		return 0
	}
	return xxhash.Sum64String(r.person.family.key)
}

// SameWeight reports whether an identifier says as much with one number of names as with the other.
func SameWeight(names, others int) bool { return sharedBy(names) == sharedBy(others) }

// sharedBy is the level of equal numbers that so many names have.
func sharedBy(names int) level {
	switch {
	case names > PhoneCrowd:
		return phoneMany
	case names > PhoneNames:
		return phoneSeveral
	}
	return phoneEqual
}
