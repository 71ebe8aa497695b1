// SPDX-License-Identifier: Apache-2.0

package tabular

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Merged is a column of merged cells: the value of the first row applies to all.
type Merged struct {
	Column      int
	First, Last int64 // rows
}

// maxMerged is how many merged cells of a sheet are followed.
const maxMerged = 1 << 20

var mergeCell = regexp.MustCompile(`mergeCell\s[^>]*\bref="([A-Za-z]+)(\d+):[A-Za-z]+(\d+)"`)

// Merged returns the cells of a sheet that are merged with cells below them, ordered by row. They are listed behind the
// rows, so the sheet is read to its end, but not decoded. The error is an *Error.
func (w *Workbook) Merged(name string) (all []Merged, err error) {
	i := slices.IndexFunc(w.sheets, func(s sheet) bool { return s.name == name })
	if i < 0 {
		return nil, &Error{Reason: fmt.Sprintf("there is no sheet %.60q", name)}
	}
	in, err := w.part(w.sheets[i].part)
	if err != nil {
		return nil, damagedWorkbook(err)
	}
	defer in.Close()
	r := bufio.NewReaderSize(in, 64<<10)
	for len(all) < maxMerged {
		in.left = maxElement
		element, err := r.ReadSlice('>')
		if bytes.Contains(element, []byte("mergeCell ")) {
			if m := mergeCell.FindSubmatch(element); m != nil {
				first, _ := strconv.ParseInt(string(m[2]), 10, 64)
				last, _ := strconv.ParseInt(string(m[3]), 10, 64)
				if column := columnOf(strings.ToUpper(string(m[1]))); column >= 0 && first < last {
					all = append(all, Merged{column, first, last})
				}
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			break // the end, or damage that the reading of the rows reports
		}
	}
	slices.SortFunc(all, func(a, b Merged) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Column, b.Column))
	})
	return all, nil
}
