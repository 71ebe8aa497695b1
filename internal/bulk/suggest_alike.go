// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/locus-db/locus/match"
)

// Files may call one thing by names that no list knows, such as a platform and a console. Their values show it.

const (
	// leastShared is the number of different values that two columns have to share, and sharedPercent the percentage
	// of those of the column with fewer, from which they mean the same. mostTimes is how many times as many values the
	// other may have: a list of colours is not a list of bands because three bands are called Red, Blue and Black.
	leastShared   = 3
	sharedPercent = 50
	mostTimes     = 10
	// sharedNames is the percentage of shared values from which a column names the things of another file.
	sharedNames = 10
)

// folded returns the different values without case, signs and zeros before numbers.
func (c *column) folded() map[string]bool {
	if c.plainValues == nil {
		c.plainValues = map[string]bool{}
		for v := range c.different {
			c.plainValues[foldValue(v)] = true
		}
		delete(c.plainValues, "")
	}
	return c.plainValues
}

func foldValue(v string) string {
	words := strings.FieldsFunc(strings.ToLower(v), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		words[i] = strings.TrimLeft(w[:len(w)-1], "0") + w[len(w)-1:]
	}
	return strings.Join(words, " ")
}

// shared returns the percentage of the different values of the column with fewer that the other has, too.
func (c *column) shared(other *column) int {
	few, many := c.folded(), other.folded()
	if len(few) > len(many) {
		few, many = many, few
	}
	n := 0
	for v := range few {
		if many[v] {
			n++
		}
	}
	if n < leastShared || n*mostTimes < len(many) {
		return 0
	}
	return 100 * n / len(few)
}

// shares reports whether a column has names of another column.
func (c *column) shares(other *column) bool { return other != nil && c.shared(other) >= sharedNames }

// sharesWords reports whether half of the different values consist of words of another column, two at least.
func (c *column) sharesWords(other *column) bool {
	known := map[string]bool{}
	for v := range other.folded() {
		for w := range strings.FieldsSeq(v) {
			known[w] = true
		}
	}
	n := 0
	for v := range c.folded() {
		words := strings.Fields(v)
		if len(words) > 1 && !slices.ContainsFunc(words, func(w string) bool { return !known[w] }) {
			n++
		}
	}
	return 2*n >= len(c.folded())
}

// partOf reports whether all words of a column's name begin words of another's: number, episode_number; pack,
// package_size.
func partOf(plain, other string) bool {
	for w := range strings.SplitSeq(plain, "_") {
		begins := func(of string) bool { return of == w || len(w) >= 3 && strings.HasPrefix(of, w) }
		if !slices.ContainsFunc(strings.Split(other, "_"), begins) {
			return false
		}
	}
	return true
}

// alike returns how certain it is that two columns mean the same, 0 if it is not. Numbers mean the same by their names
// only, because those of any two columns may be equal.
func (s *Suggester) alike(guesses []guess, i, j int) int {
	a, b := s.columns[i], s.columns[j]
	if _, ok := both(guesses[i].Attribute, guesses[j].Attribute); !ok || !apart(a.files, b.files) {
		return 0
	}
	shared := a.shared(b)
	switch {
	case same(a.plain, b.plain):
		return 300
	case (partOf(a.plain, b.plain) || partOf(b.plain, a.plain)) && shared >= sharedPercent:
		return 200 + shared
	case a.letters() && b.letters() && shared >= sharedPercent:
		return shared
	}
	if guesses[i].Role == match.RoleNote && guesses[j].Role == match.RoleNote {
		return 0 // tracks of songs: numbers that may differ for one thing
	}
	return s.equalOfPartners(a, b)
}

// both returns the attribute of two columns that mean the same, if there is one. A more certain type than that of words
// is that of both.
func both(a, b match.Attribute) (of match.Attribute, ok bool) {
	words := func(a match.Attribute) bool { return a.Type == match.TypeText && a.Role == match.RoleNone }
	known := func(a match.Attribute) bool {
		return a.Type == match.TypePeople || a.Type == match.TypeCategory && !a.Tag
	}
	note := func(a match.Attribute) bool { return a.Type == match.TypeText && a.Role == match.RoleNote }
	number := func(a match.Attribute) bool { return a.Type == match.TypeNumber }
	id := func(a match.Attribute) bool { return a.Type == match.TypeID && a.Scope == match.ScopeWorld }
	switch {
	case a.Type == match.TypeName || b.Type == match.TypeName || a.Type == "" || b.Type == "":
		return a, false
	case a.Type == b.Type && a.Role == b.Role, known(a) && words(b), note(b) && words(a), id(b) && words(a), number(a) && (note(b) || words(b)):
		of = a
	case known(b) && words(a), note(a) && words(b), id(a) && words(b), number(b) && (note(a) || words(a)):
		of = b
	default:
		return a, false
	}
	of.Many = a.Many || b.Many
	return of, true
}

// uniteAlike adds the columns that are alike to the groups of columns that mean the same, the most certain first.
func (s *Suggester) uniteAlike(guesses []guess, first []int) {
	type pair struct{ alike, i, j int }
	var pairs []pair
	files := map[int]map[int]bool{} // of the groups
	for i, c := range s.columns {
		for j := range i {
			if n := s.alike(guesses, i, j); n > 0 {
				pairs = append(pairs, pair{n, i, j})
			}
		}
		of := first[i]
		if files[of] == nil {
			files[of] = map[int]bool{}
		}
		maps.Copy(files[of], c.files)
	}
	slices.SortStableFunc(pairs, func(p, q pair) int { return cmp.Compare(q.alike, p.alike) })
	for _, p := range pairs {
		into, from := min(first[p.i], first[p.j]), max(first[p.i], first[p.j])
		of, ok := both(guesses[into].Attribute, guesses[from].Attribute)
		if into == from || !ok || !apart(files[into], files[from]) {
			continue
		}
		maps.Copy(files[into], files[from])
		for i := range first {
			if first[i] == from {
				first[i] = into
			}
		}
		guesses[into].Attribute = of
	}
	for i := range first {
		if g := &guesses[first[i]]; first[i] != i && g.Type == match.TypeText && g.Role == match.RoleNone {
			g.Tag = s.few(first, first[i])
		}
	}
}

// few reports whether the columns that mean the same have few different values.
func (s *Suggester) few(first []int, of int) bool {
	values, different := 0, map[string]bool{}
	for i, c := range s.columns {
		if first[i] == of {
			values += c.values
			maps.Copy(different, c.folded())
		}
	}
	return values >= leastGrouped && float64(len(different)) <= groupShare*float64(values)
}
