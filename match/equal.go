// SPDX-License-Identifier: Apache-2.0

package match

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// Records that say the same are one node for whatever asks how many things there are: the first of them leads. It alone
// is posted under the features that others share with it, is compared with them and counts when clusters are joined;
// the others hang on it by an edge of score Equal. So a clue that a thousand equal records carry is carried by one, and
// the number of equal records changes nothing but the members of their entity.

// Equal is the score of the edge between two records that say the same. No cut removes it, and no sum counts it.
const Equal Score = 31000

// Equal is the feature that all records share which say the same as this one in everything that is compared, and 0 if
// equal records need not be one thing: they say too little, or their source lists nothing twice.
func (r *Record) Equal() uint64 { return r.equal }

// IsEqual reports whether a feature is one that Record.Equal returns.
func IsEqual(feature uint64) bool { return feature&bitsOfLimit == limitEqual }

// Link is the edge that a comparison makes of two records: its score, and whether there is one.
func (m *Matcher) Link(a, b *Record) (v Vector, s Score, linked bool) {
	v = m.Compare(a, b)
	switch o := m.Decide(v); {
	case o == Different:
		return v, 0, false
	case o == Same && a.equal != 0 && a.equal == b.equal:
		return v, Equal, true
	}
	return v, m.Weight(v), true
}

// hash names all that a comparison asks of the record.
func (r *Record) hash() uint64 {
	var stack [512]byte
	b := stack[:0]
	text := func(list ...string) {
		for _, s := range list {
			b = append(append(b, s...), 0x1f)
		}
		b = append(b, 0x1e)
	}
	number := func(n uint64) { b = binary.LittleEndian.AppendUint64(b, n) }
	real := func(f float64) { number(math.Float64bits(f)) }
	number(r.name.hash)
	text(r.title.models...)
	text(r.title.parts...)
	for _, m := range r.title.measures {
		real(m.value)
		text(m.unit)
	}
	text(r.person.given.words...)
	text(r.person.family.words...)
	text(r.person.generation, r.brand, r.address.text, r.postcode, r.city, r.region)
	for _, p := range r.phones {
		text(p.text)
	}
	real(r.point.x)
	real(r.point.y)
	real(r.point.z)
	for _, c := range r.categories.list {
		number(c.hash)
		if c.first {
			text("first")
		}
	}
	number(uint64(r.categories.parts))
	for _, p := range r.pages {
		text(p.text, p.domain)
	}
	text(r.emails...)
	for _, d := range r.dates {
		text(d.attribute.Name)
		number(uint64(d.date.year)<<16 | uint64(d.date.month)<<8 | uint64(d.date.day))
	}
	for _, q := range r.numbers {
		text(q.attribute.Name)
		real(q.number)
	}
	for _, id := range r.ids {
		if text(id.attribute, id.value); !id.world {
			text(r.source) // its ids say something beside those of this source alone
		}
	}
	return xxhash.Sum64(b)
}

// emitEqual names all that the record says, unless even one that says the same may be another thing: records that
// would not meet otherwise do not.
func (r *Record) emitEqual(s *sink) {
	if (s.explain || len(s.features) > 0) && !r.dedup && r.matcher.Decide(r.matcher.Compare(r, r)) == Same {
		s.add(FeatureEqual, strconv.FormatUint(r.content, 16))
	}
}

// Unmet weighs a pair that has no edge, when clusters are joined. A number that the two share weighs as one of many
// names: it is generic, or they were judged different in spite of it. If dear is false, Unmet asks only whether the two
// are never one thing, whatever else they say.
func (m *Matcher) Unmet(a, b *Record, dear bool) Score {
	if dear {
		v := m.Compare(a, b)
		if v.level(fieldPhone) >= phoneEqual {
			v.put(fieldPhone, phoneMany)
		}
		return m.Weight(v)
	}
	var v Vector
	if a.source == b.source {
		v.set(fieldID, compareIDs(a.ids, b.ids))
		if a.dedup && a.key != b.key {
			v.set(fieldSource, sourceDeduplicated)
		}
	}
	if s := m.sum(v); s <= CannotLink {
		return s
	}
	return AbsentPair
}
