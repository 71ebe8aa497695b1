// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
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

// Parse checks that data is one document and returns its value, which refers to data. The errors
// are those of this package; each names the byte where the fault was seen, from 0.
func Parse(data []byte) (Value, error) {
	if at := InvalidUTF8(data); at >= 0 {
		return Value{}, fmt.Errorf("%w at byte %d", ErrUTF8, at)
	}
	start := len(data) - len(trim(data))
	d := jsontext.NewDecoder(bytes.NewBuffer(data))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return Value{}, fault(data, err)
		}
		depth := d.StackDepth()
		switch token.Kind() {
		case '{', '[':
			if depth > MaxDepth {
				return Value{}, fmt.Errorf("%w at byte %d: %d levels are taken", ErrDepth, d.InputOffset()-1, MaxDepth)
			}
		case '"':
			if kind, n := d.StackIndex(depth); kind == '{' && n > 2*MaxNames { // names and values
				return Value{}, fmt.Errorf("%w at byte %d: an object has at most %d names", ErrSyntax, d.InputOffset(), MaxNames)
			}
		case '0':
			if number := token.String(); len(number) > MaxNumber {
				return Value{}, fmt.Errorf("%w at byte %d: a number has at most %d characters", ErrSyntax, d.InputOffset()-int64(len(number)), MaxNumber)
			}
		}
		if depth == 0 {
			break
		}
	}
	end := int(d.InputOffset())
	if rest := trim(data[end:]); len(rest) > 0 {
		return Value{}, fmt.Errorf("%w at byte %d: send one document", ErrTrailing, len(data)-len(rest))
	}
	return Value{raw: data[start:end:end]}, nil
}

// trim removes the white space of JSON in front.
func trim(data []byte) []byte { return bytes.TrimLeft(data, " \t\n\r") }

// fault returns what the decoder says in terms of this package.
func fault(data []byte, err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w at byte %d: it ends too early", ErrSyntax, len(data))
	case !errors.As(err, &syntax):
		return fmt.Errorf("%w: %w", ErrSyntax, err)
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Errorf("%w %.40q at byte %d", ErrDuplicate, syntax.JSONPointer.LastToken(), syntax.ByteOffset)
	case escapes(data[syntax.ByteOffset:]):
		return fmt.Errorf("%w at byte %d: the escape of a lone surrogate", ErrUTF8, syntax.ByteOffset)
	}
	return fmt.Errorf("%w at byte %d: %w", ErrSyntax, syntax.ByteOffset, syntax.Err)
}

// escapes reports whether data begins with a well-formed \uXXXX: nothing but a lone surrogate is wrong about one.
func escapes(data []byte) bool {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return false
	}
	_, err := strconv.ParseUint(string(data[2:6]), 16, 16)
	return err == nil
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
