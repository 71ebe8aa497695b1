// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"errors"
	"io"
	"strings"
)

// footer reads rows and leaves out the footer of a report: rows at the end, after an empty line, that are refused
// because they have nothing but a text in the first column, such as "Confidential - do not distribute". They are held
// back until the end shows that no other row follows; otherwise they are refused like any row.
type footer struct {
	rows rowReader
	part bool // the end of the rows is not the end of the file

	end   int64 // the line after the last row
	other int   // rows with values in other columns
	never bool  // such rows stand within the list, too
	open  bool  // all rows since an empty line are such rows
	held  []*RowError
	queue []read // what follows the held rows, to be returned after them
	left  []Label
}

// Label is a row below a list that has a text in the first column and nothing else.
type Label struct {
	Line int64
	Text string
}

// read is the result of reading a row.
type read struct {
	row *Row
	err error
}

// mostFooter is how many rows the footer of a report has at most.
const mostFooter = 20

// Next reads the next row.
func (f *footer) Next() (*Row, error) {
	for len(f.queue) == 0 {
		is := read{}
		is.row, is.err = f.rows.Next()
		refused, bad := errors.AsType[*RowError](is.err)
		switch {
		case is.err == nil:
			f.see(is.row.Line, is.row.Lines, is.row.Label != "")
		case bad:
			f.see(refused.Line, refused.Lines, refused.Label != "")
		case !f.part && errors.Is(is.err, io.EOF):
			for _, held := range f.held {
				f.left = append(f.left, Label{held.Line, held.Label})
			}
			f.held = nil
		}
		if bad && f.open && len(f.held) < mostFooter {
			f.held = append(f.held, refused)
			continue
		}
		if len(f.held) == 0 {
			return is.row, is.err
		}
		for _, held := range f.held {
			f.queue = append(f.queue, read{nil, held})
		}
		f.queue, f.held = append(f.queue, is), nil
	}
	is := f.queue[0]
	f.queue = f.queue[1:]
	return is.row, is.err
}

// see notes where a row stands, and whether it is a label: a text in the first column alone.
func (f *footer) see(line, lines int64, label bool) {
	after := line > f.end
	f.end = line + max(lines, 1)
	f.open = label && !f.never && f.other > 1 && (f.open || after)
	if !label {
		f.other++
	}
	f.never = f.never || label && !f.open
}

// labelOf returns the text of a row that may belong to the footer of a report, "" for any other: its only value stands
// in the first column, and that is a text of several words or the label of a total, but no key.
func labelOf(row []string) string {
	if len(row) == 0 || filled(row) != 1 {
		return ""
	}
	if text := strings.TrimSpace(row[0]); strings.Contains(text, " ") || isTotal(text) {
		return text
	}
	return ""
}

// Footer returns the rows at the end of the file that were left out as the footer of a report, once the end was read.
func (r *Reader) Footer() []Label {
	if r.footer == nil {
		return nil
	}
	return r.footer.left
}
