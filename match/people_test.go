// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"testing"

	"github.com/locus-db/locus/match"
)

const songs = `
kind: song
version: 1
attributes:
  title:   { type: name, style: title }
  artists: { type: people, many: true }
  year:    { type: date }
`

// Two songs of one title are the same if their artists agree, however these are written, and different if no artist is
// in both.
func TestPeople_DistinguishWorksOfOneTitle(t *testing.T) {
	t.Parallel()
	m := match.New(kindOf(t, songs), nil)
	song := func(key string, artists ...string) *match.Record {
		return m.Normalise("s", key, match.Attributes{"title": {"Hallelujah"}, "artists": artists})
	}
	a := song("a", "Leonard Cohen", "John Lissauer")
	for _, c := range []struct {
		b    *match.Record
		want match.Outcome
	}{
		{song("b", "Cohen, L.; Lissauer, J."), match.Same},
		{song("b", "by Leonard Cohen"), match.Same},
		{song("b", "Jeff Buckley"), match.Different},
	} {
		if got := m.Decide(m.Compare(a, c.b)); got != c.want {
			t.Errorf("%v, want %v: %+v", got, c.want, m.Explain(a, c.b, m.Compare(a, c.b)))
		}
	}
	l, ok := line(m.Explain(a, song("b", "Jeff Buckley"), m.Compare(a, song("b", "Jeff Buckley"))), "people")
	if !ok || l.Level != "none in common" || len(l.A) != 2 || l.A[0] != "Leonard Cohen" {
		t.Errorf("the line of the people is %+v", l)
	}
}

// A person and the rarest word of a title bring records together whose common words are too many for a block.
func TestPeople_Meet(t *testing.T) {
	t.Parallel()
	m := match.New(kindOf(t, songs), nil)
	a := m.Normalise("s", "a", match.Attributes{"title": {"Intro"}, "artists": {"The Knife"}})
	b := m.Normalise("s", "b", match.Attributes{"title": {"Intro"}, "artists": {"Knife, The"}})
	for _, k := range m.Explain(a, b, m.Compare(a, b)).BlockingKeys {
		if k.Kind == match.KeyPersonWord {
			return
		}
	}
	t.Error("no common key of a person and a word")
}

// The maker's own name in a title, and a word that one catalogue adds, do not take the place of the other words.
func TestPeople_MeetBesideTheirOwnName(t *testing.T) {
	t.Parallel()
	m := match.New(kindOf(t, songs), nil)
	a := m.Normalise("s", "a", match.Attributes{"title": {"Larkin Hoppy"}, "artists": {"Larkin"}})
	b := m.Normalise("s", "b", match.Attributes{"title": {"Hoppy Porter"}, "artists": {"Larkin Beer Co."}})
	for _, k := range m.Explain(a, b, m.Compare(a, b)).BlockingKeys {
		if k.Kind == match.KeyPersonWord {
			return
		}
	}
	t.Error("no common key of a maker and a word")
}
