// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// scanner reads the rows of a CSV file: fields separated by the delimiter, quotes around fields that contain
// delimiters, quotes or line ends, doubled quotes inside, lines ended by LF or CR LF. Blank lines are skipped. A quote
// within unquoted text is text, as in spreadsheets, except in a key.
//
// A field whose quote is still open at the end of its line is either a value of several lines or damage. It is accepted
// as a value only if
//
//	the quote closes before a delimiter or a line end, within MaxRow;
//	the row then has the width of the header;
//	no line of it but the first is a row by itself: of that width, with a key of a common form. Where forms of keys
//	mean something, a line is one too if it has quotes in unquoted text after the key, or begins another field of
//	several lines. A quote before the key may close the field.
//
// Otherwise only the first line is refused, and the lines after it are read as rows; up to the next complete row they
// are accepted only if their key has a common form.
type scanner struct {
	lines   *lines
	dialect Dialect
	width   int   // columns of the header, 0 while the header is read
	keys    []int // columns of the key

	row    fields
	alone  fields // a line that may be a complete row
	raw    []byte // the first line of the row, without its end
	span   int64  // physical lines of the row
	ended  bool   // whether its last line has a line end
	shapes shapes
	doubt  bool  // whether a row was broken and none was accepted since
	reread int64 // bytes that were read ahead and have to be read again
	empty  Empty
}

// Causes of refusals, as counted in a summary.
const (
	causeQuote    = "quote never closed"
	causeText     = "text after a closing quote"
	causeKeyQuote = "quote in the key"
	causePiece    = "piece of a broken row"
	causeLong     = "too long"
	causeWide     = "too many columns"
	causeBytes    = "not text in its encoding"
	causeWidth    = "wrong number of columns"
	causeCut      = "cut off at the end"
)

// next reads one row and returns the number of its first line. The error is a *RowError or a read error.
func (s *scanner) next() (first int64, err error) {
	line, cut, err := s.lines.read()
	for err == nil && !cut && s.blank(line) {
		if len(trimEnd(line)) > 0 {
			s.empty.add(s.lines.number)
		}
		line, cut, err = s.lines.read()
	}
	if err != nil {
		return 0, err
	}
	s.row.reset()
	first, s.span, s.ended = s.lines.number, 1, ended(line)
	s.raw = append(s.raw[:0], trimEnd(line)...)
	damaged, offset := s.lines.bad, s.lines.offset
	if cut {
		// The quotes in the rest of the line are unknown, so it is the whole row.
		return first, s.refuse(first, "too_large", causeLong, "it is longer than %d bytes", MaxRow)
	}
	switch s.row.add(s.dialect, line, false) {
	case broken:
		s.doubt = true
		err = s.refuse(first, "malformed", causeText, "text follows a closing quote: double the quotes inside of the field")
	case open:
		switch reason := s.readOn(&damaged, &offset); reason {
		case "":
		case beyond:
			return 0, io.EOF
		default:
			s.doubt, s.span, s.ended = true, 1, true
			return first, s.refuse(first, "malformed", causeQuote, "a quote is opened and not closed: %s; the lines after this one are read on their own", reason)
		}
	}
	switch {
	case damaged >= 0:
		return first, s.refuse(first, "invalid_utf8", causeBytes, "byte %d of the file is not %s; is the file in another encoding?", offset+int64(damaged), s.lines.encodingName())
	case err != nil:
		return first, err
	case len(s.row.spans) > MaxColumns:
		least := ""
		if !s.ended { // of a sample
			least = "at least "
		}
		return first, s.refuse(first, "too_large", causeWide, "it has %s%d columns, at most %d", least, len(s.row.spans), MaxColumns)
	case s.width == 0:
		return first, nil
	case len(s.row.spans) != s.width:
		s.doubt = true // the quote of a field of several lines may be missing
		return first, nil
	}
	return first, s.believe(first)
}

// endOfDOS is the character at the end of a text of MS-DOS.
const endOfDOS = 0x1a

// blank reports whether a line has no value: it is empty or has only delimiters, as spreadsheets write empty rows.
func (s *scanner) blank(line []byte) bool {
	text := trimEnd(line)
	if len(text) == 0 || len(text) == 1 && text[0] == endOfDOS {
		return true
	}
	if text[0] != s.dialect.Delimiter || s.width == 0 {
		return false
	}
	return bytes.Count(text, []byte{s.dialect.Delimiter}) == len(text)
}

// believe accepts a row of the right width and learns the form of its key, or refuses the row.
func (s *scanner) believe(first int64) error {
	for _, i := range s.keys {
		if slices.Contains(s.row.bare, i) {
			return s.refuse(first, "malformed", causeKeyQuote, "a quote stands in the middle of the key: put the field into quotes and double the quote")
		}
	}
	for _, i := range s.keys {
		if s.doubt && !s.shapes.common(s.row.at(i)) {
			return s.refuse(first, "malformed", causePiece, "a row before it is broken, and its key %.40q is unlike the others of the file: it may be a piece of that row", s.row.at(i))
		}
		s.shapes.learn(s.row.at(i))
	}
	s.doubt = false
	return nil
}

// beyond is the reason of readOn for a row that a sample does not have whole.
const beyond = "the sample ends before"

// readOn reads to the end of an open quote. If the row cannot be accepted, it goes back to the second line of the row
// and returns the reason. damaged is the offset of the first invalid byte, in the line that begins at offset, -1 if
// there is none.
func (s *scanner) readOn(damaged *int, offset *int64) (reason string) {
	if s.reread > 4*s.lines.next+MaxRow {
		return "too many quotes before it were not either"
	}
	size := int64(len(s.raw))
	first, begin := s.lines.number, s.lines.next
	s.lines.hold()
	stray := func(format string, args ...any) string {
		s.reread += s.lines.next - begin
		s.lines.back()
		return fmt.Sprintf(format, args...)
	}
	for {
		line, cut, err := s.lines.read()
		if err != nil && s.lines.part && s.width > 0 {
			return beyond
		}
		if err != nil {
			return stray("the file ends before")
		}
		if size += int64(len(line)); cut || size > MaxRow+2 {
			return stray("a row has at most %d bytes", MaxRow)
		}
		if s.isRow(line) {
			return stray("line %d is a row by itself", s.lines.number)
		}
		if *damaged < 0 {
			*damaged, *offset = s.lines.bad, s.lines.offset
		}
		switch s.row.add(s.dialect, line, true) {
		case broken:
			return stray("in line %d text follows the next quote", s.lines.number)
		case complete:
			if s.width > 0 && len(s.row.spans) != s.width {
				return stray("with the lines up to the next quote it would have %d columns, the header has %d", len(s.row.spans), s.width)
			}
			s.span, s.ended = s.lines.number-first+1, ended(line)
			s.lines.letGo()
			return ""
		}
	}
}

// isRow reports whether a line is a complete row.
func (s *scanner) isRow(line []byte) bool {
	if s.width == 0 {
		return false
	}
	s.alone.reset()
	end, telling := s.alone.add(s.dialect, line, false), len(s.keys) > 0 && s.shapes.telling()
	switch columns := len(s.alone.spans); {
	case end == open && telling && columns < s.width: // the first line of another row of several lines
	case end != complete || columns != s.width:
		return false
	}
	if len(s.alone.bare) > 0 && !telling {
		return false
	}
	for _, i := range s.keys {
		if len(s.alone.bare) > 0 && i >= s.alone.bare[0] {
			return false // the quote before the key may close the field
		}
		if i >= len(s.alone.spans) || len(s.alone.at(i)) == 0 || !s.shapes.common(s.alone.at(i)) {
			return false
		}
	}
	return true
}

// primeLines is the maximum number of lines of one row that prime examines.
const primeLines = 100

// prime learns the forms of the keys from the lines that were read ahead. It does not count lines within a quoted field
// if the row has the width of the header.
func (s *scanner) prime(text []byte) {
	for len(text) > 0 {
		first, rest := cutLine(text)
		text = rest
		if !ended(first) {
			return
		}
		s.alone.reset()
		end := s.alone.add(s.dialect, first, false)
		for n := 0; end == open && n < primeLines && len(rest) > 0; n++ {
			var line []byte
			line, rest = cutLine(rest)
			end = s.alone.add(s.dialect, line, true)
		}
		if end != complete || len(s.alone.spans) != s.width {
			continue
		}
		text = rest
		for _, k := range s.keys {
			if key := s.alone.at(k); len(key) > 0 && len(s.alone.bare) == 0 {
				s.shapes.learn(key)
			}
		}
	}
}

// cutLine cuts the first line off a text.
func cutLine(text []byte) (line, rest []byte) {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1], text[i+1:]
	}
	return text, nil
}

// refuse returns the error of a row. The reader adds the row itself.
func (s *scanner) refuse(first int64, code, cause, format string, args ...any) *RowError {
	return &RowError{Line: first, Lines: s.span, Code: code, Cause: cause, Reason: fmt.Sprintf(format, args...)}
}
