// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// The footer of a report is left out of the rows. Rows that may be records, or that stand where no footer is, are not.
func TestFooter(t *testing.T) {
	t.Parallel()
	const list = "name,phone,id\nJoes Pizza,415-555-2300,1\nBlue Door Books,415-555-2301,2\n"
	const notes = "\"Grand Totals (2 records)\",,\nConfidential - do not distribute\n\"Copyright, all rights reserved\"\n"
	for name, tc := range map[string]struct {
		text          string
		part          bool
		rows, refused int
		left          []int64
	}{
		"below an empty line":      {list + "\n\n" + notes, false, 2, 0, []int64{6, 7, 8}},
		"below delimiters":         {list + ",,\n" + notes, false, 2, 0, []int64{5, 6, 7}},
		"without an empty line":    {list + notes, false, 2, 3, nil},
		"an empty line at the end": {list + "\n" + notes + "\n", false, 2, 0, []int64{5, 6, 7}},
		"a total":                  {list + "\nTotal\n", false, 2, 0, []int64{5}},
		"another word":             {list + "\nQuill\n", false, 2, 1, nil},
		"a record follows":         {list + "\n" + notes + "Quill Optics,415-555-2302,3\n", false, 3, 3, nil},
		"a broken row follows":     {list + "\n" + notes + "Quill Optics,415-555-2302,\n", false, 2, 4, nil},
		"such rows in the list":    {"name,phone,id\nA B,415-555-2303,1\nSection one\nC D,415-555-2304,2\nE F,415-555-2305,3\n\n" + notes, false, 3, 4, nil},
		"more than a footer":       {list + "\n" + strings.Repeat("Confidential text\n", 21), false, 2, 21, nil},
		"a part of a file":         {list + "\n" + notes, true, 2, 3, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := bulk.Recognise(bulk.Stdin, strings.NewReader(tc.text), []*match.Schema{match.Place()},
				&bulk.Options{Source: "s", Key: []string{"id"}, Part: tc.part})
			if err != nil {
				t.Fatal(err)
			}
			r, err := plan.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			rows, refused, last := 0, 0, int64(0)
			for {
				row, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				line := int64(0)
				if e, bad := errors.AsType[*bulk.RowError](err); bad {
					refused, line = refused+1, e.Line
				} else if err != nil {
					t.Fatal(err)
				} else {
					rows, line = rows+1, row.Line
				}
				if line <= last {
					t.Errorf("line %d comes after line %d", line, last)
				}
				last = line
			}
			if rows != tc.rows || refused != tc.refused {
				t.Errorf("%d rows, %d refused; want %d, %d", rows, refused, tc.rows, tc.refused)
			}
			for at, left := range map[string][]bulk.Label{"file": r.Footer(), "sample": plan.Footer} {
				var lines []int64
				for _, label := range left {
					lines = append(lines, label.Line)
				}
				if diff := cmp.Diff(tc.left, lines); diff != "" {
					t.Errorf("%s: %s", at, diff)
				}
			}
			if n := len(plan.Sample) + len(plan.Refused); n != rows+refused {
				t.Errorf("the sample has %s, the file %d", fmt.Sprint(len(plan.Sample), "+", len(plan.Refused)), rows+refused)
			}
		})
	}
}
