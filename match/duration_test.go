// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locus-db/locus/match"
)

// ofLength returns a kind of titles with people and durations.
func ofLength(t *testing.T) *match.Schema {
	t.Helper()
	s, err := match.ParseSchema([]byte(`kind: song
version: 1
attributes:
  title:  { type: name, style: title }
  artist: { type: people }
  length: { type: number }
`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func song(title, artist, length string) match.Attributes {
	a := match.Attributes{"title": {title}}
	if artist != "" {
		a["artist"] = []string{artist}
	}
	if length != "" {
		a["length"] = []string{length}
	}
	return a
}

var singers = []string{"Ada Holm", "Bruno Vance", "Clara Pinto", "Dmitri Osk"}

// charts returns the terms of songs whose durations have colons, or none.
func charts(s *match.Schema, length string) *match.TermFrequencies {
	var records []match.Attributes
	for i := range 600 {
		artist := singers[i%len(singers)]
		records = append(records, song(fmt.Sprintf("Song%c%c Word%c", 'a'+i%26, 'a'+i/26, 'a'+i%17), artist, fmt.Sprintf(length, i%60)))
	}
	return match.TermsOf(s, slices.Values(records))
}

// TestDurations compares lengths of songs in several units.
func TestDurations(t *testing.T) {
	t.Parallel()
	s := ofLength(t)
	clock, plain := charts(s, "3:%02d"), charts(s, "2%02d")
	for _, c := range []struct {
		name  string
		terms *match.TermFrequencies
		a, b  string
		want  string
	}{
		{"seconds", clock, "3:41", "221", "equal"},
		{"milliseconds", clock, "3:41", "221000", "equal"},
		{"minutes", clock, "222", "3.7", "equal"},
		{"two spellings", clock, "3m 42s", "221904", "close"},
		{"another one", clock, "221", "380000", "apart"},
		{"a short one", clock, "0:50", "50000", "equal"},
		{"no durations", plain, "221", "221000", "far apart"},
		{"not counted", nil, "3:41", "3.7", "far apart"},
	} {
		m := match.New(s, c.terms)
		x, y := m.Normalise("one", "1", song("Songaa Worda", "", c.a)), m.Normalise("two", "2", song("Songaa Worda", "", c.b))
		got := ""
		for _, l := range m.Explain(x, y, m.Compare(x, y)).Lines {
			if l.Attribute == "number" {
				got = l.Level
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestCredits compares songs one of which has the performer, a guest or the year of a mastering in its title.
func TestCredits(t *testing.T) {
	t.Parallel()
	s := ofLength(t)
	terms := charts(s, "3:%02d")
	for _, c := range []struct {
		name string
		a, b match.Attributes
		want match.Outcome
	}{
		{"a performer", song("Songcb Wordc", "Clara Pinto", ""), song("Clara Pinto - Songcb Wordc", "", ""), match.Same},
		{"behind the title", song("Songcb Wordc", "Clara Pinto", ""), song("Songcb Wordc - Clara Pinto", "", ""), match.Same},
		{"in both columns", song("Songcb Wordc", "Clara Pinto", ""), song("Pinto - Songcb Wordc", "Clara Pinto", ""), match.Same},
		{"another performer", song("Songcb Wordc", "Clara Pinto", ""), song("Bruno Vance - Songcb Wordc", "", ""), match.Possible},
		{"no performer", song("Songcb Wordc", "Clara Pinto", ""), song("Zanzibar - Songcb Wordc", "", ""), match.Possible},
		{"unknown", song("Songcb Wordc", "", "221"), song("[unknown] - Songcb Wordc", "", "221"), match.Same},
		{"a guest", song("Songcb Wordc", "Clara Pinto", ""), song("Songcb Wordc (feat. Bruno Vance)", "Clara Pinto", ""), match.Same},
		{"a guest, live", song("Songcb Wordc", "Clara Pinto", ""), song("Songcb Wordc feat. Bruno Vance (live)", "Clara Pinto", ""), match.Different},
		{"a mastering", song("Songcb Wordc", "Clara Pinto", ""), song("Songcb Wordc - 2009 Remaster", "Clara Pinto", ""), match.Same},
		{"a live recording", song("Songcb Wordc", "Clara Pinto", ""), song("Songcb Wordc (live)", "Clara Pinto", ""), match.Different},
	} {
		m := match.New(s, terms)
		x, y := m.Normalise("one", "1", c.a), m.Normalise("two", "2", c.b)
		e := m.Explain(x, y, m.Compare(x, y))
		if e.Outcome != c.want {
			t.Errorf("%s: %v, want %v: %+v", c.name, e.Outcome, c.want, e.Lines)
		}
	}
}

// TestCredits_AreShown explains people who are named in a title only.
func TestCredits_AreShown(t *testing.T) {
	t.Parallel()
	s := ofLength(t)
	m := match.New(s, charts(s, "3:%02d"))
	x := m.Normalise("one", "1", song("Songcb Wordc", "Clara Pinto", ""))
	y := m.Normalise("two", "2", song("Clara Pinto - Songcb Wordc", "", ""))
	for _, l := range m.Explain(x, y, m.Compare(x, y)).Lines {
		if l.Attribute == "people" && (l.Level != "the same one" || !slices.Equal(l.B, []string{"Clara Pinto - Songcb Wordc"})) {
			t.Errorf("%+v", l)
		}
	}
}
