// SPDX-License-Identifier: Apache-2.0

package document

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/locus-db/locus/entity"
)

// An entity is the largest row and the one written most often, and it is derived from records. So it is not stored as
// JSON, which takes four times as many bytes, two thirds of them field names.
//
//	format 1 | kind | members: source, key, puid, version | view: name, values: value, how many members
//	times 2 and 1 if it is pinned, which members
//
// Numbers are varints, a puid is 8 bytes, big endian; a text or a list begins with its length.

// entityFormat is the first byte.
const entityFormat = 1

var errEntity = errors.New("malformed entity")

// AppendEntity appends kind, members and view of an entity to b.
func AppendEntity(b []byte, e *entity.Entity) []byte {
	b = appendText(append(b, entityFormat), e.Kind)
	b = binary.AppendUvarint(b, uint64(len(e.Members)))
	for _, m := range e.Members {
		b = appendText(appendText(b, m.Source), m.Key)
		b = binary.BigEndian.AppendUint64(b, uint64(m.PUID))
		b = binary.AppendVarint(b, m.Version)
	}
	b = binary.AppendUvarint(b, uint64(len(e.View)))
	for _, a := range e.View {
		b = binary.AppendUvarint(appendText(b, a.Name), uint64(len(a.Values)))
		for _, v := range a.Values {
			count := uint64(len(v.Members)) << 1
			if v.Pinned {
				count++
			}
			b = binary.AppendUvarint(appendText(b, v.Value), count)
			for _, m := range v.Members {
				b = binary.AppendUvarint(b, uint64(m))
			}
		}
	}
	return b
}

// ParseEntity parses what AppendEntity wrote into e.
func ParseEntity(body []byte, e *entity.Entity) error {
	if len(body) == 0 || body[0] != entityFormat {
		return fmt.Errorf("%w: it is not of format %d", errEntity, entityFormat)
	}
	s := unpack{rest: string(body[1:])}
	e.Kind = s.text()
	e.Members = list[entity.Member](s.count())
	for i := range e.Members {
		m := &e.Members[i]
		m.Source, m.Key, m.PUID, m.Version = s.text(), s.text(), entity.PUID(s.word()), s.signed()
	}
	e.View = list[entity.MergedAttribute](s.count())
	for i := range e.View {
		a := &e.View[i]
		a.Name, a.Values = s.text(), list[entity.MergedValue](s.count())
		for k := range a.Values {
			v := &a.Values[k]
			v.Value = s.text()
			count := s.number()
			v.Pinned, v.Members = count&1 == 1, make([]int, s.most(count>>1))
			for n := range v.Members {
				v.Members[n] = s.place(len(e.Members))
			}
		}
	}
	if s.bad || s.rest != "" {
		return errEntity
	}
	return nil
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// unpack reads numbers and texts; the texts share the memory of the input. After the first error it returns only
// zero values.
type unpack struct {
	rest string
	bad  bool
}

func (s *unpack) take(n uint64) string {
	if n > uint64(len(s.rest)) {
		s.rest, s.bad = "", true
		return ""
	}
	text := s.rest[:n]
	s.rest = s.rest[n:]
	return text
}

// number reads a varint.
func (s *unpack) number() (n uint64) {
	for shift := 0; shift < 64; shift += 7 {
		c := s.take(1)
		if c == "" {
			return 0
		}
		if n |= uint64(c[0]&0x7f) << shift; c[0] < 0x80 {
			return n
		}
	}
	s.rest, s.bad = "", true
	return 0
}

func (s *unpack) signed() int64 {
	n := s.number()
	return int64(n>>1) ^ -int64(n&1)
}

// word reads 8 bytes.
func (s *unpack) word() (n uint64) {
	for _, c := range []byte(s.take(8)) {
		n = n<<8 | uint64(c)
	}
	return n
}

func (s *unpack) text() string { return s.take(s.number()) }

// count reads the length of a list. Each item takes at least one byte.
func (s *unpack) count() int { return s.most(s.number()) }

// most returns n, or fails if fewer than n bytes are left.
func (s *unpack) most(n uint64) int {
	if n > uint64(len(s.rest)) {
		s.rest, s.bad = "", true
		return 0
	}
	return int(n)
}

// list returns a slice of n items, or nil for 0.
func list[T any](n int) []T {
	if n == 0 {
		return nil
	}
	return make([]T, n)
}

// place reads a number below n.
func (s *unpack) place(n int) int {
	p := s.number()
	if p >= uint64(n) {
		s.bad = true
		return 0
	}
	return int(p)
}
