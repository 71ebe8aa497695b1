// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// ErrMalformed means that a text or a byte string is not an ID. It is static, so that a parser in a hot loop does not
// allocate; callers add context.
var ErrMalformed = errors.New("locality: malformed id: want 36 characters like 20be0ffc-314a-bd53-7a50-013a65ca76d2, or 16 bytes")

const textLen = 36

const hexDigits = "0123456789abcdef"

// hexPair maps a byte to its two digits, the first one in the low half.
var hexPair = func() (t [256]uint16) {
	for i := range t {
		t[i] = uint16(hexDigits[i>>4]) | uint16(hexDigits[i&0x0f])<<8
	}
	return t
}()

// highDigit and lowDigit map a character to the value of its hex digit, in the high or in the low half of a byte, or to
// a value above 0xff. So two lookups make a byte, and one comparison at the end detects all invalid characters.
var highDigit, lowDigit = func() (high, low [256]uint16) {
	for c := range high {
		high[c], low[c] = 0x100, 0x100
	}
	for v, c := range []byte(hexDigits) {
		high[c], low[c] = uint16(v)<<4, uint16(v)
	}
	for v, c := range []byte("ABCDEF") {
		high[c], low[c] = uint16(10+v)<<4, uint16(10+v)
	}
	return high, low
}()

// Parse parses the text of an ID: exactly 36 characters, hex digits of any case in groups of 8-4-4-4-12, nothing
// before, between or after. Any version is accepted. The error is ErrMalformed; Parse never allocates.
func Parse(s string) (ID, error) { return parse(s) }

// ParseBytes is Parse for bytes.
func ParseBytes(b []byte) (ID, error) { return parse(b) }

// MustParse is Parse for IDs in source code; it panics if Parse fails.
func MustParse(s string) ID {
	id, err := Parse(s)
	if err != nil {
		panic(fmt.Sprintf("parse id %q: %v", s, err))
	}
	return id
}

// ParseLenient is Parse for text pasted by people. It first removes, in this order,
//
//   - characters up to U+0020 at both ends, as Java's String.trim does, because the reference class accepts such
//     texts. Other white space is an error;
//   - one {} around the rest, or one urn:uuid: in any case before it, not both;
//
// and then accepts what Parse accepts, or the 32 hex digits without hyphens. The error is ErrMalformed; ParseLenient
// never allocates.
func ParseLenient(s string) (ID, error) {
	const urn = "urn:uuid:"
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	switch n := len(s); {
	case n > 2 && s[0] == '{' && s[n-1] == '}':
		s = s[1 : n-1]
	case n > len(urn) && strings.EqualFold(s[:len(urn)], urn):
		s = s[len(urn):]
	}
	if len(s) != textLen-4 {
		return parse(s)
	}
	text := [textLen]byte{8: '-', 13: '-', 18: '-', 23: '-'}
	copy(text[0:8], s[0:])
	copy(text[9:13], s[8:])
	copy(text[14:18], s[12:])
	copy(text[19:23], s[16:])
	copy(text[24:36], s[20:])
	return parse(text[:])
}

// parse is unrolled: constant indices avoid bounds checks, and it takes two thirds of the time of a loop.
func parse[T string | []byte](s T) (ID, error) {
	if len(s) != textLen || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return ID{}, ErrMalformed
	}
	high, low := &highDigit, &lowDigit
	b0, b1 := high[s[0]]|low[s[1]], high[s[2]]|low[s[3]]
	b2, b3 := high[s[4]]|low[s[5]], high[s[6]]|low[s[7]]
	b4, b5 := high[s[9]]|low[s[10]], high[s[11]]|low[s[12]]
	b6, b7 := high[s[14]]|low[s[15]], high[s[16]]|low[s[17]]
	b8, b9 := high[s[19]]|low[s[20]], high[s[21]]|low[s[22]]
	b10, b11 := high[s[24]]|low[s[25]], high[s[26]]|low[s[27]]
	b12, b13 := high[s[28]]|low[s[29]], high[s[30]]|low[s[31]]
	b14, b15 := high[s[32]]|low[s[33]], high[s[34]]|low[s[35]]
	if b0|b1|b2|b3|b4|b5|b6|b7|b8|b9|b10|b11|b12|b13|b14|b15 > 0xff {
		return ID{}, ErrMalformed
	}
	return ID{
		byte(b0), byte(b1), byte(b2), byte(b3), byte(b4), byte(b5), byte(b6), byte(b7),
		byte(b8), byte(b9), byte(b10), byte(b11), byte(b12), byte(b13), byte(b14), byte(b15),
	}, nil
}

// encode writes the text of id in lower case. It is unrolled like parse.
func (id *ID) encode(dst *[textLen]byte) {
	le := binary.LittleEndian // the byte order of hexPair, whatever the machine
	le.PutUint16(dst[0:2], hexPair[id[0]])
	le.PutUint16(dst[2:4], hexPair[id[1]])
	le.PutUint16(dst[4:6], hexPair[id[2]])
	le.PutUint16(dst[6:8], hexPair[id[3]])
	dst[8] = '-'
	le.PutUint16(dst[9:11], hexPair[id[4]])
	le.PutUint16(dst[11:13], hexPair[id[5]])
	dst[13] = '-'
	le.PutUint16(dst[14:16], hexPair[id[6]])
	le.PutUint16(dst[16:18], hexPair[id[7]])
	dst[18] = '-'
	le.PutUint16(dst[19:21], hexPair[id[8]])
	le.PutUint16(dst[21:23], hexPair[id[9]])
	dst[23] = '-'
	le.PutUint16(dst[24:26], hexPair[id[10]])
	le.PutUint16(dst[26:28], hexPair[id[11]])
	le.PutUint16(dst[28:30], hexPair[id[12]])
	le.PutUint16(dst[30:32], hexPair[id[13]])
	le.PutUint16(dst[32:34], hexPair[id[14]])
	le.PutUint16(dst[34:36], hexPair[id[15]])
}

// String returns the text of the ID, 36 characters in lower case. It is small enough to be inlined, so it does not
// allocate if the text does not outlive the caller.
func (id ID) String() string {
	b := new([textLen]byte)
	id.encode(b)
	return unsafe.String(&b[0], textLen)
}

// AppendText appends the text of the ID to b; its error is always nil.
func (id ID) AppendText(b []byte) ([]byte, error) {
	n := len(b)
	b = append(b, "xxxxxxxx-xxxx-bxxx-xxxx-xxxxxxxxxxxx"...)
	// written in place, because copying bytes that were just written stalls the processor
	id.encode((*[textLen]byte)(b[n:]))
	return b, nil
}

// MarshalText returns the text of the ID; its error is always nil. JSON values and map keys, YAML, XML and flag.TextVar
// use it.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(make([]byte, 0, textLen)) }

// UnmarshalText parses like Parse. After an error id is unchanged.
func (id *ID) UnmarshalText(b []byte) error {
	parsed, err := ParseBytes(b)
	if err == nil {
		*id = parsed
	}
	return err
}
