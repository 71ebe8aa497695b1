// SPDX-License-Identifier: Apache-2.0

package bulk

import "bytes"

// Dialect describes how a CSV file separates and quotes its fields.
type Dialect struct {
	Delimiter byte
	Quote     byte // 0 if no character quotes fields

	marked bool // quotes in ="00123" are no damage; see Options.Spreadsheet
}

// comma is the dialect of RFC 4180.
var comma = Dialect{Delimiter: ',', Quote: '"'}

// lineEnd is the state at the end of a physical line.
type lineEnd int

const (
	complete lineEnd = iota
	open             // within a quoted field
	broken           // text follows a closing quote, so the rest of the line has no meaning
)

// fields holds the fields of one row, unquoted, one after another in text.
type fields struct {
	text  []byte
	spans []span
	start int   // where the field that a line left open begins
	bare  []int // the fields that have a quote within unquoted text
}

type span struct{ start, end int }

func (f *fields) reset() { f.text, f.spans, f.bare = f.text[:0], f.spans[:0], f.bare[:0] }

// at returns a field, valid until the next row.
func (f *fields) at(i int) []byte { return f.text[f.spans[i].start:f.spans[i].end] }

// strings returns the fields as parts of one string.
func (f *fields) strings(to []string) []string {
	text := string(f.text)
	for _, s := range f.spans {
		to = append(to, text[s.start:s.end])
	}
	return to
}

func (f *fields) finish(start int) { f.spans = append(f.spans, span{start, len(f.text)}) }

// literal adds the fields of a line where no character quotes.
func (f *fields) literal(d Dialect, line []byte) {
	base := len(f.text)
	f.text = append(f.text, line...)
	start := base
	for i, b := range f.text[base:] {
		if b == d.Delimiter {
			f.spans = append(f.spans, span{start, base + i})
			start = base + i + 1
		}
	}
	f.finish(start)
}

// add adds a physical line; inside means that the previous line left a quote open.
func (f *fields) add(d Dialect, line []byte, inside bool) lineEnd {
	body := trimEnd(line)
	if !inside && (d.Quote == 0 || bytes.IndexByte(body, d.Quote) < 0) {
		f.literal(d, body)
		return complete
	}
	for i := 0; ; {
		if !inside {
			f.start = len(f.text)
			if i < len(body) && body[i] == d.Quote {
				i, inside = i+1, true
			}
		}
		if inside {
			n, end := f.quoted(d, line[i:])
			switch i += n; {
			case end != complete:
				return end
			case i >= len(body):
				return complete
			}
			i, inside = i+1, false
			continue
		}
		n := bytes.IndexByte(body[i:], d.Delimiter)
		cell := body[i:]
		if n >= 0 {
			cell = cell[:n]
		}
		if bytes.IndexByte(cell, d.Quote) >= 0 && !d.isMark(cell) {
			f.bare = append(f.bare, len(f.spans))
		}
		f.text = append(f.text, cell...)
		if f.finish(f.start); n < 0 {
			return complete
		}
		i += n + 1
	}
}

// quoted adds the text of a quoted field up to its closing quote, and returns the number of bytes before the delimiter
// or the line end that follows.
func (f *fields) quoted(d Dialect, line []byte) (n int, end lineEnd) {
	for {
		i := bytes.IndexByte(line[n:], d.Quote)
		if i < 0 {
			f.text = append(f.text, line[n:]...)
			return len(line), open
		}
		f.text = append(f.text, line[n:n+i]...)
		if n += i + 1; n < len(line) && line[n] == d.Quote {
			f.text = append(f.text, d.Quote)
			n++
			continue
		}
		f.finish(f.start)
		if n < len(line) && line[n] == d.Delimiter || len(trimEnd(line[n:])) == 0 {
			return n, complete
		}
		return n, broken
	}
}

// isMark reports whether the quotes of an unquoted cell belong to a formula such as ="00123".
func (d Dialect) isMark(cell []byte) bool {
	_, is := formulaText(cell)
	return d.marked && is
}
