// SPDX-License-Identifier: Apache-2.0

package strictjson

import (
	"bytes"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the type of a value.
type Kind uint8

// Kinds of values. The zero Value is Missing.
const (
	Missing Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String returns the kind in words, with its article.
func (k Kind) String() string {
	return [...]string{"nothing", "null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// Value is one value of a validated document. It refers to the bytes passed to Parse, which must not change while it is
// in use.
type Value struct{ raw []byte }

// Kind returns the type of the value.
func (v Value) Kind() Kind {
	if len(v.raw) == 0 {
		return Missing
	}
	switch v.raw[0] {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 'n':
		return Null
	case 't', 'f':
		return Bool
	}
	return Number
}

// Raw returns the value as written, without surrounding white space.
func (v Value) Raw() []byte { return v.raw }

// Text returns the content of a string, "" for any other value.
func (v Value) Text() string {
	if v.Kind() != String {
		return ""
	}
	return string(content(v.raw[1 : len(v.raw)-1]))
}

// Number returns a number as written, "" for any other value.
func (v Value) Number() string {
	if v.Kind() != Number {
		return ""
	}
	return string(v.raw)
}

// Items returns the items of an array with their indexes; none for any other value.
func (v Value) Items() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != Array {
			return
		}
		for i, pos := 0, next(v.raw, 1); v.raw[pos] != ']'; i++ {
			end := skip(v.raw, pos)
			if !yield(i, Value{v.raw[pos:end:end]}) {
				return
			}
			pos = next(v.raw, end)
		}
	}
}

// Members returns the names and values of an object in document order; none for any other value.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.Kind() != Object {
			return
		}
		for pos := next(v.raw, 1); v.raw[pos] != '}'; {
			end := skip(v.raw, pos)
			name := content(v.raw[pos+1 : end-1])
			pos = next(v.raw, end)
			end = skip(v.raw, pos)
			if !yield(string(name), Value{v.raw[pos:end:end]}) {
				return
			}
			pos = next(v.raw, end)
		}
	}
}

// next skips white space, commas and colons, whose positions Parse has validated.
func next(data []byte, pos int) int {
	for {
		switch data[pos] {
		case ' ', '\t', '\n', '\r', ',', ':':
			pos++
		default:
			return pos
		}
	}
}

// skip returns the end of the value that begins at pos.
func skip(data []byte, pos int) int {
	switch data[pos] {
	case '"':
		return skipString(data, pos)
	case '{', '[':
		for depth := 0; ; {
			switch data[pos] {
			case '"':
				pos = skipString(data, pos)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return pos + 1
				}
			}
			pos++
		}
	}
	for pos < len(data) && bytes.IndexByte([]byte(" \t\n\r,]}"), data[pos]) < 0 {
		pos++
	}
	return pos
}

func skipString(data []byte, pos int) int {
	for pos++; data[pos] != '"'; pos++ {
		if data[pos] == '\\' {
			pos++
		}
	}
	return pos + 1
}

// content unescapes the text between the quotes of a validated string.
func content(inner []byte) []byte {
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	quoted := append(append([]byte{'"'}, inner...), '"')
	out, _ := jsontext.AppendUnquote(nil, quoted) // validated by Parse
	return out
}
