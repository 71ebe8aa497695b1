// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"math"

	"github.com/cespare/xxhash/v2"
)

// Names maps the blocking key of an identifier, such as a phone number, to the number of different names among
// the live records that carry it. The higher the number, the lower the weight of a shared identifier.
// Blocking keys with at most PhoneNames may be absent; stop keys have Crowd.
type Names map[uint64]int

// Crowd is the entry of an identifier that is a stop key, whose names are not counted.
const Crowd = math.MaxInt32

// Among returns a matcher that weighs a shared identifier by its number of names among all live records. The
// term-frequency table has such counts, too, of the data set it was built from; the larger count applies. Equal numbers
// that share no blocking key, such as one without its area code or the fifth number of a record, are weighed by the
// term-frequency table alone.
func (m *Matcher) Among(n Names) *Matcher {
	if len(n) == 0 && len(m.among) == 0 {
		return m
	}
	among := *m
	among.among = n
	return &among
}

// Identifies reports whether a blocking key is an identifier whose weight depends on its number of names.
func (f BlockingKey) Identifies() bool { return f.Kind == KeyPhone }

// CountNames counts the names for all identifiers of a set of records.
func CountNames(records []*Record) Names {
	leads := Leaders(records)
	carriers := map[uint64][]*Record{}
	for i, r := range records {
		for _, f := range r.keys {
			if leads[i] == i && f.Identifies() {
				carriers[f.Hash] = append(carriers[f.Hash], r)
			}
		}
	}
	names := Names{}
	for f, list := range carriers {
		if len(list) > BlockLimit(f) {
			names[f] = Crowd
		} else {
			names[f] = DifferentNames(list)
		}
	}
	return names
}

// DifferentNames counts the different names of records. Names with the same rarest word, ignoring words of
// trades and addresses, count once, because a thing has several names. Persons whose family names sound
// alike count once, because a household shares its number. A record without a name counts 0.
func DifferentNames(records []*Record) int {
	names := make(map[uint64]struct{}, len(records))
	for _, r := range records {
		if name := cmp.Or(r.family(), r.matcher.terms.rarest(r.name.tokens)); name != 0 {
			names[name] = struct{}{}
		}
	}
	return len(names)
}

// family returns the hash of the sound of a person's family name, 0 if there is none.
func (r *Record) family() uint64 {
	if r.person.family.key == "" {
		return 0
	}
	return xxhash.Sum64String(r.person.family.key)
}

// SameWeight reports whether an identifier has the same weight with either number of names.
func SameWeight(names, others int) bool { return sharedBy(names) == sharedBy(others) }

// sharedBy returns the level of an equal phone number with the given number of names.
func sharedBy(names int) level {
	switch {
	case names > PhoneCrowd:
		return phoneMany
	case names > PhoneNames:
		return phoneSeveral
	}
	return phoneEqual
}
