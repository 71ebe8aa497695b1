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
	MaxDepth  = 32   // nested arrays and objects
	MaxNames  = 4096 // names in one object
	MaxNumber = 32   // characters in a number
)

var (
	// ErrSyntax means that the bytes are not a JSON document, or that an object or a number is too long.
	ErrSyntax = errors.New("malformed JSON")
	// ErrUTF8 means that the text is not UTF-8, or that an escape is half of a surrogate pair.
	ErrUTF8 = errors.New("invalid UTF-8")
	// ErrDuplicate means that an object has a name twice.
	ErrDuplicate = errors.New("duplicate name")
	// ErrTrailing means that something follows the document.
	ErrTrailing = errors.New("data after the document")
	// ErrDepth means that arrays and objects are nested too deeply.
	ErrDepth = errors.New("nested too deep")
)

// Parse validates data as one document and returns its value, which refers to data. The error is one of this package's;
// it names the byte offset of the fault, from 0.
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
			if kind, n := d.StackIndex(depth); kind == '{' && n > 2*MaxNames { // n counts names and values
				return Value{}, fmt.Errorf("%w at byte %d: an object has at most %d names", ErrSyntax, d.InputOffset(), MaxNames)
			}
		case '0':
			if number := token.String(); len(number) > MaxNumber {
				return Value{}, fmt.Errorf("%w at byte %d: a number has at most %d characters", ErrSyntax,
					d.InputOffset()-int64(len(number)), MaxNumber)
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

// trim removes leading JSON white space.
func trim(data []byte) []byte { return bytes.TrimLeft(data, " \t\n\r") }

// fault converts a decoder error to one of this package.
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

// escapes reports whether data begins with a well-formed \uXXXX. The only fault that such an escape can have is a lone
// surrogate.
func escapes(data []byte) bool {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return false
	}
	_, err := strconv.ParseUint(string(data[2:6]), 16, 16)
	return err == nil
}

// InvalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func InvalidUTF8(data []byte) int {
	if utf8.Valid(data) { // many times faster than the loop below
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
