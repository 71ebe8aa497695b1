// SPDX-License-Identifier: Apache-2.0

package audit_test

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locus-db/locus/audit"
)

// book is two chains: the second starts while the first one has three entries, and the first goes on.
func book(t *testing.T, now time.Time) []audit.Row {
	t.Helper()
	var rows []audit.Row
	add := func(c *audit.Chain, e audit.Entry) audit.Row {
		now = now.Add(time.Second)
		r, err := c.Append(e, now)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
		return r
	}
	action := func(c *audit.Chain, name string) {
		begun := add(c, audit.Entry{Phase: audit.Begun, Class: audit.Admin, Principal: "ann", Action: name}).Head()
		add(c, audit.Entry{Phase: audit.Ended, Class: audit.Admin, Of: &begun, Outcome: "ok"})
	}
	one, two := audit.NewChain(1), audit.NewChain(2)
	add(one, audit.Entry{Phase: audit.Start})
	action(one, "a")
	newest := one.Last().Head()
	add(two, audit.Entry{Phase: audit.Start, Newest: &newest})
	action(two, "b")
	action(one, "c")
	return rows
}

func verify(t *testing.T, rows []audit.Row, heads ...audit.Head) *audit.Report {
	t.Helper()
	rows = slices.SortedFunc(slices.Values(rows), func(a, b audit.Row) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Chain, b.Chain), cmp.Compare(a.Seq, b.Seq))
	})
	r, err := audit.Verify(heads, func(see func(audit.Row)) error {
		for _, row := range rows {
			see(row)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestVerify_Sound(t *testing.T) {
	t.Parallel()
	rows := book(t, time.Now())
	r := verify(t, rows, rows[2].Head(), rows[7].Head())
	if len(r.Problems) > 0 || r.Entries != 8 || r.Chains != 2 || r.Unended != 0 {
		t.Errorf("%+v", r)
	}
	if r := verify(t, rows[:7]); r.Unended != 1 || len(r.Problems) > 0 {
		t.Errorf("without the end of an action: %+v", r)
	}
	for _, row := range rows {
		again, err := audit.ParseRow(row.Body)
		if err != nil || again != row {
			t.Errorf("the line of %+v is read as %+v, %v", row, again, err)
		}
	}
}

// forge makes a chain again with one entry changed, as someone who can write the table would.
func forge(t *testing.T, rows []audit.Row, at int, change func(*audit.Entry)) []audit.Row {
	t.Helper()
	rows = slices.Clone(rows)
	chain := rows[at].Chain
	prev := ""
	for i, r := range rows {
		if r.Chain != chain {
			continue
		}
		e, err := r.Entry()
		if err != nil {
			t.Fatal(err)
		}
		if i == at {
			change(&e)
		}
		if i > at {
			e.Prev = prev
		}
		body, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		rows[i].Body, prev = string(body), audit.Hash(string(body))
	}
	return rows
}

func TestVerify_FindsWhatWasAltered(t *testing.T) {
	t.Parallel()
	good := book(t, time.Now())
	replace := func(i int, from, to string) []audit.Row {
		rows := slices.Clone(good)
		rows[i].Body = strings.Replace(rows[i].Body, from, to, 1)
		if rows[i] == good[i] {
			t.Fatalf("%q is not in %s", from, good[i].Body)
		}
		return rows
	}
	without := func(from, to int) []audit.Row { return slices.Delete(slices.Clone(good), from, to) }
	swapped := slices.Clone(good)
	swapped[1].Body, swapped[2].Body = good[2].Body, good[1].Body
	for name, tc := range map[string]struct {
		rows  []audit.Row
		heads []audit.Head
		want  string
	}{
		"a name is changed":                 {replace(1, "ann", "bob"), nil, "not the one that was written"},
		"an entry is no JSON":               {replace(1, "{", "["), nil, "cannot be read"},
		"an entry has another number":       {replace(1, `"seq":2`, `"seq":3`), nil, "says to be entry 3"},
		"bodies are exchanged":              {swapped, nil, "says to be"},
		"an entry is removed":               {without(1, 2), nil, "1 are missing"},
		"the beginning is removed":          {without(0, 2), nil, "before it are missing"},
		"a chain is removed":                {slices.DeleteFunc(slices.Clone(good), func(r audit.Row) bool { return r.Chain == 1 }), nil, "its chain is missing"},
		"an end is cut off that is named":   {good[:7], []audit.Head{good[7].Head()}, "cut off"},
		"a chain is forged before its name": {forge(t, good, 1, func(e *audit.Entry) { e.Principal = "bob" }), nil, "names"},
		"a chain is forged after its name":  {forge(t, good, 6, func(e *audit.Entry) { e.Principal = "bob" }), []audit.Head{good[7].Head()}, "names"},
		"a start that is none":              {forge(t, good, 0, func(e *audit.Entry) { e.Phase = audit.Begun }), nil, "does not begin with a start"},
	} {
		r := verify(t, tc.rows, tc.heads...)
		if !slices.ContainsFunc(r.Problems, func(p audit.Problem) bool { return strings.Contains(p.What, tc.want) }) {
			t.Errorf("%s: problems %+v, want %q", name, r.Problems, tc.want)
		}
	}
}

// Entries that were removed because of their age are not missed; others are, even if their removal is claimed for too
// few.
func TestTrim(t *testing.T) {
	t.Parallel()
	now := time.Now()
	rows := book(t, now.Add(-audit.Keep-4500*time.Millisecond))
	old, record := audit.Trim(rows, now)
	if len(old) != 4 || record == nil || len(record.Trimmed) != 2 {
		t.Fatalf("%v are trimmed, recorded as %+v, want the four that are older than 400 days", old, record)
	}
	c := audit.NewChain(3)
	newest := rows[7].Head()
	start, err := c.Append(audit.Entry{Phase: audit.Start, Newest: &newest}, now)
	if err != nil {
		t.Fatal(err)
	}
	noted, err := c.Append(*record, now)
	if err != nil {
		t.Fatal(err)
	}
	if r := verify(t, append(slices.Clone(rows[4:]), start, noted)); len(r.Problems) > 0 {
		t.Errorf("after the removal: %+v", r.Problems)
	}
	if r := verify(t, append(slices.Clone(rows[5:]), start, noted)); len(r.Problems) == 0 {
		t.Error("an entry that was not trimmed is not missed")
	}
	if old, record := audit.Trim(rows, now.Add(-time.Minute)); old != nil || record != nil {
		t.Errorf("%v are trimmed before their time", old)
	}
}
