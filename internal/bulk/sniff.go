// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bufio"
	"bytes"
	"errors"
	"strings"

	"github.com/locus-db/locus/match"
)

// delimiters are the delimiters to try, the most usual first.
var delimiters = []byte{',', ';', '\t', '|'}

// sampleRows is the maximum number of rows of a sample that are examined.
const sampleRows = 1000

// sniffed is the result of reading the sample of a CSV file with one dialect.
type sniffed struct {
	dialect Dialect
	rows    [][]string
	width   int // of most rows
	usual   int // rows of that width
	score   float64
	err     error // why the first row cannot be read
}

// sniffDialect returns the dialect that explains a sample best: the share of rows of the usual width, times the share
// of values of a known form, plus one for each name in the first row that means something. Part says that the file is
// longer.
func sniffDialect(text []byte, part bool, o *Options, kinds []*match.Schema) sniffed {
	var best sniffed
	for i, delimiter := range delimiters {
		if o.Delimiter != "" {
			if delimiter = o.Delimiter[0]; i > 0 {
				break
			}
		}
		if s := sniffWith(text, part, delimiter, o, kinds); i == 0 || s.score > best.score {
			best = s
		}
	}
	return best
}

func sniffWith(text []byte, part bool, delimiter byte, o *Options, kinds []*match.Schema) sniffed {
	s := sniffed{dialect: Dialect{Delimiter: delimiter, Quote: sniffQuote(text, delimiter)}}
	switch o.Quote {
	case "":
	case noQuote:
		s.dialect.Quote = 0
	default:
		s.dialect.Quote = o.Quote[0]
	}
	s.rows, s.err = sampleOf(text, s.dialect, part)
	widths := map[int]int{}
	for _, row := range s.rows {
		widths[len(row)]++
	}
	if len(s.rows) == 0 {
		return s
	}
	for width, n := range widths {
		if n > s.usual || n == s.usual && width > s.width {
			s.width, s.usual = width, n
		}
	}
	known, cells := 0, 0
	for _, row := range s.rows {
		for _, value := range row {
			if cells++; formOf(value) != formWords || !bytes.ContainsAny([]byte(value), ",;\t|") {
				known++
			}
		}
	}
	if s.width > 1 {
		s.score = float64(s.usual) / float64(len(s.rows)) * float64(known) / float64(max(cells, 1))
	}
	if !o.NoHeader {
		for _, name := range s.rows[0] {
			if isHeaderName(name, kinds) {
				s.score++
			}
		}
	}
	return s
}

// noQuote is Options.Quote for files where no character quotes.
const noQuote = "none"

// unclosed is a number of lines. If this many begin a field with a double quote and none ends it, double quotes do not
// quote; if this many have a field in apostrophes, apostrophes do.
const unclosed = 10

// sniffQuote returns the character that quotes fields in a sample. It is the apostrophe only if every field that begins
// with one also ends with one, unlike "'t Hooft", in at least half of the lines. A few such fields may be values,
// unless the header or a delimiter within a field shows otherwise. It is the double quote unless many fields begin with
// one and none ends with one.
func sniffQuote(text []byte, delimiter byte) byte {
	if n := quotedLines(text, Dialect{Delimiter: delimiter, Quote: '\''}); n.opened > 0 && n.opened == n.closed && 2*n.opened >= n.lines && (n.shown || n.opened >= unclosed) {
		return '\''
	}
	n := quotedLines(text, Dialect{Delimiter: delimiter, Quote: '"'})
	if n.opened < unclosed || n.closed > 0 {
		return '"'
	}
	for _, after := range []byte{delimiter, '\r', '\n'} {
		if bytes.Contains(text, []byte{'"', after}) {
			return '"'
		}
	}
	return 0
}

// quoted counts the lines of a sample.
type quoted struct {
	lines  int
	opened int  // with a field that begins with a quote
	closed int  // lines where all such fields also end with it
	shown  bool // the first line is one of these, or one has a delimiter between quotes
}

func quotedLines(text []byte, d Dialect) (n quoted) {
	var f fields
	for line := range bytes.Lines(text) {
		n.lines++
		if line[0] != d.Quote && !bytes.Contains(line, []byte{d.Delimiter, d.Quote}) {
			continue
		}
		n.opened++
		f.reset()
		if f.add(d, line, false) == complete {
			n.closed++
			n.shown = n.shown || n.lines == 1 || len(f.spans) <= bytes.Count(line, []byte{d.Delimiter})
		}
	}
	return n
}

// readerOf returns a reader of a sample with a buffer of its size, because a sample is read several times during
// recognition.
func readerOf(text []byte) *bufio.Reader {
	return bufio.NewReaderSize(bytes.NewReader(text), min(len(text)+1, sample))
}

// sampleOf returns the rows of a sample, and the error that ended it.
func sampleOf(text []byte, d Dialect, part bool) (rows [][]string, err error) {
	s := scanner{lines: &lines{r: readerOf(text), encoding: UTF8, part: part}, dialect: d}
	for len(rows) < sampleRows {
		_, err := s.next()
		if _, refused := errors.AsType[*RowError](err); refused && len(rows) > 0 {
			continue
		}
		if err != nil {
			return rows, err
		}
		if rows = append(rows, s.row.strings(nil)); len(rows) == 1 {
			s.width = len(rows[0])
		}
	}
	return rows, nil
}

// hasHeader reports whether the first row of a sample is a header: more of its names have a meaning than values have
// the form of their column, or no value has that form.
func hasHeader(rows [][]string, kinds []*match.Schema) bool {
	if len(rows) == 0 {
		return false
	}
	names, values := 0, 0
	for i, name := range rows[0] {
		if is := columnForm(rows[1:], i); is != formWords && is != formEmpty && formOf(name) == is {
			values++
		} else if isHeaderName(name, kinds) {
			names++
		}
	}
	return names > values || values == 0
}

// columnForm returns the form of most values of a column, formWords if there is none.
func columnForm(rows [][]string, i int) form {
	var counts [formPhone + 1]int
	all := 0
	for _, row := range rows {
		if i < len(row) && strings.TrimSpace(row[i]) != "" {
			counts[formOf(row[i])]++
			all++
		}
	}
	for is, n := range counts {
		if 2*n > all {
			return form(is)
		}
	}
	return formWords
}
