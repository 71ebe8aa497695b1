// SPDX-License-Identifier: Apache-2.0

package match

import (
	"encoding/binary"
	"math"
	"slices"
)

// AppendCompared appends to b the fields that comparisons need, without attributes and blocking keys, for ReadCompared
// of the same process. It appends nothing for a title, because comparisons need most of its fields.
func (r *Record) AppendCompared(b []byte) []byte {
	if r.title != nil {
		return b
	}
	c := coder{b: b}
	c.record(r)
	return c.b
}

// ReadCompared makes r the record that AppendCompared has written as text. Compare, Link and DifferentNames treat it
// like the record itself; it has no attributes and no blocking keys. r is a new record, or one that an earlier
// ReadCompared filled, whose memory is then reused.
func (m *Matcher) ReadCompared(text string, r *Record) {
	r.matcher = m
	c := coder{rest: text, reading: true}
	c.record(r)
}

// coder appends values to b, or reads them from rest in the same order.
type coder struct {
	b       []byte
	rest    string
	reading bool
}

func (c *coder) record(r *Record) {
	c.text(&r.source)
	c.text(&r.key)
	c.name(&r.name)
	list(c, &r.phones, func(c *coder, p *phone) {
		c.text(&p.text)
		c.fixed(&p.bcd)
		integer(c, &p.n)
		c.flags(&p.free)
		c.fixed(&p.key)
	})
	c.text(&r.address.text)
	integer(c, &r.address.number)
	integer(c, &r.address.to)
	list(c, &r.address.street, func(c *coder, w *streetWord) {
		c.text(&w.text)
		c.fixed(&w.hash)
		integer(c, &w.letters)
	})
	c.text(&r.address.unit)
	c.text(&r.address.postcode)
	for _, x := range [...]*float64{&r.point.x, &r.point.y, &r.point.z} {
		c.float(x)
	}
	c.text(&r.postcode)
	c.text(&r.city)
	integer(c, &r.cityWeight)
	c.text(&r.region)
	c.text(&r.country)
	c.flags(&r.address.roman, &r.romanCity, &r.dedup)
	c.fixed(&r.categories.mask)
	list(c, &r.categories.list, func(c *coder, g *category) {
		c.fixed(&g.hash)
		c.flags(&g.first)
	})
	integer(c, &r.categories.parts)
	list(c, (*[]credit)(&r.people), func(c *coder, p *credit) {
		c.text(&p.family)
		c.text(&p.given)
	})
	list(c, &r.pages, func(c *coder, p *page) {
		c.text(&p.text)
		c.text(&p.domain)
		c.fixed(&p.hash)
		c.fixed(&p.site)
	})
	list(c, &r.emails, (*coder).text)
	integer(c, &r.shared)
	list(c, &r.ids, func(c *coder, id *identifier) {
		c.text(&id.attribute)
		c.text(&id.value)
		c.flags(&id.world)
	})
	list(c, &r.dates, func(c *coder, d *dated) {
		c.attribute(r.matcher, &d.attribute)
		integer(c, &d.date.year)
		integer(c, &d.date.month)
		integer(c, &d.date.day)
		c.flags(&d.usual)
	})
	list(c, &r.numbers, func(c *coder, q *quantity) {
		c.attribute(r.matcher, &q.attribute)
		c.float(&q.number)
		c.float(&q.measure.value)
		c.text(&q.measure.unit)
	})
	list(c, &r.variants, func(c *coder, v *variant) {
		c.attribute(r.matcher, &v.attribute)
		list(c, &v.parts, (*coder).text)
	})
	c.part(&r.person.given)
	c.part(&r.person.family)
	c.text(&r.person.generation)
	c.text(&r.person.whole)
	c.flags(&r.person.guessed)
	c.fixed(&r.content)
	c.fixed(&r.equal)
}

func (c *coder) name(n *name) {
	c.text(&n.compact)
	c.fixed(&n.hash)
	list(c, &n.tokens, func(c *coder, t *token) {
		c.text(&t.text)
		c.fixed(&t.hash)
		integer(c, &t.letters)
		integer(c, &t.weight)
		c.flags(&t.rare, &t.stop, &t.title, &t.plain, &t.general, &t.number, &t.where)
		integer(c, &t.parts)
	})
	integer(c, &n.total)
	c.flags(&n.latin, &n.foreign, &n.roman, &n.ascii, &n.chain)
	integer(c, &n.parts)
	c.text(&n.form.text)
	integer(c, &n.form.of)
	if c.reading {
		n.counts = countLetters(n.compact)
	}
}

func (c *coder) part(p *part) {
	list(c, &p.words, (*coder).text)
	c.text(&p.compact)
	c.text(&p.sound)
	c.text(&p.key)
	integer(c, &p.weight)
	integer(c, &p.second)
}

// attribute encodes or decodes one of the compared attributes.
func (c *coder) attribute(m *Matcher, a **Attribute) {
	i := 0
	for !c.reading && m.read[i] != *a {
		i++
	}
	integer(c, &i)
	*a = m.read[i]
}

// list codes the length of a list, and each of its items.
func list[T any](c *coder, items *[]T, item func(*coder, *T)) {
	n := len(*items)
	integer(c, &n)
	if c.reading {
		former := *items
		*items = slices.Grow(former[:0], n)[:n]
		clear(former[min(n, len(former)):]) // their texts would stay in memory
	}
	for i := range *items {
		item(c, &(*items)[i])
	}
}

// integer codes an integer, in fewer bytes the smaller it is.
func integer[T ~int | ~int32 | ~uint8 | ~uint16 | ~uint32 | ~uint64](c *coder, n *T) {
	if !c.reading {
		c.b = binary.AppendUvarint(c.b, uint64(*n)) //nolint:gosec // reading converts it back
		return
	}
	x, i := uint64(0), 0
	for ; c.rest[i] >= 0x80; i++ {
		x |= uint64(c.rest[i]&0x7f) << (7 * i)
	}
	*n = T(x | uint64(c.rest[i])<<(7*i)) //nolint:gosec // as above
	c.rest = c.rest[i+1:]
}

// fixed codes a hash, which is as likely large as small.
func (c *coder) fixed(n *uint64) {
	if !c.reading {
		c.b = binary.LittleEndian.AppendUint64(c.b, *n)
		return
	}
	s := c.rest[:8]
	*n = uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	c.rest = c.rest[8:]
}

func (c *coder) float(x *float64) {
	bits := math.Float64bits(*x)
	c.fixed(&bits)
	*x = math.Float64frombits(bits)
}

func (c *coder) text(s *string) {
	n := len(*s)
	integer(c, &n)
	if !c.reading {
		c.b = append(c.b, *s...)
		return
	}
	*s, c.rest = c.rest[:n], c.rest[n:]
}

// flags encodes or decodes up to eight flags in a byte.
func (c *coder) flags(flags ...*bool) {
	var b uint8
	for i, f := range flags {
		if *f {
			b |= 1 << i
		}
	}
	if !c.reading {
		c.b = append(c.b, b)
		return
	}
	for i, f := range flags {
		*f = c.rest[0]&(1<<i) != 0
	}
	c.rest = c.rest[1:]
}
