// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/sqltable"
	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/match"
)

// Recognise reads the beginning of a file, at most 256 KiB, and returns how to read it as records of one of the kinds;
// the first is the default. name may be "-" for stdin, or the URL of a database. Options are applied as given and the
// rest is recognised. The error is a *FileError: the file cannot be read, or an option does not fit it. Plan.Questions
// has what only a person can answer. Close the plan, or the reader of Plan.Open.
func Recognise(name string, stdin io.Reader, kinds []*match.Schema, o *Options) (*Plan, error) {
	if o == nil {
		o = &Options{}
	}
	if sqltable.IsURL(name) {
		return recogniseDatabase(name, kinds, o)
	}
	r, err := openInput(name, o.Copies[name], stdin, o.Encoding)
	if err != nil {
		return nil, err
	}
	p := &Plan{Name: name, Rows: o.Rows, options: o, stdin: stdin, reader: r}
	if err := p.recognise(r, kinds); err != nil {
		return nil, errors.Join(r.broken(err), p.Close())
	}
	if !r.stream && r.file != nil {
		if err := p.Close(); err != nil {
			return nil, r.broken(err)
		}
	}
	return p, nil
}

func (p *Plan) recognise(r *Reader, kinds []*match.Schema) error {
	if r.container != Auto || p.options.Format.isTable() {
		return p.recogniseTable(r, kinds)
	}
	text, whole, err := sampleText(r.lines)
	if err != nil {
		return err
	}
	if p.Format = p.options.Format; p.Format == Auto {
		p.Format = detectFormat(r.inner, text)
	}
	if of := r.lines.encoding; p.Format != CSV && p.options.Encoding == AutoEncoding && (of == AutoEncoding || of == Windows1252) {
		r.lines.encoding = UTF8 // JSON is (RFC 8259); a byte that is not is damage
		if text, whole, err = sampleText(r.lines); err != nil {
			return err
		}
	}
	if p.Format == CSV {
		err := cmp.Or(refuseMarkup(p.Name, text), refuseStatements(p.Name, text))
		if err == nil && p.options.Delimiter == "" {
			err = refuseDrawn(p.Name, text)
		}
		if err != nil {
			return err
		}
		if text, whole, err = p.reread(r.lines, text, whole, kinds); err != nil {
			return err
		}
	}
	p.Encoding, p.longer = r.lines.encoding, !whole
	if p.Format == JSONL && p.Rows != "" {
		p.Format = JSON
	}
	var columns []sampled
	rows := 0
	switch p.Format {
	case CSV:
		columns, rows, err = p.sampleCSV(text, kinds)
	case JSONL, JSON:
		columns, rows, err = p.sampleJSON(text, whole)
	default:
		return &FileError{Name: p.Name, Reason: fmt.Sprintf("the format %.20q is not known", p.Format), Hint: "--format csv, --format jsonl, --format json, --format parquet or --format xlsx"}
	}
	if err != nil {
		return err
	}
	if err := p.understand(columns, rows, kinds); err != nil {
		return err
	}
	return p.readSample(text)
}

// understand determines the meaning of the columns.
func (p *Plan) understand(columns []sampled, rows int, kinds []*match.Schema) error {
	p.columns = p.columns[:0:0]
	for _, c := range columns {
		p.columns = append(p.columns, c.name)
	}
	o, err := p.exported()
	if err != nil {
		return err
	}
	p.options = o
	if o.Spreadsheet {
		columns, _ = withoutMarks(columns)
	}
	found, err := recognise(o, kinds, columns, rows, p.Format == CSV || p.Format == XLSX)
	if err != nil {
		return &FileError{Name: p.Name, Reason: err.Error()}
	}
	found, columns = p.recogniseMarks(found, columns, rows)
	found = p.recogniseNulls(found, columns, rows)
	p.Dialect.marked = p.options.Spreadsheet
	o, p.mapping = p.options, found.mapping
	if o.Since != "" {
		p.mapping.ignore = append(slices.Clone(p.mapping.ignore), o.Since) // the column has its use as an option
	}
	if p.Missing = found.missing(); len(p.Missing) > 0 && !o.Unstored && len(p.Questions) == 0 && (p.Format.hasColumns() && len(columns) > 0 || rows > 0 && !o.Exact) {
		return &FileError{Name: p.Name, Line: p.headerLine(), Reason: NoColumn(p.Missing[0], p.columns), Hint: "the columns are: " + listed(p.columns)}
	}
	p.People = found.people()
	p.settle(found, kinds, rows)
	return nil
}

// sampleText returns the beginning of the text of a file, in whole lines if there are any, and whether it is the whole
// file.
func sampleText(l *lines) (text []byte, whole bool, err error) {
	head, err := l.r.Peek(sample)
	if err != nil && !errors.Is(err, io.EOF) && !bytes.Contains(head, []byte{'\n'}) {
		return nil, false, err
	}
	whole = errors.Is(err, io.EOF)
	if i := bytes.LastIndexByte(head, '\n'); !whole && i >= 0 {
		head = head[:i+1]
	}
	if charmaps[l.encoding] != nil {
		return append([]byte{}, (&lines{encoding: l.encoding}).decode(head, false)...), whole, nil
	}
	return head, whole, nil
}

// reread reads the sample in another encoding if Windows-1252 was taken and cannot be right.
func (p *Plan) reread(l *lines, text []byte, whole bool, kinds []*match.Schema) ([]byte, bool, error) {
	if l.encoding != Windows1252 || p.options.Encoding != AutoEncoding || p.options.Exact {
		return text, whole, nil
	}
	raw, err := l.r.Peek(sample)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	switch is := misread(raw, kinds); is {
	case Windows1252:
		return text, whole, nil
	case AutoEncoding:
		p.ask("the text is neither UTF-8 nor Windows-1252", "--encoding NAME says what it is, such as cp850, macintosh, windows-1251 or shift_jis")
		return text, whole, nil
	default:
		o := *p.options
		o.Encoding, l.encoding = is, is
		p.options, p.FormatGuessed = &o, true
		l.divide()
	}
	return sampleText(l)
}

// detectFormat uses the first character, or else the extension.
func detectFormat(name string, text []byte) Format {
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	switch ending := strings.ToLower(filepath.Ext(name)); {
	case (ending == ".csv" || ending == ".tsv") && !beginsObjects(trimmed):
		return CSV
	case ending == ".jsonl", ending == ".ndjson":
		return JSONL
	case bytes.HasPrefix(trimmed, []byte{'['}):
		return JSON
	case bytes.HasPrefix(trimmed, []byte{'{'}):
		line, rest := cutLine(trimmed)
		_, err := strictjson.Parse(line)
		if errors.Is(err, strictjson.ErrTrailing) && (&jsonScanner{r: bufio.NewReader(bytes.NewReader(line)), line: 1}).follows() {
			return JSON // objects one after another, without line ends
		}
		if errors.Is(err, strictjson.ErrSyntax) && len(rest) > 0 && bytes.Count(line, []byte{'"'})%2 == 0 && (&jsonScanner{r: bufio.NewReader(bytes.NewReader(trimmed)), line: 1}).spans() {
			return JSON
		}
		return JSONL
	case ending == ".json":
		return JSON
	}
	return CSV
}

// beginsObjects reports whether a text begins with a JSON object, or a list of them.
func beginsObjects(text []byte) bool {
	s := &jsonScanner{r: bufio.NewReader(bytes.NewReader(text)), line: 1}
	b, err := s.space()
	if err == nil && b == '[' {
		s.drop()
		b, err = s.space()
	}
	if err != nil || b != '{' {
		return false
	}
	d, err := s.value()
	if err != nil {
		return false
	}
	object, err := strictjson.Parse(d.text)
	return err == nil && object.Kind() == strictjson.Object
}

// spans reports whether the first document takes several lines.
func (s *jsonScanner) spans() bool {
	d, err := s.value()
	return err == nil && d.lines > 1
}

// follows reports whether an object follows the first document.
func (s *jsonScanner) follows() bool {
	if _, err := s.value(); err != nil {
		return false
	}
	b, err := s.space()
	return err == nil && b == '{'
}

func listed(names []string) string {
	if len(names) > 20 {
		names = append(slices.Clone(names[:20]), "...")
	}
	var text strings.Builder
	for i, name := range names {
		if i > 0 {
			text.WriteString(", ")
		}
		fmt.Fprintf(&text, "%.40q", name)
	}
	return text.String()
}
