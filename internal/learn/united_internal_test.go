// SPDX-License-Identifier: Apache-2.0

package learn

import (
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
	if share, chance := l.unites(today, learned); share != .5 || chance < .444 || chance > .445 {
		t.Errorf("share %v of %v, want 1/2 of 4/9", share, chance)
	}
	l.pairs, l.records = l.pairs[:20], l.records[:20]
	if share, chance := l.unites(today[:20], learned[:20]); share != 0 || chance != 0 {
		t.Errorf("of four: %v of %v, want nothing", share, chance)
	}
}
