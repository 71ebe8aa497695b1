// SPDX-License-Identifier: Apache-2.0

package rolluptest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/locus-db/locus/rollup"
)

func row(key string, body string) rollup.Row { return rollup.Row{Key: []byte(key), Body: []byte(body)} }

// Keys are keys that are easily mishandled, in order.
var Keys = []string{
	"\x00", "\x00\x00", "\x00\xff", "\x01", "'", "0", "10", "2", "A", "B", `\`, `\x61`, "a", "a\x00", "a\x00b", "a ", "aa",
	"b", "\x7f", "\x80",
	"\xc3", "é", "ÿ", "寿司", "\xff", "\xff\x00", "\xff\xfe", "\xff\xff", "\xff\xff\xff", strings.Repeat("\xff", 2000),
}

func rowsAreBytes(t tester, c Cell) {
	var want []rollup.Row
	for i, key := range Keys {
		body := Keys[len(Keys)-1-i]
		if i == 5 {
			body = strings.Repeat("\x00\xff'", 50_000)
		}
		want = append(want, row(key, body))
	}
	put(t, c, 1, want...)
	sameRows(t, "rows", all(t, c, 1), want)
	for _, w := range want {
		if got := bodies(t, c, 1, w.Key); len(got) != 1 || !bytes.Equal(got[0], w.Body) {
			t.Fatalf("row %.20q is %.40q, want %.40q", w.Key, got, w.Body)
		}
	}
}

// sameRows is same for rows that are too long to print.
func sameRows(t tester, what string, got, want []rollup.Row) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b rollup.Row) bool { return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Body, b.Body) }) {
		t.Fatalf("%s: %d are %.40q, want %d: %.40q", what, len(got), got, len(want), want)
	}
}

func rowsInTheOrderAsked(t tester, c Cell) {
	put(t, c, 1, row("a", "1"), row("b", "2"), row("d", "4"))
	got := bodies(t, c, 1, []byte("d"), []byte("c"), []byte("a"), []byte("d"), []byte("A"), []byte("a\x00"), []byte("b"))
	same(t, "rows", got, [][]byte{[]byte("4"), nil, []byte("1"), []byte("4"), nil, nil, []byte("2")})
}

func puttingReplacesAndDeletes(t tester, c Cell) {
	put(t, c, 1, row("d", "4"), row("a", "1"), row("c", "3"))
	same(t, "rows", all(t, c, 1), []rollup.Row{row("a", "1"), row("c", "3"), row("d", "4")})
	for range 2 {
		put(t, c, 1, rollup.Row{Key: []byte("x")}, row("d", "5"), rollup.Row{Key: []byte("a")}, row("b", "2"))
		same(t, "rows, some replaced, deleted and new", all(t, c, 1),
			[]rollup.Row{row("b", "2"), row("c", "3"), row("d", "5")})
	}
	put(t, c, 1, row("a", "1"))
	same(t, "rows, one back again", all(t, c, 1), []rollup.Row{row("a", "1"), row("b", "2"), row("c", "3"), row("d", "5")})
}

func series(n int) []rollup.Row {
	rows := make([]rollup.Row, n)
	for i := range rows {
		rows[i] = row(fmt.Sprintf("g%05d", i), fmt.Sprint("body ", i))
	}
	return rows
}

func thousandRows(t tester, c Cell) {
	want := series(2500)
	put(t, c, 1, want...)
	same(t, "rows", all(t, c, 1), want)
	var keys, wanted [][]byte
	for i := range want {
		w := want[len(want)-1-i]
		keys, wanted = append(keys, w.Key, append(w.Key, 0)), append(wanted, w.Body, nil)
	}
	same(t, "rows by their keys", bodies(t, c, 1, keys...), wanted)
	var none []rollup.Row
	for _, w := range want[:1500] {
		none = append(none, rollup.Row{Key: w.Key})
	}
	put(t, c, 1, none...)
	same(t, "rows that are left", all(t, c, 1), want[1500:])
}

func rowsIn(rows []rollup.Row, r rollup.Range) (found []rollup.Row) {
	for _, row := range rows {
		if bytes.HasPrefix(row.Key, r.Prefix) && (r.After == nil || bytes.Compare(row.Key, r.After) > 0) {
			found = append(found, row)
		}
	}
	slices.SortFunc(found, func(a, b rollup.Row) int { return bytes.Compare(a.Key, b.Key) })
	if r.Last {
		slices.Reverse(found)
	}
	return found[:min(r.Limit, len(found))]
}

func describe(r rollup.Range) string {
	return fmt.Sprintf("rows under %.20q after %.20q, at most %d, the last ones: %v", r.Prefix, r.After, r.Limit, r.Last)
}

func rangesInOrder(t tester, c Cell) {
	var rows []rollup.Row
	for i, key := range Keys {
		rows = append(rows, row(key, fmt.Sprint(i)))
	}
	put(t, c, 1, rows...)
	ends := [][]byte{nil, {}}
	for _, key := range append(slices.Clone(Keys), "g", "\xfe", "\xff\xff\x00", "a\x00\x00") {
		ends = append(ends, []byte(key))
	}
	for _, prefix := range ends {
		var ranges []rollup.Range
		for _, after := range ends {
			for _, limit := range []int{1, 2, everything} {
				for _, last := range []bool{false, true} {
					ranges = append(ranges, rollup.Range{Prefix: prefix, After: after, Limit: limit, Last: last})
				}
			}
		}
		for i, got := range scan(t, c, 1, ranges...) {
			sameRows(t, describe(ranges[i]), got, rowsIn(rows, ranges[i]))
		}
	}
}

func rangesInTheOrderAsked(t tester, c Cell) {
	rows := series(500)
	put(t, c, 1, rows...)
	var ranges []rollup.Range
	var want [][]rollup.Row
	for i := range 300 {
		r := rollup.Range{Prefix: fmt.Appendf(nil, "g%04d", i*7%60), Limit: 1 + i%12, Last: i%3 == 0}
		if i%5 == 0 {
			r.After = fmt.Appendf(nil, "g%04d5", i*7%60)
		}
		ranges, want = append(ranges, r), append(want, rowsIn(rows, r))
	}
	got := scan(t, c, 1, ranges...)
	if len(got) != len(want) {
		t.Fatalf("%d answers to %d ranges", len(got), len(want))
	}
	for i := range got {
		sameRows(t, describe(ranges[i]), got[i], want[i])
	}
}

func generationsAreApart(t tester, c Cell) {
	numbers := []int64{1, 2, -1, 1 << 40}
	want := func(n int64) []rollup.Row {
		return []rollup.Row{row("\x00", fmt.Sprint(n)), row("\xff\xff", fmt.Sprint(n))}
	}
	for _, n := range numbers {
		put(t, c, n, want(n)...)
	}
	check := func(what string, numbers ...int64) {
		t.Helper()
		for _, n := range numbers {
			same(t, fmt.Sprintf("rows of %d %s", n, what), all(t, c, n), want(n))
			same(t, fmt.Sprintf("the last row of %d %s", n, what), scan(t, c, n, rollup.Range{Limit: 9, Last: true})[0],
				rowsIn(want(n), rollup.Range{Limit: 9, Last: true}))
			same(t, fmt.Sprintf("a row of %d %s", n, what), bodies(t, c, n, []byte("\x00")), [][]byte{want(n)[0].Body})
		}
	}
	check("beside the others", numbers...)
	put(t, c, 2, rollup.Row{Key: []byte("\x00")}, rollup.Row{Key: []byte("\xff\xff")})
	same(t, "rows dropped", drop(t, c, -1, everything), 2)
	same(t, "rows that were deleted", all(t, c, 2), nil)
	same(t, "rows that were dropped", all(t, c, -1), nil)
	check("after others went", 1, 1<<40)
}

func dropInPortions(t tester, c Cell) {
	rows := series(25)
	put(t, c, 1, rows...)
	left := 25
	for i, want := range []int{10, 10, 5, 0} {
		if got := drop(t, c, 1, 10); got != want {
			t.Fatalf("call %d dropped %d rows, want %d", i, got, want)
		}
		left -= want
		there := all(t, c, 1)
		if len(there) != left || slices.ContainsFunc(there, func(r rollup.Row) bool {
			return !slices.ContainsFunc(rows, func(o rollup.Row) bool {
				return bytes.Equal(r.Key, o.Key) && bytes.Equal(r.Body, o.Body)
			})
		}) {
			t.Fatalf("after call %d there are %q, want %d of those before", i, there, left)
		}
	}
	put(t, c, 1, rows[:3]...)
	same(t, "rows that are there again", all(t, c, 1), rows[:3])
}
