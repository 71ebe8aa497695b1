// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// jsonScanner cuts JSON documents out of a text. It looks only at strings and brackets, so that a damaged document does
// not affect the others; strictjson parses the documents.
type jsonScanner struct {
	r    *bufio.Reader
	line int64 // of the next byte, from 1
	buf  []byte
}

func (s *jsonScanner) drop() { _, _ = s.read() }

func (s *jsonScanner) read() (byte, error) {
	b, err := s.r.ReadByte()
	if err == nil && b == '\n' {
		s.line++
	}
	return b, err
}

// space skips white space and returns the byte after it, without reading that.
func (s *jsonScanner) space() (byte, error) {
	for {
		b, err := s.r.ReadByte()
		switch {
		case err != nil:
			return 0, err
		case b == '\n':
			s.line++
		case b != ' ' && b != '\t' && b != '\r':
			return b, s.r.UnreadByte()
		}
	}
}

// value reads a document. An unmatched bracket or comma ends a document that is not an object or array.
func (s *jsonScanner) value() (document, error) {
	d := document{line: s.line}
	s.buf = s.buf[:0]
	depth, inString, escaped := 0, false, false
	for {
		b, err := s.read()
		if errors.Is(err, io.EOF) && len(s.buf) > 0 {
			d.last = true
			break
		}
		if err != nil {
			return d, err
		}
		if depth == 0 && !inString && len(s.buf) > 0 && strings.IndexByte(",]} \t\r\n", b) >= 0 {
			if b == '\n' {
				s.line--
			}
			if err := s.r.UnreadByte(); err != nil {
				return d, err
			}
			break
		}
		if len(s.buf) < MaxRow {
			s.buf = append(s.buf, b)
		} else {
			d.cut = true
		}
		switch {
		case escaped:
			escaped = false
		case inString && b == '\\':
			escaped = true
		case b == '"':
			inString = !inString
		case inString:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		}
		if depth <= 0 && !inString && (b == '}' || b == ']' || b == '"') {
			break
		}
	}
	d.text, d.lines = s.buf, s.line-d.line+1
	return d, nil
}

// enter reads up to the array at a path, such as data.items; "" means that the whole document is an array.
func (s *jsonScanner) enter(path string) error {
	for path != "" {
		name, rest, _ := strings.Cut(path, ".")
		if err := s.member(name); err != nil {
			return err
		}
		path = rest
	}
	b, err := s.space()
	if err != nil || b != '[' {
		return errors.New("there is no list")
	}
	s.drop()
	return nil
}

// member reads up to the value of a name of the object that follows.
func (s *jsonScanner) member(name string) error {
	missing := fmt.Errorf("there is no %.60q", name)
	if b, err := s.space(); err != nil || b != '{' {
		return missing
	}
	s.drop()
	for {
		b, err := s.space()
		if err != nil {
			return missing
		}
		if b == ',' {
			s.drop()
			continue
		}
		if b != '"' {
			return missing
		}
		d, err := s.value()
		if err != nil {
			return missing
		}
		var is string
		if json.Unmarshal(d.text, &is) != nil {
			return missing
		}
		if b, err := s.space(); err != nil || b != ':' {
			return missing
		}
		if s.drop(); is == name {
			return nil
		}
		if _, err := s.space(); err != nil {
			return missing
		}
		if _, err := s.value(); err != nil {
			return missing
		}
	}
}
