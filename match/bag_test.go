// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/match"
)

// beers is a kind of five lines.
const beers = `
kind: beer
version: 1
attributes:
  name:    { type: name, style: title }
  brewery: { type: text }
  remarks: { type: text, role: note }
  style:   { type: text, tag: true }
`

func kindOf(t *testing.T, text string) *match.Schema {
	t.Helper()
	s, err := match.ParseSchema([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// line returns the line of an explanation with a name, and whether there is one.
func line(e match.Explanation, name string) (match.Line, bool) {
	i := slices.IndexFunc(e.Lines, func(l match.Line) bool { return l.Attribute == name })
	if i < 0 {
		return match.Line{}, false
	}
	return e.Lines[i], true
}

// The text line shows the raw values of all attributes that it compares, and not those of notes and tags.
func TestText_IsExplainedWithItsValues(t *testing.T) {
	t.Parallel()
	m := match.New(kindOf(t, beers), nil)
	a := m.Normalise("s", "a", match.Attributes{"name": {"Old Ale"}, "brewery": {"North Coast Brewing Co."}, "remarks": {"tasted twice"}, "style": {"ale"}})
	b := m.Normalise("s", "b", match.Attributes{"name": {"North Coast Old Ale"}, "brewery": {"North Coast"}, "remarks": {"never tasted"}, "style": {"strong"}})
	l, ok := line(m.Explain(a, b, m.Compare(a, b)), "text")
	if !ok {
		t.Fatal("no line of the text")
	}
	want := match.Line{
		Attribute: "text", Level: "most in common", Weight: 300,
		A: []string{"Old Ale", "North Coast Brewing Co."}, B: []string{"North Coast Old Ale", "North Coast"},
	}
	if diff := cmp.Diff(want, l); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Attributes that are not compared change neither a comparison nor the content.
func TestText_NotesAreNotCompared(t *testing.T) {
	t.Parallel()
	m := match.New(kindOf(t, beers), nil)
	plain := match.Attributes{"name": {"Old Ale"}, "brewery": {"North Coast"}}
	noted := match.Attributes{"name": {"Old Ale"}, "brewery": {"North Coast"}, "remarks": {"tasted twice"}, "style": {"ale"}}
	a, b := m.Normalise("s", "a", plain), m.Normalise("s", "b", noted)
	if a.Equal() == 0 || a.Equal() != b.Equal() {
		t.Errorf("content %x and %x: want one", a.Equal(), b.Equal())
	}
	told := m.Normalise("s", "c", match.Attributes{"name": {"Old Ale"}, "brewery": {"South Coast"}})
	if told.Equal() == a.Equal() {
		t.Error("another text has the same content")
	}
}

// If neither record has other text, the title is compared only once.
func TestText_TitlesAloneHaveNoLine(t *testing.T) {
	t.Parallel()
	m := match.New(kindOf(t, beers), nil)
	a, b := m.Normalise("s", "a", match.Attributes{"name": {"Old Ale"}}), m.Normalise("s", "b", match.Attributes{"name": {"Old Stock Ale"}})
	if l, ok := line(m.Explain(a, b, m.Compare(a, b)), "text"); ok {
		t.Errorf("%+v", l)
	}
}

// Frequencies determine rarity: a word that few records have raises the level, and a model number that many records
// have does not identify a thing.
func TestText_RarityIsCounted(t *testing.T) {
	t.Parallel()
	s := kindOf(t, "kind: thing\nversion: 1\nattributes:\n  title: { type: name, style: title }\n  about: { type: text }\n")
	var records []match.Attributes
	for i := range 100 {
		records = append(records, match.Attributes{"title": {fmt.Sprintf("Thing %s mp3x40", strings.Repeat("a", i+1))}, "about": {"sturdy and cheap goods from the warehouse"}})
	}
	records = append(records, match.Attributes{"title": {"Zither ZT450"}, "about": {"sturdy walnut"}}, match.Attributes{"title": {"ZT-450"}, "about": {"walnut, cheap"}})
	m := match.New(s, match.CountTerms(s, slices.Values(records)))
	level := func(i, j int, name string) string {
		a, b := m.Normalise("s", "a", records[i]), m.Normalise("s", "b", records[j])
		l, _ := line(m.Explain(a, b, m.Compare(a, b)), name)
		return l.Level
	}
	if got := level(0, 50, "title residual"); got != "common model numbers agree" {
		t.Errorf("a number that all have: %q", got)
	}
	if got := level(100, 101, "title residual"); got != "rare model numbers agree" {
		t.Errorf("a number of two records: %q", got)
	}
	if got := level(100, 101, "text"); got != "most in common, and rare words" && got != "most in common" {
		t.Errorf("a rare word in common: %q", got)
	}
	if got := level(0, 100, "text"); got != "nothing in common" && got != "little in common" {
		t.Errorf("a common word in common: %q", got)
	}
}

// A kind sets its own weights for the levels of the text, and model numbers are also compared with an attribute of the
// other record.
func TestText_WeightsOfAKind(t *testing.T) {
	t.Parallel()
	s := match.Product()
	s.Weights["text"] = map[string]match.Weight{"much in common": 777}
	m := match.New(s, nil)
	a := m.Normalise("s", "a", match.Attributes{"title": {"Panasonic telephone"}, "model": {"KX-TS208W"}})
	b := m.Normalise("s", "b", match.Attributes{"title": {"2-line phone by Panasonic"}, "description": {"White, KX-TS208W"}})
	e := m.Explain(a, b, m.Compare(a, b))
	if l, _ := line(e, "text"); l.Weight != 777 || l.DefaultWeight == nil || *l.DefaultWeight != 150 {
		t.Errorf("%+v", l)
	}
	want := match.Line{Attribute: "title residual", Level: "rare model numbers agree", Weight: 700, A: []string{"kxts208w"}, B: []string{"kxts208w", "2line"}}
	if l, _ := line(e, "title residual"); !cmp.Equal(want, l) {
		t.Errorf("(-want +got)\n%s", cmp.Diff(want, l))
	}
	with, err := m.With(map[string]match.Weight{"title residual: rare model numbers agree": 100, "text: much in common": 100}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, was := with.Sum(with.Compare(a, b)), e.Weight; got != was-600-677 {
		t.Errorf("with other weights %v, it was %v", got, was)
	}
	if !slices.ContainsFunc(e.BlockingKeys, func(k match.SharedKey) bool { return k.Text == "kxts208w" }) {
		t.Errorf("no common blocking key: %v", e.BlockingKeys)
	}
}

// The levels of source and of text share four bits, and neither changes the other.
func TestText_SharesBitsWithTheSource(t *testing.T) {
	t.Parallel()
	s := match.Product()
	s.Sources = map[string]match.Source{"shop": {Deduplicated: true}}
	m := match.New(s, nil)
	m = m.Thorough()
	x := match.Attributes{"title": {"Speck case"}, "description": {"rubber belt clip and corners"}}
	y := match.Attributes{"title": {"Speck case"}, "description": {"corners and belt clip of rubber"}}
	apart := m.Compare(m.Normalise("shop", "a", x), m.Normalise("other", "b", y))
	within := m.Compare(m.Normalise("shop", "a", x), m.Normalise("shop", "b", y))
	if diff := apart ^ within; bits.OnesCount64(uint64(diff)) != 1 || m.Sum(apart)-m.Sum(within) != 10000 {
		t.Errorf("%x and %x, %v and %v", apart, within, m.Sum(apart), m.Sum(within))
	}
}

// A table of an older version has no counts of text, so no word counts as rare. New counts survive encoding.
func TestText_TablesWithoutText(t *testing.T) {
	t.Parallel()
	s := kindOf(t, "kind: thing\nversion: 1\nattributes:\n  title: { type: name, style: title }\n  about: { type: text }\n")
	records := make([]match.Attributes, 50)
	for i := range records {
		records[i] = match.Attributes{"title": {fmt.Sprintf("Thing %s", strings.Repeat("a", i+1))}, "about": {"sturdy goods from the warehouse"}}
	}
	levelBy := func(p *match.TermFrequencies) string {
		m := match.New(s, p)
		a, b := m.Normalise("s", "a", records[3]), m.Normalise("s", "b", match.Attributes{"title": {"Zither"}, "about": {"sturdy walnut"}})
		l, _ := line(m.Explain(a, b, m.Compare(a, b)), "text")
		return l.Level
	}
	places := match.CountTerms(match.Place(), func(yield func(match.Attributes) bool) {
		for i := range 50 {
			if !yield(match.Attributes{"name": {fmt.Sprintf("Shop %d", i)}}) {
				return
			}
		}
	})
	if got, want := levelBy(places), levelBy(nil); got != want {
		t.Errorf("without counts of text: %q, want %q", got, want)
	}
	counted := match.CountTerms(s, slices.Values(records))
	packed, err := counted.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var read match.TermFrequencies
	if err := read.UnmarshalBinary(packed); err != nil {
		t.Fatal(err)
	}
	if got, want := levelBy(&read), levelBy(counted); got != want || got == levelBy(nil) {
		t.Errorf("read again: %q, want %q, and another one than without counts: %q", got, want, levelBy(nil))
	}
}

// A title may have a word of a label of the other record, such as the style of a beer, and is no other title for it.
func TestText_ATitleHasAWordOfALabel(t *testing.T) {
	t.Parallel()
	m := match.New(kindOf(t, beers), nil)
	level := func(style string) string {
		a := m.Normalise("s", "a", match.Attributes{"name": {"Hazelnut Porter"}, "brewery": {"North Coast"}})
		b := m.Normalise("s", "b", match.Attributes{"name": {"Hazelnut"}, "brewery": {"North Coast"}, "style": {style}})
		l, _ := line(m.Explain(a, b, m.Compare(a, b)), "title residual")
		return l.Level
	}
	if with, without := level("American Porter"), level("Pale Ale"); with == without {
		t.Errorf("the words that are kept are %q with and without the label", with)
	}
}
