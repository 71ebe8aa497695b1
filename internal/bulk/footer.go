// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"
)

// footer reads rows and leaves out the footer of a report: rows at the end, after an empty line or from a total on,
// that are no records because they have nothing but a text in the first column, such as "Confidential - do not
// distribute", or a total. They are held back until the end shows that no other row follows; otherwise they are
// returned like any row.
type footer struct {
	rows   rowReader
	part   bool                    // the end of the rows is not the end of the file
	keyed  bool                    // every record of the file has a key
	fields func() ([]Field, error) // of the row that was read last; nil if nothing asks for them

	end   int64 // the line after the last row
	other int   // rows with values in other columns
	never bool  // such rows stand within the list, too
	open  bool  // all rows since an empty line are such rows
	held  []read
	queue []read // what follows the held rows, after them
	is    read   // returned last
	left  []Label
}

// Label is a row below a list that has a text in the first column and nothing else, or the label of a total.
type Label struct {
	Line int64
	Text string
}

// read is the result of reading a row. Its fields are kept if other rows are read before it is returned.
type read struct {
	row    *Row
	err    error
	fields []Field
	broken error // why it has no fields
}

// mostFooter is how many rows the footer of a report has at most.
const mostFooter = 20

// Next reads the next row.
func (f *footer) Next() (*Row, error) {
	for len(f.queue) == 0 {
		is := read{}
		is.row, is.err = f.rows.Next()
		refused, bad := errors.AsType[*RowError](is.err)
		label := Label{}
		switch {
		case is.err == nil:
			label = Label{is.row.Line, is.row.Label}
			f.see(label, is.row.Lines)
			bad = len(is.row.Attributes) == 0 || f.keyed && is.row.Key == ""
		case bad:
			label = Label{refused.Line, refused.Label}
			f.see(label, refused.Lines)
		case !f.part && errors.Is(is.err, io.EOF):
			f.held = nil
		}
		if bad && f.open && len(f.held) < mostFooter {
			if f.fields != nil {
				is.fields, is.broken = f.fields()
			}
			f.held, f.left = append(f.held, is), append(f.left, label)
			continue
		}
		if len(f.held) == 0 {
			f.is = is
			return is.row, is.err
		}
		f.queue, f.held, f.left = append(f.held, is), nil, nil
	}
	f.is, f.queue = f.queue[0], f.queue[1:]
	return f.is.row, f.is.err
}

// kept returns the fields of the row that Next returned last, both nil if the rows still have them.
func (f *footer) kept() ([]Field, error) {
	if f == nil {
		return nil, nil
	}
	return f.is.fields, f.is.broken
}

// see notes where a row stands, and whether it is a label: a text in the first column alone. A name of one word, such as
// that of the company below its report, is one only behind others.
func (f *footer) see(of Label, lines int64) {
	label := of.Text != "" && (f.open || beginsFooter(of.Text))
	after := of.Line > f.end || isTotal(of.Text)
	f.end = of.Line + max(lines, 1)
	f.open = label && !f.never && f.other > 1 && (f.open || after)
	if !label {
		f.other++
	}
	f.never = f.never || label && !f.open
}

// labelOf returns the text of a row that may belong to the footer of a report, "" for any other: its only value stands
// in the first column, and has a letter. Behind the label of a total there may be numbers.
func labelOf(row []string) string {
	if len(row) == 0 {
		return ""
	}
	text := strings.TrimSpace(row[0])
	numbers := func() bool {
		return !slices.ContainsFunc(row[1:], func(v string) bool { return strings.ContainsFunc(v, unicode.IsLetter) })
	}
	if strings.ContainsFunc(text, unicode.IsLetter) && (filled(row) == 1 || numbers() && isTotal(text)) {
		return text
	}
	return ""
}

// beginsFooter reports whether a label may be the first of a footer: it has several words or is the label of a total, so
// it is no key.
func beginsFooter(label string) bool { return strings.Contains(label, " ") || isTotal(label) }

// Footer returns the rows at the end of the file that were left out as the footer of a report, once the end was read.
func (r *Reader) Footer() []Label {
	if r.footer == nil {
		return nil
	}
	return r.footer.left
}
