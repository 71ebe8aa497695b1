// SPDX-License-Identifier: Apache-2.0

package match

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// Records with identical compared content act as one node wherever the number of things matters. The first
// of them is the leader: it alone is posted under the shared blocking keys, compared with other records, and
// counted when clusters are joined. The others have an edge of weight Equal to it. So a blocking key shared by a
// thousand identical records has one carrier, and their number affects only the members of their entity.

// Equal is the weight of the edge between two identical records. No cut removes it, and no sum includes it.
const Equal Weight = 31000

// Equal returns the blocking key shared by all records with the same compared content. It is 0 if identical
// records need not be the same thing: their content is too little evidence, or their source is
// deduplicated.
func (r *Record) Equal() uint64 { return r.equal }

// IsEqual reports whether a blocking key is one that Record.Equal returns.
func IsEqual(key uint64) bool { return key&bitsOfLimit == limitEqual }

// Link compares two records and returns the vector and weight of their edge. linked is false if there is no edge.
func (m *Matcher) Link(a, b *Record) (v Vector, s Weight, linked bool) {
	v = m.Compare(a, b)
	s, linked = m.Edge(a, b, v)
	return v, s, linked
}

// Edge returns the weight of the edge of two records with the vector of their comparison. linked is false if there is
// no edge.
func (m *Matcher) Edge(a, b *Record, v Vector) (s Weight, linked bool) {
	switch o := m.Decide(v); {
	case o == Different:
		return 0, false
	case o == Same && a.equal != 0 && a.equal == b.equal:
		return Equal, true
	}
	return m.Evidence(v), true
}

// hash returns a hash of everything that a comparison uses.
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
	t := r.title
	if t == nil {
		t = &title{}
	}
	text(t.numbers...)
	text(t.parts...)
	if t.lead != "" {
		text("lead", t.lead)
	}
	for _, m := range t.measures {
		real(m.value)
		text(m.unit)
	}
	text(r.person.given.words...)
	text(r.person.family.words...)
	text(r.person.generation, r.brand, r.address.text, r.postcode, r.city, r.region)
	if r.country != "" {
		text("country", r.country)
	}
	for i, roman := range [...]bool{r.address.roman, r.romanCity, r.name.roman} {
		if roman {
			number(uint64(i))
		}
	}
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
		if q.measure.unit != "" {
			text(q.measure.unit)
		}
	}
	for _, of := range r.variants {
		text(of.attribute.Name)
		text(of.parts...)
	}
	for _, id := range r.ids {
		if text(id.attribute, id.value); !id.world {
			text(r.source) // its ids are not compared across sources
		}
	}
	for _, w := range t.bag.words {
		number(w.hash)
	}
	for _, c := range r.people {
		text(c.family, c.given)
	}
	for _, list := range [...][]code{t.codes.own, t.codes.told} {
		for _, c := range list {
			text(c.text)
		}
	}
	return xxhash.Sum64(b)
}

// emitEqual emits the blocking key of the record's content, unless identical records may be different things. Records
// without other blocking keys get none.
func (r *Record) emitEqual(s *sink) {
	if (s.explain || len(s.keys) > 0) && !r.dedup && r.matcher.Decide(r.matcher.Compare(r, r)) == Same {
		s.add(KeyEqual, strconv.FormatUint(r.content, 16))
	}
}

// Unmet compares two records without an edge when clusters are joined. A shared phone number weighs like one with many
// names, because it is a stop key, or because the records are different in spite of it. If dear is false, Unmet only
// detects cannot-links, and returns AbsentPair and no vector for all other pairs.
func (m *Matcher) Unmet(a, b *Record, dear bool) (Weight, Vector) {
	if dear {
		v := m.Compare(a, b)
		if v.level(fieldPhone) >= phoneEqual {
			v.put(fieldPhone, phoneMany)
		}
		return m.Evidence(v), v
	}
	var v Vector
	if a.source == b.source {
		v.set(fieldID, compareIDs(a.ids, b.ids))
		if a.dedup && a.key != b.key {
			v.set(fieldSource, sourceDeduplicated)
		}
	}
	if s := m.total(v); s <= CannotLink {
		return s, 0
	}
	return AbsentPair, 0
}
