// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"strconv"
	"strings"
	"testing"

	"github.com/locus-db/locus/match"
)

// A draft that joins things of several records each is refused: the difference between them is in all of their records.
func TestRefused_DifferentThingsAreUnited(t *testing.T) {
	t.Parallel()
	d := &Draft{Matches: 1000, Known: 900, Seen: 20, Gain: .1, Error: .01, Stable: 1, United: .4, Chance: .4}
	if r := d.Refused(); len(r) != 1 || !strings.Contains(r[0], "40.0 % of what the learned weights join are things of several records each") {
		t.Errorf("refused: %q", r)
	}
	for _, c := range []struct{ united, chance float64 }{{.06, .05}, {.15, .4}, {0, 0}} {
		if d.United, d.Chance = c.united, c.chance; len(d.Refused()) > 0 {
			t.Errorf("%v: refused", c)
		}
	}
}

// A pair of things counts once, however many of their records match, and few pairs show nothing.
func TestUnites_CountsPairsOfThings(t *testing.T) {
	t.Parallel()
	// Twelve times five records: two things of two records, and a record alone. The second table joins both things by two
	// pairs, and the record with the first thing.
	var l model
	var today, learned []bool
	for n := range 12 {
		at := 5 * n
		for _, p := range [][3]int{{0, 1, 1}, {2, 3, 1}, {0, 2, 0}, {1, 3, 0}, {1, 4, 0}} {
			l.pairs = append(l.pairs, [2]int{at + p[0], at + p[1]})
			today, learned = append(today, p[2] == 1), append(learned, true)
		}
	}
	l.records = make([]*match.Record, 60)
	l.vectors = make([]match.Vector, len(l.pairs))
	var d Draft
	if l.unites(&d, today, learned); d.United != .5 || d.Chance < .444 || d.Chance > .445 || d.Opposed != 0 {
		t.Errorf("%+v, want 1/2 of 4/9", d)
	}
	d = Draft{}
	l.pairs, l.records = l.pairs[:20], l.records[:20]
	if l.unites(&d, today[:20], learned[:20]); d.United != 0 || d.Chance != 0 {
		t.Errorf("of four: %+v, want nothing", d)
	}
}

// One pair of records whose identifiers differ opposes two things, whichever of their pairs agree.
func TestUnites_CountsOpposedThings(t *testing.T) {
	t.Parallel()
	m := match.New(match.Place(), nil)
	firm := func(n int, vat string) *match.Record {
		a := match.Attributes{"name": {"Acme"}}
		if vat != "" {
			a["tax_id"] = []string{vat}
		}
		return m.Normalise("s", strconv.Itoa(n), a)
	}
	l := model{matcher: m, fields: m.Fields()}
	var today, learned []bool
	for n := range 4 { // a thing of two records, one of them without a number, and a record with another number
		at := 3 * n
		l.records = append(l.records, firm(at, "DE136695976"), firm(at+1, ""), firm(at+2, "DE811569869"))
		for _, p := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
			l.pairs = append(l.pairs, [2]int{at + p[0], at + p[1]})
			l.vectors = append(l.vectors, l.compare(at+p[0], at+p[1]))
			today, learned = append(today, p[1] == 1), append(learned, p != [2]int{0, 2})
		}
	}
	var d Draft
	if l.unites(&d, today, learned); d.Opposed != 1 {
		t.Errorf("opposed: %v, want all", d.Opposed)
	}
}
