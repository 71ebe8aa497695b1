// SPDX-License-Identifier: Apache-2.0

package match_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/locus-db/locus/match"
)

// Titles end with the values of another column of the record, spelled in any way, and other titles do not.
func TestTitles_EndWithVariants(t *testing.T) {
	t.Parallel()
	s := kindOf(t, "kind: game\nversion: 1\nattributes:\n  title: { type: name, style: title }\n  platform: { type: text, role: variant }\n")
	platforms := []string{"PlayStation 2", "Xbox One", "Wii", "GameCube", "PC", "Switch"}
	var all []match.Attributes
	for n := range 120 {
		for _, of := range []int{0, 0, 0, 1, 1} {
			all = append(all, match.Attributes{"title": {fmt.Sprintf("Alba %c%c%c Quest", 'a'+n%26, 'b'+n/26, 'c'+n%7)}, "platform": {platforms[(n+of*(1+n/6%5))%6]}})
		}
	}
	m := match.New(s, match.CountTerms(s, slices.Values(all)))
	for _, c := range []struct {
		a, of, b, also string
		same           bool
	}{
		{"Harbour Quill Quest", "PlayStation 2", "Harbour Quill Quest (PS2)", "PlayStation 2", true},
		{"Harbour Quill Quest", "PS2", "Harbour Quill Quest - PlayStation 2", "PS2", true},
		{"Harbour Quill Quest", "XOne", "Harbour Quill Quest [Xbox One]", "Xbox One", true},
		{"Harbour Quill Quest", "Wii", "Harbour Quill Quest, Wii", "Wii", true},
		{"Harbour Quill Quest", "PlayStation 2", "Harbour Quill Quest (PS2)", "", true},
		{"Harbour Quill Quest", "PlayStation 2", "Harbour Quill Quest (2)", "PS2", false},
		{"Harbour Quill Quest", "PlayStation 2", "Harbour Quill Quest, Vol. 2", "PS2", false},
		{"Harbour Quill Quest", "Wii", "Harbour Quill Quest (Wii)", "PC", false},
		{"Harbour Quill Quest", "PC", "Harbour Quill Quest - Uncut", "Wii", false},
	} {
		x := m.Normalise("a", "1", match.Attributes{"title": {c.a}, "platform": {c.of}})
		y := m.Normalise("b", "2", match.Attributes{"title": {c.b}, "platform": {c.also}})
		e := m.Explain(x, y, m.Compare(x, y))
		if (e.Outcome == match.Same) != c.same {
			t.Errorf("%s of %s, and %s of %s: %s at %s %+v", c.a, c.of, c.b, c.also, e.Outcome, e.Weight, e.Lines)
		}
	}
}

// Two different volumes or issues are two things, whatever other numbers the titles share.
func TestTitles_NumbersThatCountTheSame(t *testing.T) {
	t.Parallel()
	s := kindOf(t, "kind: comic\nversion: 1\nattributes:\n  title: { type: name, style: title }\n  published: { type: date }\n")
	m := match.New(s, nil)
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"Harbour Quill #7 (Vol. 2)", "Harbour Quill #2 (Vol. 2)", false},
		{"Harbour Quill #7 (Vol. 2)", "Harbour Quill #7 (Vol. 1)", false},
		{"Harbour Quill #7 (Vol. 2)", "Harbour Quill #7, Volume II", true},
		{"Harbour Quill #7", "Harbour Quill 7", true},
	} {
		x := m.Normalise("a", "1", match.Attributes{"title": {c.a}, "published": {"1990-05"}})
		y := m.Normalise("b", "2", match.Attributes{"title": {c.b}, "published": {"1990-05"}})
		e := m.Explain(x, y, m.Compare(x, y))
		if (e.Outcome == match.Same) != c.same {
			t.Errorf("%s, %s: %s at %s %+v", c.a, c.b, e.Outcome, e.Weight, e.Lines)
		}
	}
}

// A book has a number of ten digits and one of thirteen. Ten digits of another thing are no book.
func TestWorldIDs_OfBooks(t *testing.T) {
	t.Parallel()
	for attribute, want := range map[string]string{"isbn": "9780306406157", "ean": "9780306406157", "model": "306406152"} {
		s := kindOf(t, "kind: book\nversion: 1\nattributes:\n  title: { type: name, style: title }\n  "+attribute+": { type: id, scope: world }\n")
		m := match.New(s, nil)
		for _, id := range []string{"0-306-40615-2", "0306406152"} {
			if got := m.Normalise("a", "1", match.Attributes{attribute: {id}}).Value(attribute, 0); got != want {
				t.Errorf("%s %s is %s, want %s", attribute, id, got, want)
			}
		}
	}
	s := kindOf(t, "kind: book\nversion: 1\nattributes:\n  title: { type: name, style: title }\n  number: { type: id, scope: world, aliases: [isbn] }\n")
	r := match.New(s, nil).Normalise("a", "1", match.Attributes{"number": {"080442957X", "0306406153"}})
	if r.Value("number", 0) != "9780804429573" || r.Value("number", 1) != "306406153" {
		t.Errorf("%s, %s", r.Value("number", 0), r.Value("number", 1))
	}
}
