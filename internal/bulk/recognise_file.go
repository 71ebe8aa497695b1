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

	"github.com/locus-db/locus/internal/strictjson"
	"github.com/locus-db/locus/match"
)

// Recognise reads the beginning of a file, at most 256 KiB, and returns how to read it as records of one of the kinds;
// the first is the default. Name is "-" for stdin. What the options say is taken as it is, the rest is recognised. The
// error is a *FileError: the file cannot be read, or an option does not fit it. What only a person can know is in
// Plan.Questions. Close the plan, or the reader of Plan.Open.
func Recognise(name string, stdin io.Reader, kinds []*match.Schema, o *Options) (*Plan, error) {
	if o == nil {
		o = &Options{}
	}
	r, err := openInput(name, stdin, o.Encoding)
	if err != nil {
		return nil, err
	}
	p := &Plan{Name: name, Rows: o.Rows, options: o, stdin: stdin, reader: r}
	if err := p.recognise(r, kinds); err != nil {
		return nil, errors.Join(r.broken(err), p.Close())
	}
	if name != Stdin && !r.stream {
		if err := p.Close(); err != nil {
			return nil, r.broken(err)
		}
	}
	return p, nil
}

func (p *Plan) recognise(r *Reader, kinds []*match.Schema) error {
	text, whole, err := sampleText(r.lines)
	if err != nil {
		return err
	}
	p.Encoding = r.lines.encoding
	if p.Format = p.options.Format; p.Format == Auto {
		p.Format = detectFormat(r.inner, text)
	}
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
		return &FileError{Name: p.Name, Reason: fmt.Sprintf("the format %.20q is not known", p.Format), Hint: "--format csv, --format jsonl or --format json"}
	}
	if err != nil {
		return err
	}
	for _, c := range columns {
		p.columns = append(p.columns, c.name)
	}
	o := p.options
	found, err := recognise(o, kinds, columns, rows, p.Format == CSV)
	if err != nil {
		return &FileError{Name: p.Name, Reason: err.Error()}
	}
	p.mapping = found.mapping
	if p.Missing = found.missing(); len(p.Missing) > 0 && !o.Unstored && len(p.Questions) == 0 && (p.Format == CSV && len(columns) > 0 || rows > 0 && !o.Exact) {
		return &FileError{Name: p.Name, Line: 1, Reason: NoColumn(p.Missing[0], p.columns), Hint: "the columns are: " + listed(p.columns)}
	}
	p.settle(found, kinds, rows)
	return p.readSample(text)
}

// sampleText returns the beginning of the text of a file, whole lines as far as there are any, and whether it is the
// whole file.
func sampleText(l *lines) (text []byte, whole bool, err error) {
	head, err := l.r.Peek(sample)
	if err != nil && !errors.Is(err, io.EOF) && !bytes.Contains(head, []byte{'\n'}) {
		return nil, false, err
	}
	whole = errors.Is(err, io.EOF)
	if i := bytes.LastIndexByte(head, '\n'); !whole && i >= 0 {
		head = head[:i+1]
	}
	if l.encoding == Windows1252 {
		return append([]byte{}, (&lines{encoding: Windows1252}).decode(head, false)...), whole, nil
	}
	return head, whole, nil
}

// detectFormat uses the first character, or else the extension.
func detectFormat(name string, text []byte) Format {
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	switch ending := strings.ToLower(filepath.Ext(name)); {
	case ending == ".csv" || ending == ".tsv":
		return CSV
	case ending == ".jsonl", ending == ".ndjson":
		return JSONL
	case bytes.HasPrefix(trimmed, []byte{'['}):
		return JSON
	case bytes.HasPrefix(trimmed, []byte{'{'}):
		line, rest := cutLine(trimmed)
		if _, err := strictjson.Parse(line); errors.Is(err, strictjson.ErrSyntax) && len(rest) > 0 && bytes.Count(line, []byte{'"'})%2 == 0 && (&jsonScanner{r: bufio.NewReader(bytes.NewReader(trimmed)), line: 1}).spans() {
			return JSON
		}
		return JSONL
	case ending == ".json":
		return JSON
	}
	return CSV
}

// spans reports whether the first document takes several lines.
func (s *jsonScanner) spans() bool {
	d, err := s.value()
	return err == nil && d.lines > 1
}

// sampleCSV recognises the dialect and the header, and returns the columns.
func (p *Plan) sampleCSV(text []byte, kinds []*match.Schema) (columns []sampled, rows int, err error) {
	if first, rest := cutLine(text); len(trimEnd(first)) == 5 && bytes.HasPrefix(bytes.ToLower(first), []byte("sep=")) {
		p.skip, text = true, rest
		if p.options.Delimiter == "" {
			o := *p.options
			o.Delimiter = string(rune(first[4]))
			p.options = &o
		}
	}
	if p.Dialect, p.Header = comma, true; len(bytes.TrimSpace(text)) == 0 {
		return nil, 0, nil
	}
	found := sniffDialect(text, p.options, kinds)
	p.Dialect = found.dialect
	if len(found.rows) == 0 {
		reason := "the header cannot be read"
		if refused, ok := errors.AsType[*RowError](found.err); ok {
			reason += ": " + refused.Reason
		}
		return nil, 0, &FileError{Name: p.Name, Line: 1, Reason: reason, Hint: "the first line must name the columns"}
	}
	all := found.rows
	width := len(all[0])
	if p.Header = !p.options.NoHeader; p.Header {
		if !p.options.Exact && !hasHeader(all, kinds) {
			return nil, 0, &FileError{
				Name: p.Name, Line: 1, Reason: "the first row does not name columns: " + listed(all[0]),
				Hint: "--no-header --columns " + strings.Join(columnNames(p.options.Columns, min(width, 6)), ",") + ", with the names of the columns",
			}
		}
		all = all[1:]
	}
	if width > MaxColumns {
		return nil, 0, &FileError{Name: p.Name, Line: 1, Reason: fmt.Sprintf("the header has %d columns, at most %d", width, MaxColumns), Hint: "see whether the delimiter is right: --delimiter"}
	}
	names := columnNames(p.options.Columns, width)
	if p.Header {
		if names, err = p.header(found.rows[0]); err != nil {
			return nil, 0, err
		}
	}
	for i, name := range names {
		c := sampled{name: name, rows: len(all)}
		for _, row := range all {
			if i < len(row) && row[i] != "" && !slices.Contains(p.options.Null, row[i]) {
				c.values = append(c.values, row[i])
			}
		}
		columns = append(columns, c)
	}
	return columns, len(all), nil
}

// columnNames returns the names of n columns; those without one are column1 and so on.
func columnNames(given []string, n int) []string {
	names := make([]string, n)
	for i := range names {
		if names[i] = fmt.Sprintf("column%d", i+1); i < len(given) && given[i] != "" {
			names[i] = given[i]
		}
	}
	return names
}

// header returns the names of the columns: without blanks around them, and numbered if they have none.
func (p *Plan) header(row []string) ([]string, error) {
	wrong := func(hint, format string, args ...any) error {
		return &FileError{Name: p.Name, Line: 1, Reason: fmt.Sprintf(format, args...), Hint: hint}
	}
	if p.options.Columns != nil {
		return nil, wrong("--no-header --columns id,name,...", "the first row is a header, and --columns names the columns of a file without one")
	}
	names := make([]string, len(row))
	for i, name := range row {
		if names[i] = strings.TrimSpace(name); names[i] == "" {
			names[i] = fmt.Sprintf("column%d", i+1)
		}
		switch {
		case strings.Contains(names[i], "\r"):
			return nil, wrong("save it with LF or CR LF line ends", "lines end in CR alone")
		case slices.Contains(names[:i], names[i]):
			return nil, wrong("name every column once", "the header names column %.60q twice", names[i])
		}
	}
	return names, nil
}

// sampleJSON returns the columns of the rows of a sample.
func (p *Plan) sampleJSON(text []byte, whole bool) (columns []sampled, rows int, err error) {
	var d documents = lineDocuments{&lines{r: bufio.NewReaderSize(bytes.NewReader(text), sample), encoding: UTF8}}
	if p.Format == JSON {
		r := &Reader{}
		if err := p.start(r, &lines{r: bufio.NewReaderSize(bytes.NewReader(text), sample)}, nil); err != nil {
			return nil, 0, err
		}
		d = r.rows.(*jsonRows).documents //nolint:forcetypeassert // start has just made it
	}
	index := map[string]int{}
	var last strictjson.Value
	for rows < sampleRows {
		doc, err := d.next()
		if err != nil {
			break // the end, or damage that the reading reports
		}
		object, err := strictjson.Parse(bytes.Clone(doc.text))
		if err != nil || object.Kind() != strictjson.Object {
			continue
		}
		if inner, wrapped := unwrapped(object); wrapped {
			if object = inner; object.Kind() != strictjson.Object {
				continue
			}
		}
		is := shapeOf(object)
		if is == summary || is == other {
			continue
		}
		rows++
		last = object
		seen := map[string]bool{}
		eachCell(object, is == printed, func(path, value string) {
			i, known := index[path]
			if !known {
				if len(columns) == maxNames {
					return
				}
				i = len(columns)
				index[path], columns = i, append(columns, sampled{name: path})
			}
			if !seen[path] {
				seen[path] = true
				columns[i].rows++
			}
			if value != "" && !slices.Contains(p.options.Null, value) && len(columns[i].values) < sampleRows {
				columns[i].values = append(columns[i].values, value)
			}
		})
	}
	known := slices.ContainsFunc(p.options.Key, func(key string) bool { _, ok := index[key]; return ok }) ||
		slices.ContainsFunc(p.options.Set, func(a Assignment) bool { return strings.Contains(a.Expression, "[]") })
	if p.Rows == "" && rows <= 1 && !p.options.Exact && !known {
		p.askRows(text, last, whole)
	}
	return columns, rows, nil
}

// askRows asks for the path to the rows if a document has only one, and a list of objects in it.
func (p *Plan) askRows(text []byte, only strictjson.Value, whole bool) {
	var paths []string
	if only.Kind() == strictjson.Object && len(only.Raw()) > 0 {
		paths = listsIn("", only)
	} else if !whole && len(bytes.TrimSpace(text)) > 0 && bytes.TrimSpace(text)[0] == '{' {
		paths = listsAhead(text)
	}
	if len(paths) == 0 {
		return
	}
	p.Questions = append(p.Questions, Question{
		Text: "the file is one JSON object, with a list of objects in " + strings.Join(paths, " and in "),
		Hint: "--rows " + paths[0] + " reads the elements of the list as rows",
	})
}

// listsIn returns the paths of lists of more than one object.
func listsIn(prefix string, object strictjson.Value) (paths []string) {
	for name, value := range object.Members() {
		path := strings.TrimPrefix(prefix+"."+name, ".")
		switch value.Kind() {
		case strictjson.Object:
			paths = append(paths, listsIn(path, value)...)
		case strictjson.Array:
			objects := 0
			for _, item := range value.Items() {
				if item.Kind() == strictjson.Object {
					objects++
				}
			}
			if objects > 1 {
				paths = append(paths, path)
			}
		case strictjson.Null, strictjson.Bool, strictjson.Number, strictjson.String:
		}
	}
	return paths
}

// listsAhead returns the path of the first list of objects of a document that is longer than the sample.
func listsAhead(text []byte) []string {
	s := &jsonScanner{r: bufio.NewReader(bytes.NewReader(text)), line: 1}
	var path []string
	for {
		b, err := s.space()
		if err != nil {
			return nil
		}
		switch b {
		case '{':
			s.drop()
			path = append(path, "")
		case '}':
			s.drop()
			path = path[:max(len(path)-1, 0)]
		case '[':
			s.drop()
			if b, err := s.space(); err == nil && b == '{' && len(path) > 0 {
				return []string{strings.Join(path, ".")}
			}
		case '"':
			d, err := s.value()
			if err != nil {
				return nil
			}
			if b, err := s.space(); err == nil && b == ':' && len(path) > 0 {
				path[len(path)-1] = strings.Trim(string(d.text), `"`)
			}
		default:
			s.drop()
		}
	}
}

// settle writes what was recognised into the plan.
func (p *Plan) settle(found *recognition, kinds []*match.Schema, rows int) {
	m := found.mapping
	p.Kind, p.Key, p.Source = p.options.Kind, p.options.Key, p.options.Source
	if p.Kind == "" && found.kind != kinds[0] {
		p.Kind, p.KindGuessed, m.kind = found.kind.Kind, true, found.kind.Kind
	}
	if !m.hash && len(p.Key) == 0 {
		p.Key = m.key
	}
	has := func(kind useKind) bool {
		return slices.ContainsFunc(p.columns, func(name string) bool {
			uses, _ := m.resolve(name)
			return slices.ContainsFunc(uses, func(u use) bool { return u.kind == kind })
		})
	}
	asks := rows > 0 && !p.options.Exact || p.Format == CSV && len(p.columns) > 0
	if p.Source == "" && !has(useSource) && !p.options.Unstored {
		if !p.options.Exact {
			p.Source = SourceOf(p.Name)
			p.SourceGuessed = isDated(p.Source)
		}
		if p.Source == "" && asks {
			p.ask("there is no column \"source\"", "--source NAME names the source of the whole file")
		}
		m.source = p.Source
	}
	if asks && !m.hash && !has(useKey) && !p.options.Unstored {
		p.askKey(found)
	}
	for _, c := range found.columns {
		uses, reason := m.resolve(c.name)
		column := Column{Name: c.name, Reason: cmp.Or(found.reasons[c.name], reason), Values: c.values[:min(len(c.values), 3)], Guessed: found.reasons[c.name] != ""}
		for _, u := range uses {
			column.To = append(column.To, map[useKind]string{
				useAttribute: u.attribute, usePart: u.attribute, useSource: ColumnSource, useKey: ColumnKey, useRowKind: ColumnKind, useObserved: ColumnObserved,
			}[u.kind])
		}
		switch {
		case reason == "":
		case len(c.values) == 0 && !p.options.Exact:
			column.Reason = ""
			m.ignore = append(slices.Clone(m.ignore), c.name) // it has no value to lose
		case p.Format == CSV, 2*c.rows > rows && !p.options.Exact:
			p.ask(reason, "--set ATTRIBUTE=COLUMN gives it a meaning, or --ignore-unknown leaves it out")
		}
		p.Columns = append(p.Columns, column)
	}
}

func (p *Plan) ask(text, hint string) { p.Questions = append(p.Questions, Question{text, hint}) }

// askKey asks for the column of the key, and names those that could be.
func (p *Plan) askKey(found *recognition) {
	var unique []string
	for _, c := range found.columns {
		if found.isUnique(c) && found.rows > 1 {
			unique = append(unique, c.name)
		}
	}
	hint := "--key COLUMN names the column with the source's own key; the columns are: " + listed(p.columns)
	if len(unique) > 0 {
		hint = "--key COLUMN names the column with the source's own key; these differ in every row that was looked at: " + listed(unique)
	}
	p.ask("there is no column \"key\"", hint+". Without one, --key @hash makes a key of the content")
}

// sampleShown is how many rows of the sample a plan has.
const sampleShown = 3

// readSample reads the rows of the sample as the file will be read. Unknown columns are left out.
func (p *Plan) readSample(text []byte) error {
	m := *p.mapping
	m.ignoreAll = true
	r := &Reader{Name: p.Name}
	if len(p.columns) == 0 {
		return nil
	}
	l := &lines{r: bufio.NewReaderSize(bytes.NewReader(text), sample), encoding: UTF8, bad: -1}
	if err := p.start(r, l, newMapper(&m)); err != nil {
		return nil //nolint:nilerr // the reading reports it
	}
	for range sampleRows {
		row, err := r.rows.Next()
		refused, bad := errors.AsType[*RowError](err)
		switch {
		case bad:
			p.Refused = append(p.Refused, refused)
		case err != nil:
			return nil //nolint:nilerr // the end, or damage that the reading reports
		case len(p.Sample) < sampleShown:
			p.Sample = append(p.Sample, row)
		}
	}
	return nil
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
