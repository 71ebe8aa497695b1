// SPDX-License-Identifier: Apache-2.0

package document

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// scan parses only the JSON that this package writes: no space between tokens, members in the order of writing. This
// takes a sixth of the time of encoding/json. After the first mismatch all further calls fail.
type scan struct {
	rest string
	bad  bool
}

// literal consumes exactly this text.
func (s *scan) literal(text string) {
	rest, ok := strings.CutPrefix(s.rest, text)
	s.rest, s.bad = rest, s.bad || !ok
}

// skip consumes the character if it is next.
func (s *scan) skip(c byte) bool {
	if s.bad || s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// list parses items between brackets.
func (s *scan) list(item func()) { s.items('[', ']', item) }

// object parses members between braces.
func (s *scan) object(member func()) { s.items('{', '}', member) }

func (s *scan) items(opening, closing byte, item func()) {
	if !s.skip(opening) {
		s.bad = true
		return
	}
	if s.skip(closing) {
		return
	}
	for {
		item()
		if s.skip(',') {
			continue
		}
		s.bad = s.bad || !s.skip(closing)
		return
	}
}

// number parses an integer.
func (s *scan) number() int64 {
	end := 0
	for end < len(s.rest) && (s.rest[end] == '-' || s.rest[end] >= '0' && s.rest[end] <= '9') {
		end++
	}
	n, err := strconv.ParseInt(s.rest[:end], 10, 64)
	s.rest, s.bad = s.rest[end:], s.bad || err != nil
	return n
}

// string parses a string. It shares the memory of the document unless it contains escapes.
func (s *scan) string() string {
	if !s.skip('"') {
		s.bad = true
		return ""
	}
	for i := range len(s.rest) {
		switch s.rest[i] {
		case '"':
			text := s.rest[:i]
			s.rest = s.rest[i+1:]
			return text
		case '\\':
			return s.escaped(i)
		}
	}
	s.bad = true
	return ""
}

// escaped parses a string whose first escape is at i.
func (s *scan) escaped(i int) string {
	var b strings.Builder
	for i < len(s.rest) {
		switch c := s.rest[i]; {
		case c == '"':
			b.WriteString(s.rest[:i])
			s.rest = s.rest[i+1:]
			return b.String()
		case c != '\\':
			i++
		case i+1 < len(s.rest) && (s.rest[i+1] == '"' || s.rest[i+1] == '\\'):
			b.WriteString(s.rest[:i])
			b.WriteByte(s.rest[i+1])
			s.rest, i = s.rest[i+2:], 0
		case i+6 <= len(s.rest) && s.rest[i+1] == 'u':
			n, err := strconv.ParseUint(s.rest[i+2:i+6], 16, 8) // a control character
			s.bad = s.bad || err != nil || n >= utf8.RuneSelf
			b.WriteString(s.rest[:i])
			b.WriteByte(byte(n))
			s.rest, i = s.rest[i+6:], 0
		default:
			i = len(s.rest)
		}
	}
	s.bad = true
	return ""
}

// done reports whether the whole text was parsed.
func (s *scan) done() bool { return !s.bad && s.rest == "" }

// NotNull returns b for a NOT NULL column of bytes: drivers write a nil slice as NULL.
func NotNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Beyond returns the smallest value that sorts after everything with the prefix, byte by byte. ok is false if there
// is none.
func Beyond[T ~string | ~[]byte](prefix T) (next T, ok bool) {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			b := append([]byte{}, prefix[:i+1]...)
			b[i]++
			return T(b), true
		}
	}
	return next, false
}
