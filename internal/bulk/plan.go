// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"errors"
	"io"
	"slices"
	"strings"
)

// Plan describes how a file is read: its format, and the meaning of its columns.
type Plan struct {
	Name     string
	Format   Format
	Encoding Encoding // AutoEncoding if the sample is ASCII
	Dialect  Dialect  // of CSV
	Header   bool     // of CSV: the first row names the columns
	Rows     string   // path to the rows of a JSON document
	Sheet    string   // of XLSX
	Sheets   []string // of XLSX: the others that could have been chosen, if no option names one
	// Database is true if Name is the URL of a database, without its password.
	Database bool

	Source string   // "" if the column "source" has it
	Kind   string   // "" if the column "kind" has it, or the default kind is meant
	Key    []string // columns; HashKey; empty if there is no key
	// Columns are the columns in the order of the file; for JSON those in the sample.
	Columns []Column
	// SourceGuessed and KindGuessed report that neither an option nor the file states the source or the kind.
	// FormatGuessed reports that Layout contains guesses that may be wrong: an encoding judged by words, the list that
	// holds the rows, or texts that mean a missing value.
	SourceGuessed, KindGuessed, FormatGuessed bool
	// Entities reports that locus export wrote the table, of entities: their values become golden records.
	Entities bool
	// People reports that the kind is one of people and the names of the sample are theirs.
	People bool
	// Missing are the columns that options name and the file lacks; see Options.Unstored.
	Missing []string
	// Questions must be answered before the file can be read.
	Questions []Question
	// Sample are the accepted rows of the sample; Refused has the errors of the others. If the key is still a question,
	// the rows have keys derived from their content.
	Sample  []*Row
	Refused []*RowError
	// Footer are the rows below the list that are left out, if the sample has all rows.
	Footer []Label

	options *Options
	mapping *mapping
	columns []string
	skip    int     // lines before the header: "sep=", or a title
	title   int64   // of XLSX: the row of the header, 0 without one; of CSV: lines of a title
	groups  int     // CSV only: header rows above the row with the names
	reader  *Reader // of a stream, which cannot be opened twice
	stdin   io.Reader
	url     string   // of a database, perhaps with a password
	key     []string // primary key of a table of a database
	asksKey bool     // a question is about the key
	longer  bool     // than the sample
}

// Column is a column of a file and its meaning.
type Column struct {
	Name    string
	To      []string // attributes, or source, key, kind or observed_at; empty if the column is left out
	Guessed bool
	Reason  string   // why the meaning was guessed, or why the column is left out
	Values  []string // some values of the sample
}

// Question asks for something that the file does not show.
type Question struct {
	Text, Hint string
	// Column is the column without a meaning, in CSV and similar formats; "" for any other question. The column can be
	// left out.
	Column string
}

// IsEmpty reports whether the file has no rows. A file whose first row is longer than the sample has some.
func (p *Plan) IsEmpty() bool { return len(p.Sample)+len(p.Refused) == 0 && !p.longer }

// LeaveOut leaves out the columns without a meaning, also those that only a few rows have, and removes the questions
// about them. Other questions stay.
func (p *Plan) LeaveOut() {
	for _, c := range p.Columns {
		if len(c.To) == 0 && c.Reason != "" {
			p.mapping.ignore = append(slices.Clone(p.mapping.ignore), c.Name)
		}
	}
	p.Questions = slices.DeleteFunc(p.Questions, func(q Question) bool { return q.Column != "" })
}

// Guessed reports whether a person has to look at the plan before the file is read: a column, the key, the source or
// the kind was guessed, or there is a question.
func (p *Plan) Guessed() bool {
	return len(p.Questions) > 0 || p.SourceGuessed || p.KindGuessed || p.FormatGuessed || slices.ContainsFunc(p.Columns, func(c Column) bool { return c.Guessed })
}

// Null returns the texts that mean that there is no value.
func (p *Plan) Null() []string { return p.options.Null }

// ByContent reports whether keys are made from the content of rows, as with HashKey.
func (p *Plan) ByContent() bool { return p.mapping.hash }

// Attributes returns the columns that are attributes, or parts of one.
func (p *Plan) Attributes() (names []string) {
	for _, name := range p.columns {
		if uses, _ := p.mapping.resolve(name); slices.ContainsFunc(uses, func(u use) bool { return u.kind == useAttribute || u.kind == usePart }) {
			names = append(names, name)
		}
	}
	return names
}

// Err returns the first question as a *FileError, nil without questions.
func (p *Plan) Err() error {
	if len(p.Questions) == 0 {
		return nil
	}
	q := p.Questions[0]
	return &FileError{Name: p.Name, Line: p.headerLine(), Reason: q.Text, Hint: q.Hint}
}

// headerLine is the line that names the columns, 0 without one.
func (p *Plan) headerLine() int64 {
	if p.Format == CSV {
		return int64(p.skip) + 1
	}
	return 0
}

// Close closes the file if it is a stream that was not read.
func (p *Plan) Close() error {
	if p.reader == nil {
		return nil
	}
	r := p.reader
	p.reader = nil
	return r.Close()
}

// Open opens the file to read its rows. A stream can be read once. The error is a *FileError.
func (p *Plan) Open() (*Reader, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	if p.Database {
		return p.OpenAfter(nil, 0, "")
	}
	r := p.reader
	p.reader = nil
	if r == nil {
		var err error
		if r, err = openInput(p.Name, p.options.Copies[p.Name], p.stdin, p.Encoding); err != nil {
			return nil, err
		}
		if p.Format.isTable() {
			if err := r.seekable(); err != nil {
				return nil, errors.Join(r.broken(err), r.Close())
			}
		}
	}
	if err := p.start(r, r.lines, newMapper(p.mapping)); err != nil {
		return nil, errors.Join(r.broken(err), r.Close())
	}
	return r, nil
}

// start sets the rows of a reader.
func (p *Plan) start(r *Reader, l *lines, m *mapper) error {
	r.Format = p.Format
	switch p.Format {
	case Parquet, XLSX:
		table, err := p.openTable(r)
		if err != nil {
			return tableError(p.Name, err)
		}
		r.close = append(r.close, table.Close)
		if r.rows, err = newTable(p, r, table, m); err != nil {
			return err
		}
		r.footer = p.footerOf(r.rows, false, r.fields)
	case CSV:
		s := &scanner{lines: l, dialect: p.Dialect}
		for range p.skip {
			if _, _, err := l.read(); err != nil {
				return err
			}
		}
		if p.Header {
			for range 1 + p.groups {
				if _, err := s.next(); err != nil && !errors.Is(err, io.EOF) {
					return err
				}
			}
		}
		r.rows = newCSV(s, m, p.columns, r.stream)
		r.footer = p.footerOf(r.rows, false, r.fields)
	case JSON:
		d := &valueDocuments{scan: &jsonScanner{r: l.r, line: 1}}
		if b, err := d.scan.space(); err == nil && (b == '[' || p.Rows != "") {
			if err := d.scan.enter(p.Rows); err != nil {
				return &FileError{Name: p.Name, Reason: "--rows " + p.Rows + ": " + err.Error(), Hint: "name the path to a list of objects, such as data.items"}
			}
			d.array, d.whole = true, p.Rows == ""
		}
		r.rows = &jsonRows{documents: d, mapper: m}
	default:
		r.rows = &jsonRows{documents: lineDocuments{l}, mapper: m}
	}
	return nil
}

// footerOf returns the rows without the footer of a report, nil if the file has none. fields returns those of the row
// read last.
func (p *Plan) footerOf(rows rowReader, part bool, fields func() ([]Field, error)) *footer {
	if p.Format != CSV && p.Format != XLSX || p.options.Part {
		return nil
	}
	f := &footer{rows: rows, part: part, keyed: p.keyed()}
	if p.options.Unstored { // what is found of each row is written beside it
		f.fields = fields
	}
	return f
}

// keyed reports whether a column has the key.
func (p *Plan) keyed() bool {
	return slices.ContainsFunc(p.columns, func(name string) bool {
		uses, _ := p.mapping.resolve(name)
		return slices.ContainsFunc(uses, func(u use) bool { return u.kind == useKey })
	})
}

// Args returns the flags of a command that reads the file by this plan and guesses nothing, without the name of the
// file. Without a key it has HashKey.
func (p *Plan) Args() []string {
	var args []string
	flag := func(name, value string) {
		if value != "" {
			args = append(args, "--"+name, value)
		}
	}
	flag("format", string(p.options.Format))
	flag("encoding", string(p.options.Encoding))
	flag("delimiter", p.options.Delimiter)
	flag("quote", p.options.Quote)
	if (p.Format == CSV || p.Format == XLSX) && !p.Header {
		args = append(args, "--no-header")
		flag("columns", strings.Join(p.options.Columns, ","))
	}
	flag("rows", p.Rows)
	flag("sheet", p.Sheet)
	flag("table", p.options.Table)
	flag("query", p.options.Query)
	flag("since", p.options.Since)
	for _, text := range p.options.Null {
		flag("null", text)
	}
	if p.options.Spreadsheet {
		args = append(args, "--spreadsheet")
	}
	if p.Source != "" {
		flag("source", p.Source)
	}
	flag("kind", p.Kind)
	key := p.Key
	if len(key) == 0 && !slices.ContainsFunc(p.Columns, func(c Column) bool { return slices.Contains(c.To, ColumnKey) }) {
		key = []string{HashKey}
	}
	for _, column := range key {
		flag("key", column)
	}
	for _, a := range p.Assignments() {
		flag("set", a.String())
	}
	for _, column := range p.options.Ignore {
		flag("ignore", column)
	}
	if p.options.IgnoreUnknown || slices.ContainsFunc(p.Columns, func(c Column) bool { return len(c.To) == 0 && c.Reason != "" }) {
		args = append(args, "--ignore-unknown")
	}
	return args
}

// Assignments returns all assignments, from options and guesses.
func (p *Plan) Assignments() (all []Assignment) {
	for _, s := range p.mapping.set {
		for _, t := range s.terms {
			all = append(all, Assignment{s.attribute, t.text})
		}
	}
	by := map[string][]string{}
	var order []string
	for _, name := range p.columns {
		to := p.mapping.guess[name]
		if to == "" || reserved[to] != 0 {
			continue
		}
		if by[to] == nil {
			order = append(order, to)
		}
		by[to] = append(by[to], name)
	}
	for _, to := range order {
		if slices.ContainsFunc(by[to], func(name string) bool { return strings.ContainsAny(name, ",{}") }) {
			for _, name := range by[to] {
				all = append(all, Assignment{to, name})
			}
			continue
		}
		if slices.Contains(p.columns, to) { // otherwise the column of that name would be left out
			by[to] = append([]string{to}, by[to]...)
		}
		all = append(all, Assignment{to, strings.Join(by[to], ",")})
	}
	return all
}
