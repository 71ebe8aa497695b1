// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of a document.
const (
	MaxDepth  = 32  // arrays and objects inside each other
	MaxNames  = 256 // names of one object
	MaxNumber = 32  // characters of a number
)

var (
	// ErrSyntax says that the bytes are not a JSON document, or that an object or a number is too long.
	ErrSyntax = errors.New("strictjson: malformed JSON")
	// ErrUTF8 says that a text is not UTF-8, or that an escape names half of a surrogate pair.
	ErrUTF8 = errors.New("strictjson: invalid UTF-8")
	// ErrDuplicate says that an object has a name twice.
	ErrDuplicate = errors.New("strictjson: duplicate name")
	// ErrTrailing says that something follows the document.
	ErrTrailing = errors.New("strictjson: data after the document")
	// ErrDepth says that arrays and objects are nested too deep.
	ErrDepth = errors.New("strictjson: nested too deep")
)

// Parse checks that data is one document and answers with its value, which refers to data. The
// errors are those of this package; each names the byte where the fault was seen, from 0.
func Parse(data []byte) (Value, error) {
	if at := InvalidUTF8(data); at >= 0 {
		return Value{}, fmt.Errorf("%w at byte %d", ErrUTF8, at)
	}
	s := scanner{data: data}
	s.space()
	start := s.pos
	if err := s.value(0); err != nil {
		return Value{}, err
	}
	end := s.pos
	if s.space(); s.pos < len(data) {
		return Value{}, fmt.Errorf("%w at byte %d: send one document", ErrTrailing, s.pos)
	}
	return Value{raw: data[start:end:end]}, nil
}

// InvalidUTF8 is the place of the first byte that is not UTF-8, from 0; -1 if there is none.
func InvalidUTF8(data []byte) int {
	if utf8.Valid(data) { // many times faster than to look at every rune
		return -1
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// scanner checks a document from left to right. names holds the names of the objects that are
// open, the innermost last.
type scanner struct {
	data  []byte
	pos   int
	names [][]byte
}

func (s *scanner) fault(what string) error {
	if s.pos >= len(s.data) {
		return fmt.Errorf("%w at byte %d: it ends too early", ErrSyntax, s.pos)
	}
	return fmt.Errorf("%w at byte %d: %s", ErrSyntax, s.pos, what)
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek is the next byte, 0 at the end, which is no byte of the grammar.
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) value(depth int) error {
	switch c := s.peek(); {
	case c == '"':
		_, err := s.text() // unescaped by whoever reads it
		return err
	case c == '{' || c == '[':
		if depth == MaxDepth {
			return fmt.Errorf("%w at byte %d: %d levels are taken", ErrDepth, s.pos, MaxDepth)
		}
		if c == '{' {
			return s.object(depth + 1)
		}
		return s.array(depth + 1)
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	}
	return s.fault("want a value")
}

func (s *scanner) literal(word string) error {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return s.fault("want " + word)
	}
	s.pos += len(word)
	return nil
}

func (s *scanner) array(depth int) error {
	s.pos++
	s.space()
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		s.space()
		if err := s.value(depth); err != nil {
			return err
		}
		if more, err := s.more(']'); !more {
			return err
		}
	}
}

func (s *scanner) object(depth int) error {
	base := len(s.names)
	defer func() { s.names = s.names[:base] }()
	var wide map[string]struct{}
	s.pos++
	s.space()
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	for {
		s.space()
		at := s.pos
		if s.peek() != '"' {
			return s.fault("want a name in double quotes")
		}
		name, err := s.text()
		if err != nil {
			return err
		}
		if wide, err = s.once(content(name), base, wide, at); err != nil {
			return err
		}
		if s.space(); s.peek() != ':' {
			return s.fault("want :")
		}
		s.pos++
		s.space()
		if err := s.value(depth); err != nil {
			return err
		}
		if more, err := s.more('}'); !more {
			return err
		}
	}
}

// more passes over what follows a value inside of an array or an object and tells whether it is a
// comma. The error says that it is neither that nor the byte that closes.
func (s *scanner) more(closing byte) (bool, error) {
	s.space()
	switch s.peek() {
	case ',':
		s.pos++
		return true, nil
	case closing:
		s.pos++
		return false, nil
	}
	return false, s.fault("want , or " + string(closing))
}

// once notes a name of the innermost object and refuses it if it is there. Few names are compared
// one by one; more go to a map, so that the work stays linear.
func (s *scanner) once(name []byte, base int, wide map[string]struct{}, at int) (map[string]struct{}, error) {
	const few = 16
	seen := s.names[base:]
	if len(seen) == MaxNames {
		return nil, fmt.Errorf("%w at byte %d: an object has at most %d names", ErrSyntax, at, MaxNames)
	}
	found := false
	switch {
	case len(seen) < few:
		for _, other := range seen {
			found = found || bytes.Equal(other, name)
		}
	case wide == nil:
		wide = make(map[string]struct{}, 2*few)
		for _, other := range seen {
			wide[string(other)] = struct{}{}
		}
		fallthrough
	default:
		_, found = wide[string(name)]
		wide[string(name)] = struct{}{}
	}
	if found {
		return nil, fmt.Errorf("%w %.40q at byte %d", ErrDuplicate, name, at)
	}
	s.names = append(s.names, name)
	return wide, nil
}

// text passes over a string and answers with what stands between its quotes, as it is written.
func (s *scanner) text() ([]byte, error) {
	s.pos++
	start := s.pos
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return s.data[start : s.pos-1], nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
		case c < ' ':
			return nil, s.fault("a control character in a string must be escaped")
		}
	}
	return nil, s.fault("want \"")
}

// escape checks the escape at pos and stops at its last byte.
func (s *scanner) escape() error {
	at := s.pos
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
	default:
		return s.fault("no such escape")
	}
	r, ok := hex4(s.data[s.pos+1:])
	if !ok {
		return s.fault("want four hex digits")
	}
	s.pos += 4
	if !utf16.IsSurrogate(r) {
		return nil
	}
	if rest := s.data[s.pos+1:]; len(rest) > 2 && rest[0] == '\\' && rest[1] == 'u' {
		if low, ok := hex4(rest[2:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			s.pos += 6
			return nil
		}
	}
	return fmt.Errorf("%w at byte %d: the escape of a lone surrogate", ErrUTF8, at)
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func (s *scanner) number() error {
	start := s.pos
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if !s.digits() {
		return s.fault("want a digit")
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return s.fault("want a digit")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.fault("want a digit")
		}
	}
	if s.pos-start > MaxNumber {
		return fmt.Errorf("%w at byte %d: a number has at most %d characters", ErrSyntax, start, MaxNumber)
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}
