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
// Rows that are compared have their fields, though others were read before they were returned.
func TestFooter(t *testing.T) {
	t.Parallel()
	const list = "name,phone,id\nJoes Pizza,415-555-2300,1\nBlue Door Books,415-555-2301,2\n"
	const keyed = "id,name,phone\n1,Joes Pizza,415-555-2300\n2,Blue Door Books,415-555-2301\n\n"
	const keyedSums = "id,name,balance\n1,Joes Pizza,12.00\n2,Blue Door Books,13.00\n"
	const notes = "\"Grand Totals (2 records)\",,\nConfidential - do not distribute\n\"Copyright, all rights reserved\"\n"
	whole, part := bulk.Options{Source: "s", Key: []string{"id"}}, bulk.Options{Source: "s", Key: []string{"id"}, Part: true}
	compared, ignoring := bulk.Options{Source: "s", Unstored: true}, bulk.Options{Source: "s", Key: []string{"id"}, IgnoreUnknown: true}
	for name, tc := range map[string]struct {
		text          string
		options       bulk.Options
		rows, refused int
		left          []int64
	}{
		"below an empty line":          {list + "\n\n" + notes, whole, 2, 0, []int64{6, 7, 8}},
		"below delimiters":             {list + ",,\n" + notes, whole, 2, 0, []int64{5, 6, 7}},
		"without an empty line":        {list + notes, whole, 2, 3, nil},
		"an empty line at the end":     {list + "\n" + notes + "\n", whole, 2, 0, []int64{5, 6, 7}},
		"a total":                      {list + "\nTotal\n", whole, 2, 0, []int64{5}},
		"a total directly below":       {keyedSums + "3,Quill Optics,9.50\nTotal,,\"1,914.52\"\n", ignoring, 3, 0, []int64{5}},
		"a total of the attributes":    {keyed + "Total,,2\n", whole, 3, 0, nil},
		"a total with words":           {keyedSums + "Total,,none\n", ignoring, 3, 0, nil},
		"a total within":               {keyedSums + "Total,,25\n3,Quill Optics,9.50\n", ignoring, 4, 0, nil},
		"totals and notes":             {keyedSums + "Total,,25\n" + notes, ignoring, 2, 0, []int64{4, 5, 6, 7}},
		"another word":                 {list + "\nQuill\n", whole, 2, 1, nil},
		"a name of one word behind":    {list + "\n\n" + notes + "Quill\n", whole, 2, 0, []int64{6, 7, 8, 9}},
		"a number behind":              {list + "\n" + notes + "17\n", whole, 2, 4, nil},
		"a record follows":             {list + "\n" + notes + "Quill Optics,415-555-2302,3\n", whole, 3, 3, nil},
		"a broken row follows":         {list + "\n" + notes + "Quill Optics,415-555-2302,\n", whole, 2, 4, nil},
		"such rows in the list":        {"name,phone,id\nA B,415-555-2303,1\nSection one\nC D,415-555-2304,2\nE F,415-555-2305,3\n\n" + notes, whole, 3, 4, nil},
		"more than a footer":           {list + "\n" + strings.Repeat("Confidential text\n", 21), whole, 2, 21, nil},
		"below the key":                {keyed + notes, whole, 2, 0, []int64{5, 6, 7}},
		"below the key, a row follows": {keyed + notes + "3,Quill Optics,415-555-2302\n", whole, 4, 2, nil},
		"compared, below the key":      {keyed + notes, compared, 2, 0, []int64{5, 6, 7}},
		"compared, a row follows":      {list + "\n" + notes + "Quill Optics,415-555-2302,3\n", compared, 4, 2, nil},
		"compared":                     {list + "\n" + notes, compared, 2, 0, []int64{5, 6, 7}},
		"compared, without a key":      {"name,phone\nJoes Pizza,415-555-2300\nBlue Door Books,415-555-2301\n\nGrand Totals,\n", compared, 3, 0, nil},
		"a part of a file":             {list + "\n" + notes, part, 2, 3, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := bulk.Recognise(bulk.Stdin, strings.NewReader(tc.text), []*match.Schema{match.Place()},
				&tc.options)
			if err != nil {
				t.Fatal(err)
			}
			r, err := plan.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			lines := strings.Split(tc.text, "\n")
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
				if fields, err := r.Fields(); tc.options.Unstored && (err != nil || !strings.Contains(lines[line-1], fields[0].Values[0])) {
					t.Errorf("line %d has the fields %v, %v", line, fields, err)
				}
				if line <= last {
					t.Errorf("line %d comes after line %d", line, last)
				}
				last = line
			}
			if rows != tc.rows || refused != tc.refused {
				t.Errorf("%d rows, %d refused; want %d, %d", rows, refused, tc.rows, tc.refused)
			}
			for of, left := range map[string][]bulk.Label{"file": r.Footer(), "sample": plan.Footer} {
				var at []int64
				for _, label := range left {
					at = append(at, label.Line)
				}
				if diff := cmp.Diff(tc.left, at); diff != "" {
					t.Errorf("%s: %s", of, diff)
				}
			}
			if n := len(plan.Sample) + len(plan.Refused); n != rows+refused {
				t.Errorf("the sample has %s, the file %d", fmt.Sprint(len(plan.Sample), "+", len(plan.Refused)), rows+refused)
			}
		})
	}
}
