// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/locus-db/locus/internal/strictjson"
)

// jsonRows makes records from JSON objects, one per line or one after another:
//
//	{"source": "vendor", "key": "88231", "name": "Joe's Pizza", "phones": ["415-555-2300"]}
//
// It also reads the output of Locus: files of rejected rows, whose lines have such an object under "row", and the
// output of locus record list --json, whose lines have the attributes under "attributes". The summary at the end of
// such a list is skipped.
type jsonRows struct {
	documents documents
	mapper    *mapper
	cells     []cell
	text      []byte // of the document
}

// documents reads one JSON document after another.
type documents interface {
	// next returns the text of a document, valid until the next call, its first line, and how many lines it has. A
	// document longer than MaxRow is truncated. At the end the error is io.EOF.
	next() (document, error)
}

type document struct {
	text        []byte
	line, lines int64
	cut         bool
	last        bool // ends the input, without a line end
}

// lineDocuments are the lines that are not blank.
type lineDocuments struct{ lines *lines }

func (d lineDocuments) next() (document, error) {
	for {
		line, cut, err := d.lines.read()
		if err != nil {
			return document{}, err
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			return document{text: text, line: d.lines.number, lines: 1, cut: cut, last: !ended(line)}, nil
		}
	}
}

// Next reads the next row.
func (r *jsonRows) Next() (*Row, error) {
	for {
		d, err := r.documents.next()
		if err != nil {
			return nil, err
		}
		r.text = d.text
		row, err := r.parse(d)
		if row != nil || err != nil {
			return row, err
		}
	}
}

// codes maps errors of strictjson to codes and causes of rejection.
var codes = []struct {
	err         error
	code, cause string
}{
	{strictjson.ErrUTF8, "invalid_utf8", causeBytes},
	{strictjson.ErrDuplicate, "duplicate_key", "repeated name"},
	{strictjson.ErrTrailing, "trailing_data", "text after the object"},
	{strictjson.ErrDepth, "too_deep", "nested too deep"},
	{strictjson.ErrSyntax, "malformed", "malformed JSON"},
}

// parse returns the row of a document, nil if it is a summary.
func (r *jsonRows) parse(d document) (*Row, error) {
	refused := &RowError{Line: d.line, Lines: d.lines}
	if d.cut {
		return nil, refused.whole(d.text, "too_large", causeLong, fmt.Sprintf("it is longer than %d bytes", MaxRow))
	}
	object, err := strictjson.Parse(d.text)
	if err != nil {
		for _, c := range codes {
			if !errors.Is(err, c.err) {
				continue
			}
			reason := err.Error()
			if d.last && c.code == "malformed" {
				reason += ": the input ends in this line, as if what wrote it had been stopped"
			}
			return nil, refused.whole(d.text, c.code, c.cause, reason)
		}
		return nil, err
	}
	if object.Kind() != strictjson.Object {
		reason := "it is no JSON object: JSON lines have one object a line; --format json reads an array"
		if _, elements := r.documents.(*valueDocuments); elements && object.Kind() == strictjson.Array {
			reason = "it is a list and no JSON object, so nothing names its columns; jq -r '.[] | @csv' makes CSV of lists"
		}
		return nil, refused.whole(d.text, "malformed", "no object", reason)
	}
	if inner, wrapped := unwrapped(object); wrapped {
		if object = inner; object.Kind() != strictjson.Object {
			refused.Pointer = "/row"
			return nil, refused.whole(d.text, "malformed", "row that is text", "this row was refused as it could not be taken apart: write it as an object")
		}
	}
	shape := shapeOf(object)
	if shape == summary {
		return nil, nil
	}
	row, fault := r.row(object, shape == printed)
	if fault != nil {
		if shape == other {
			fault.code, fault.pointer, fault.reason = "invalid", "", "it is a line that locus printed, but not of a record: locus record list --all --json prints those"
		}
		refused.Code, refused.Pointer, refused.Reason, refused.Cause = fault.code, fault.pointer, fault.reason, fault.cause
		refused.Source, refused.Key = r.mapper.identify(row, r.cells)
		refused.Row = bytes.Clone(object.Raw()) // the error outlives the buffer
		return nil, refused
	}
	row.Line, row.Lines = d.line, d.lines
	return row, nil
}

// row makes a record from an object. In a printed record only the attributes are columns.
func (r *jsonRows) row(object strictjson.Value, printed bool) (*Row, *fault) {
	r.cells = r.cells[:0]
	var wrong *fault
	eachCell(object, printed, func(path, value string) {
		column := r.mapper.column(path)
		if column < 0 {
			wrong = &fault{"too_large", pathPointer(path), fmt.Sprintf("the rows of a file have at most %d names", maxNames), "too many names"}
			return
		}
		r.cells = append(r.cells, cell{column, value})
	})
	if wrong != nil {
		return nil, wrong
	}
	row, fault := r.mapper.row(r.cells)
	if fault != nil && fault.code == "unknown_field" && printed {
		fault.pointer = "/attributes" + fault.pointer
	}
	return row, fault
}

// eachCell calls add for the values of a row, as flatten does. For a printed record these are its attributes and the
// reserved names; puid, version and the like are left out.
func eachCell(object strictjson.Value, printed bool, add func(path, value string)) {
	if !printed {
		flatten("", object, add)
		return
	}
	for name, value := range object.Members() {
		if _, known := reserved[name]; known {
			flattenValue(name, value, false, add)
		} else if name == "attributes" {
			flatten("", value, add)
		}
	}
}

// whole rejects a row that cannot be parsed. It keeps the text up to MaxRow.
func (e *RowError) whole(text []byte, code, cause, reason string) *RowError {
	e.Code, e.Cause, e.Reason = code, cause, reason
	e.Row = quoteText(text[:min(len(text), MaxRow)])
	return e
}

// valueDocuments are JSON documents one after another, or the elements of an array, whatever lines they are on.
type valueDocuments struct {
	scan  *jsonScanner
	array bool // within the array
	whole bool // the array is the whole document
	done  bool
}

func (d *valueDocuments) next() (document, error) {
	if d.done {
		return document{}, io.EOF
	}
	for {
		b, err := d.scan.space()
		switch {
		case err != nil && d.array && errors.Is(err, io.EOF):
			return document{}, io.ErrUnexpectedEOF
		case err != nil:
			return document{}, err
		case d.array && b == ',':
			d.scan.drop()
			continue
		case d.array && b == ']':
			d.scan.drop()
			if _, err := d.scan.space(); d.whole && err == nil {
				return document{}, fmt.Errorf("line %d: text follows the list", d.scan.line)
			}
			d.done = true
			return document{}, io.EOF
		}
		return d.scan.value()
	}
}
