// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/locus-db/locus/internal/strictjson"
)

// jsonlReader reads one flat JSON object per line:
//
//	{"source": "vendor", "key": "88231", "name": "Joe's Pizza", "phones": ["415-555-2300"]}
//
// It also reads the output of Locus: files of rejected rows, whose lines hold such an object under "row", and the
// output of locus record list --json, whose lines hold the attributes under "attributes". Blank lines and the summary
// at the end of such a list are skipped.
type jsonlReader struct {
	name    string
	lines   *lines
	columns *meaning
	targets map[column]target

	// State of the current row: the fields used by templates, and whether an attribute got values from two fields.
	parts map[string]string
	again bool
}

// target is the cached meaning of a name.
type target struct{ name, reason string }

func newJSONLReader(name string, l *lines, columns *meaning) *jsonlReader {
	return &jsonlReader{name: name, lines: l, columns: columns, targets: map[column]target{}, parts: map[string]string{}}
}

// Next reads the next row.
func (r *jsonlReader) Next() (*Row, error) {
	for {
		line, cut, err := r.lines.read()
		if err != nil {
			return nil, err
		}
		text := bytes.TrimSpace(line)
		if len(text) == 0 {
			continue
		}
		if text[0] == '[' && r.lines.number == 1 {
			return nil, &FileError{Name: r.name, Line: 1, Reason: "a JSON array, but one object a line is meant", Hint: "jq -c '.[]' makes lines of it"}
		}
		refused := &RowError{Line: r.lines.number, Lines: 1, Code: "invalid"}
		if cut {
			return nil, refused.whole(text, "too_large", fmt.Sprintf("it is longer than %d bytes", MaxRow))
		}
		row, err := r.parse(text, refused)
		if row == nil && err == nil {
			continue
		}
		if err != nil && !ended(line) && refused.Code == "malformed" {
			refused.Reason += ": the input ends in this line, as if what wrote it had been stopped"
		}
		return row, err
	}
}

// codes maps errors of strictjson to codes of rejection.
var codes = []struct {
	err  error
	code string
}{
	{strictjson.ErrUTF8, "invalid_utf8"},
	{strictjson.ErrDuplicate, "duplicate_key"},
	{strictjson.ErrTrailing, "trailing_data"},
	{strictjson.ErrDepth, "too_deep"},
	{strictjson.ErrSyntax, "malformed"},
}

// parse returns the row of a line, nil if the line is a summary.
func (r *jsonlReader) parse(text []byte, refused *RowError) (*Row, error) {
	object, err := strictjson.Parse(text)
	if err != nil {
		for _, c := range codes {
			if errors.Is(err, c.err) {
				return nil, refused.whole(text, c.code, strings.TrimPrefix(err.Error(), "strictjson: "))
			}
		}
		return nil, err
	}
	if object.Kind() != strictjson.Object {
		return nil, refused.whole(text, "malformed", "it is no JSON object")
	}
	if inner, wrapped := unwrapped(object); wrapped {
		if object = inner; object.Kind() != strictjson.Object {
			refused.Pointer = "/row"
			return nil, refused.whole(text, "malformed", "this row was refused as it could not be taken apart: write it as an object")
		}
	}
	shape := shapeOf(object)
	if shape == summary {
		return nil, nil
	}
	row, at, reason := r.row(object, shape, refused)
	if reason != "" {
		if shape == other {
			refused.Code, at, reason = "invalid", "", "it is a line that locus printed, but not of a record: locus record list --all --json prints those"
		}
		// The error outlives the buffer of the line, so clone the row.
		refused.Row, refused.Pointer, refused.Reason = bytes.Clone(object.Raw()), at, reason
		return nil, refused
	}
	row.Line, row.Lines = refused.Line, 1
	return row, nil
}

// column is a name in a row, and whether the row may be of any kind.
type column struct {
	name  string
	mixed bool
}

// unwrapped extracts the row from a line of a file of rejected rows.
func unwrapped(object strictjson.Value) (row strictjson.Value, wrapped bool) {
	reason := false
	for name, value := range object.Members() {
		switch name {
		case "row":
			row, wrapped = value, true
		case "reason":
			reason = true
		case "line", "lines", "code", "pointer", "text":
		default:
			return row, false
		}
	}
	return row, wrapped && reason
}

// row parses an object. On rejection it returns the pointer and the reason, and sets the code.
func (r *jsonlReader) row(object strictjson.Value, shape shape, refused *RowError) (row *Row, at, reason string) {
	clear(r.parts)
	r.again = false
	if shape == printed {
		return r.printed(object, refused)
	}
	row = &Row{Source: r.columns.Source, Kind: r.columns.Kind, Attributes: map[string][]string{}}
	mixed := false
	for name := range object.Members() {
		mixed = mixed || r.columns.mixed(name == ColumnKind)
	}
	for name, value := range object.Members() {
		to := r.target(name, mixed)
		if to.reason != "" {
			refused.Code = "unknown_field"
			return nil, pointer(name), to.reason
		}
		var single *string
		switch to.name {
		case ColumnSource:
			single = &row.Source
		case ColumnKey:
			single = &row.Key
		case ColumnObserved:
			single = &row.Observed
		case ColumnKind:
			if r.columns.isKind() {
				single = &row.Kind
			}
		}
		refused.Code = "invalid"
		switch {
		case single == nil:
			if reason := r.attribute(row, name, to.name, value); reason != "" {
				return nil, pointer(name), reason
			}
		case value.Kind() == strictjson.String:
			if *single = value.Text(); r.columns.isPart(name) {
				r.parts[name] = *single
			}
		default:
			return nil, pointer(name), "it must be a string"
		}
	}
	if at, reason = r.lacks(row, cmp.Or(r.columns.Key, ColumnKey)); reason != "" {
		return nil, at, reason
	}
	r.complete(row, object, mixed)
	return row, "", ""
}

// target returns what a name means.
func (r *jsonlReader) target(name string, mixed bool) target {
	to, known := r.targets[column{name, mixed}]
	if !known {
		to.name, to.reason = r.columns.target(name, mixed)
		if len(r.targets) < MaxColumns { // untrusted names must not pile up
			r.targets[column{name, mixed}] = to
		}
	}
	return to
}

// attribute adds the values of a field to a row.
func (r *jsonlReader) attribute(row *Row, name, to string, value strictjson.Value) (reason string) {
	part := r.columns.isPart(name)
	if to == skip && !part {
		return ""
	}
	list, reason := texts(value)
	switch {
	case reason != "":
		return reason
	case part && len(list) > 1:
		return "it is a list, and a value is composed of single ones"
	case part && len(list) == 1:
		r.parts[name] = list[0]
	}
	if to != skip {
		r.again = r.again || len(row.Attributes[to]) > 0
		row.Attributes[to] = append(row.Attributes[to], list...)
	}
	return ""
}

// complete applies the templates to a row and records alternatives.
func (r *jsonlReader) complete(row *Row, fields strictjson.Value, mixed bool) {
	if again := r.columns.compose(row, func(name string) string { return r.parts[name] }); r.again || again {
		var names, targets []string
		for name := range fields.Members() {
			names, targets = append(names, name), append(targets, r.target(name, mixed).name)
		}
		r.columns.alternatesIn(names, targets)
	}
}

// lacks returns the pointer and the reason if the row lacks something it needs; key is the name of the key field.
func (r *jsonlReader) lacks(row *Row, key string) (at, reason string) {
	for _, needed := range []struct{ name, value, hint string }{
		{ColumnSource, row.Source, "--source NAME names the source of the whole file"},
		{key, row.Key, "--key NAME names the field with the source's own key"},
	} {
		if needed.value == "" {
			return pointer(needed.name), "it is missing; " + needed.hint
		}
	}
	return "", ""
}

// texts returns the values of a field: a string, a number as its text, or a list of them. The reason is set if it is
// none of these.
func texts(value strictjson.Value) (list []string, reason string) {
	switch value.Kind() {
	case strictjson.String:
		return []string{value.Text()}, ""
	case strictjson.Number:
		return []string{value.Number()}, ""
	case strictjson.Array:
		for _, item := range value.Items() {
			switch item.Kind() {
			case strictjson.String:
				list = append(list, item.Text())
			case strictjson.Number:
				list = append(list, item.Number())
			default:
				return nil, "a list may hold strings and numbers only"
			}
		}
		return list, ""
	case strictjson.Object:
		return nil, "an object inside the object: rows are flat"
	default:
		return nil, fmt.Sprintf("%s is no value: write a string, a number or a list of them, or leave the field out", value.Raw())
	}
}

// pointer returns the JSON pointer to a field of the row (RFC 6901).
func pointer(names ...string) (p string) {
	for _, name := range names {
		p += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	return p
}
