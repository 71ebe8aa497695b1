// SPDX-License-Identifier: Apache-2.0

package dedupe_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locus-db/locus/internal/dedupe"
	"github.com/locus-db/locus/match"
)

// listed are the records of two sources and the pairs that match: 60 things that both have, and pairs of a, which begin
// with these. The partner in b of record i of a is record 60+i.
type listed struct {
	t       *testing.T
	records []*match.Record
	pairs   []dedupe.Pair
}

const things = 60

func list(t *testing.T) *listed {
	l := &listed{t: t}
	m := match.New(match.Kinds()[0], nil)
	for _, source := range []string{"a", "b"} {
		for i := range things {
			l.records = append(l.records, m.Normalise(source, fmt.Sprint(i), match.Attributes{"name": {"thing"}}))
		}
	}
	for i := range things {
		l.match(i, things+i, 1200)
	}
	return l
}

func (l *listed) match(i, j int, w match.Weight) {
	l.pairs = append(l.pairs, dedupe.Pair{A: i, B: j, Weight: w})
}

func (l *listed) once(want ...string) {
	l.t.Helper()
	if got := dedupe.ListOnce(l.records, l.pairs); !slices.Equal(got, want) {
		l.t.Errorf("list nothing twice: %q, want %q", got, want)
	}
	slices.Reverse(l.pairs)
	if got := dedupe.ListOnce(l.records, l.pairs); !slices.Equal(got, want) {
		l.t.Errorf("list nothing twice, pairs reversed: %q, want %q", got, want)
	}
}

func TestListOnce(t *testing.T) {
	t.Run("neighbours", func(t *testing.T) {
		l := list(t)
		for i := range 4 {
			l.match(2*i, 2*i+1, 2000)
		}
		l.once("a")
	})
	t.Run("too few neighbours to say", func(t *testing.T) {
		l := list(t)
		l.match(0, 1, 2000)
		l.match(2, 3, 2000)
		l.once()
	})
	t.Run("records of one thing", func(t *testing.T) {
		l := list(t)
		for i := range 4 { // both match the partner of the first one better
			l.match(2*i, 2*i+1, 900)
			l.match(2*i+1, things+2*i, 1300)
		}
		l.once()
	})
	t.Run("records of one thing, some with a wrong partner", func(t *testing.T) {
		l := list(t)
		for i := range 9 {
			l.match(2*i, 2*i+1, 900)
			if i >= 3 {
				l.match(2*i+1, things+2*i, 1300)
			}
		}
		l.once()
	})
	t.Run("neighbours in both sources", func(t *testing.T) {
		l := list(t)
		for i := range 4 { // all four match, but less than partners
			l.match(2*i, 2*i+1, 1100)
			l.match(things+2*i, things+2*i+1, 1100)
			l.match(2*i, things+2*i+1, 1000)
			l.match(2*i+1, things+2*i, 1000)
		}
		l.once("a", "b")
	})
	t.Run("twice in both sources", func(t *testing.T) {
		l := list(t)
		for i := range 4 { // all four match, and those of one source as well as partners
			l.match(2*i, 2*i+1, 1200)
			l.match(things+2*i, things+2*i+1, 1200)
			l.match(2*i, things+2*i+1, 1000)
			l.match(2*i+1, things+2*i, 1000)
		}
		l.once()
	})
	t.Run("a source that matches itself everywhere", func(t *testing.T) {
		l := list(t)
		for i := range things / 2 {
			l.match(2*i, 2*i+1, 1100)
		}
		l.once()
	})
	t.Run("no other source", func(t *testing.T) {
		l := list(t)
		l.records, l.pairs = l.records[:things], nil
		for i := range 4 {
			l.match(2*i, 2*i+1, 1100)
		}
		l.once()
	})
}

// Identical rows of one source are one pair of it, however many there are, and each is matched with the others' records.
func TestMatches(t *testing.T) {
	m := match.New(match.Kinds()[0], nil)
	var records []*match.Record
	for i, row := range [][2]string{{"a", "Joes Pizza"}, {"a", "Joes Pizza"}, {"b", "Joe's Pizza"}, {"a", "Joes Pizza"}, {"b", "Blue Door Books"}} {
		phone := []string{"+1 415 555 2300"}
		if i == 4 {
			phone = []string{"+1 415 555 9999"}
		}
		records = append(records, m.Normalise(row[0], fmt.Sprint(i), match.Attributes{"name": {row[1]}, "phones": phone, "city": {"Oakland"}}))
	}
	var got [][2]int
	for _, p := range dedupe.Matches(m, records) {
		got = append(got, [2]int{p.A, p.B})
	}
	slices.SortFunc(got, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	if want := [][2]int{{0, 1}, {0, 2}, {1, 2}}; !slices.Equal(got, want) {
		t.Errorf("matches %v, want %v", got, want)
	}
}
