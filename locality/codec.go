// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"unsafe"
)

// ErrMalformed says that a text or a byte string is not an id. It is static, so
// that a parser in a hot loop does not allocate; callers add what they know.
var ErrMalformed = errors.New("locality: malformed id: want 36 characters like 20be0ffc-314a-bd53-7a50-013a65ca76d2, or 16 bytes")

// textLen is the length of an id as text.
const textLen = 36

// textOffset is where the two digits of each byte stand in the text.
var textOffset = [16]uint8{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34}

// digitValue maps a character to the value of the hex digit it is, or to 0xff.
var digitValue = func() (t [256]uint8) {
	for i := range t {
		t[i] = 0xff
	}
	for v, c := range []byte("0123456789abcdef") {
		t[c] = uint8(v)
	}
	for v, c := range []byte("ABCDEF") {
		t[c] = uint8(10 + v)
	}
	return t
}()

// Parse reads an id from its text: exactly 36 characters, hex digits of any case
// in groups of 8-4-4-4-12, nothing before, between or after. Any version is
// accepted. The error is ErrMalformed; Parse never allocates.
func Parse(s string) (ID, error) { return parse(s) }

// ParseBytes is Parse for bytes.
func ParseBytes(b []byte) (ID, error) { return parse(b) }

// MustParse is Parse for ids written in source code; it panics where Parse fails.
func MustParse(s string) ID {
	id, err := Parse(s)
	if err != nil {
		panic(fmt.Sprintf("parse id %q: %v", s, err))
	}
	return id
}

func parse[T string | []byte](s T) (id ID, err error) {
	if len(s) != textLen || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return ID{}, ErrMalformed
	}
	var seen uint8
	for i, at := range textOffset {
		hi, lo := digitValue[s[at]], digitValue[s[at+1]]
		seen |= hi | lo
		id[i] = hi<<4 | lo&0x0f
	}
	if seen > 0x0f {
		return ID{}, ErrMalformed
	}
	return id, nil
}

// encode writes the text of id in lower case.
func (id *ID) encode(dst *[textLen]byte) {
	const digits = "0123456789abcdef"
	for i, at := range textOffset {
		dst[at], dst[at+1] = digits[id[i]>>4], digits[id[i]&0x0f]
	}
	dst[8], dst[13], dst[18], dst[23] = '-', '-', '-', '-'
}

// String returns the text of the id, 36 characters in lower case. Small enough to
// be inlined, it does not allocate where the text does not outlive the caller.
func (id ID) String() string {
	b := new([textLen]byte)
	id.encode(b)
	return unsafe.String(&b[0], textLen)
}

// AppendText appends the text of the id to b; its error is always nil.
func (id ID) AppendText(b []byte) ([]byte, error) {
	var text [textLen]byte
	id.encode(&text)
	return append(b, text[:]...), nil
}

// MarshalText returns the text of the id; its error is always nil. JSON values
// and map keys, YAML, XML and flag.TextVar follow it.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(make([]byte, 0, textLen)) }

// UnmarshalText reads what Parse reads. After an error id is unchanged.
func (id *ID) UnmarshalText(b []byte) error {
	parsed, err := ParseBytes(b)
	if err == nil {
		*id = parsed
	}
	return err
}

// AppendBinary appends the 16 bytes of the id to b; its error is always nil.
func (id ID) AppendBinary(b []byte) ([]byte, error) { return append(b, id[:]...), nil }

// MarshalBinary returns the 16 bytes of the id; its error is always nil.
func (id ID) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

// UnmarshalBinary reads exactly 16 bytes. After an error id is unchanged.
func (id *ID) UnmarshalBinary(b []byte) error {
	parsed, err := FromBytes(b)
	if err == nil {
		*id = parsed
	}
	return err
}

// Value gives database/sql the id as text. Bind id[:] to store the 16 bytes.
func (id ID) Value() (driver.Value, error) { return id.String(), nil }

// Scan reads a column of database/sql: text, text in bytes, or 16 raw bytes. NULL
// sets Nil(); an empty text is an error. After an error id is unchanged.
func (id *ID) Scan(src any) error {
	var parsed ID
	var err error
	switch src := src.(type) {
	case nil:
	case string:
		parsed, err = Parse(src)
	case []byte:
		if len(src) == len(ID{}) {
			parsed = ID(src)
		} else {
			parsed, err = ParseBytes(src)
		}
	default:
		err = fmt.Errorf("%w: a column of type %T", ErrMalformed, src)
	}
	if err == nil {
		*id = parsed
	}
	return err
}
