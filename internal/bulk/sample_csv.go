// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

// sampleCSV recognises the dialect and the header, and returns the columns.
func (p *Plan) sampleCSV(text []byte, kinds []*match.Schema) (columns []sampled, rows int, err error) {
	if first, rest := cutLine(text); len(trimEnd(first)) == 5 && bytes.HasPrefix(bytes.ToLower(first), []byte("sep=")) {
		p.skip, text = 1, rest
		if p.options.Delimiter == "" {
			o := *p.options
			o.Delimiter = string(rune(first[4]))
			p.options = &o
		}
	}
	if p.Dialect, p.Header = comma, true; len(bytes.TrimSpace(text)) == 0 {
		return nil, 0, nil
	}
	if p.title = 0; p.skip == 0 {
		for p.skip = linesBefore(text, p.longer, p.options, kinds); p.title < int64(p.skip); p.title++ {
			_, text = cutLine(text)
		}
	}
	found := sniffDialect(text, p.longer, p.options, kinds)
	p.Dialect = found.dialect
	if len(found.rows) == 0 {
		reason, hint := "the header cannot be read", "the first line must name the columns"
		if refused, ok := errors.AsType[*RowError](found.err); ok {
			if reason += ": " + refused.Reason; refused.Cause == causeWide {
				hint = "leave out the columns that are not needed, or see whether the delimiter is right: --delimiter"
			}
		}
		return nil, 0, &FileError{Name: p.Name, Line: p.headerLine(), Reason: reason, Hint: hint}
	}
	all := found.rows
	p.groups = 0
	if p.Header = !p.options.NoHeader; p.Header {
		if !p.options.Exact {
			p.groups = joinGroups(all, 0, kinds)
		}
		all = all[p.groups:]
	}
	width := len(all[0])
	if p.Header {
		if !p.options.Exact && !hasHeader(all, kinds) {
			return nil, 0, &FileError{
				Name: p.Name, Line: p.headerLine(), Reason: "the first row does not name columns: " + listed(all[0]),
				Hint: nameColumns(p.options.Columns, width),
			}
		}
		all = all[1:]
	}
	names := columnNames(p.options.Columns, width)
	if p.Header {
		if names, err = p.header(found.rows[p.groups]); err != nil {
			return nil, 0, err
		}
	}
	if len(names) == 1 && p.options.Delimiter == "" && !p.options.Exact && !isHeaderName(names[0], kinds) && strings.ContainsAny(names[0], ":~^# ") {
		p.ask("the file has one column", "--delimiter ':' or another character says what separates columns; text in columns of fixed width is not read")
	}
	if !p.longer {
		all = withoutEnd(all)
	}
	for i, name := range names {
		c := sampled{name: name, rows: len(all)}
		for _, row := range all {
			switch {
			case i < len(row) && isValue(row[i], p.options.Null):
				if isAddressBook(name) {
					c.values = append(c.values, splitAddressBook(row[i])...)
					continue
				}
				c.values = append(c.values, row[i])
			case 2*filled(row) < width:
				c.short++
			}
		}
		columns = append(columns, c)
	}
	return columns, len(all), nil
}

// columnNames returns the names of n columns; columns without a name are called column1 and so on.
func columnNames(given []string, n int) []string {
	names := make([]string, n)
	for i := range names {
		if names[i] = fmt.Sprintf("column%d", i+1); i < len(given) && given[i] != "" {
			names[i] = given[i]
		}
	}
	return names
}

// nameColumns is the hint for a file without a header.
func nameColumns(given []string, width int) string {
	names := columnNames(given, width)
	if width > 6 {
		names = append(names[:5:5], "...", names[width-1])
	}
	return "--no-header --columns " + strings.Join(names, ",") + ", with the names of the columns"
}

// header returns the column names: without surrounding blanks, and numbered if they are empty.
func (p *Plan) header(row []string) ([]string, error) {
	wrong := func(hint, format string, args ...any) error {
		return &FileError{Name: p.Name, Line: p.headerLine(), Reason: fmt.Sprintf(format, args...), Hint: hint}
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
			return nil, wrong(fmt.Sprintf("name every column once, such as %.60q for the second one", names[i]+"_2"), "the header names column %.60q twice: columns %d and %d", names[i], slices.Index(names, names[i])+1, i+1)
		}
	}
	return names, nil
}
