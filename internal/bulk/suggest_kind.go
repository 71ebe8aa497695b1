// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"maps"
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

// key returns the column that is most certainly the key of a file, nil if none is.
func (s *Suggester) key(file int) (best *column) {
	surest := 0
	for _, c := range s.columns {
		if !c.files[file] {
			continue
		}
		rank := keyRank(c.plain)
		if rank == 0 && strings.HasSuffix(c.plain, "_id") {
			rank = len(keyNames) + 1
		}
		if rank > 0 && c.unique() && (best == nil || rank < surest) {
			best, surest = c, rank
		}
	}
	return best
}

// titles returns the column of words that names the things best, and for each file that lacks it the best of that file,
// unless its names are composed of columns.
func (s *Suggester) titles(guesses []guess) (titles []int) {
	best := s.title(guesses, nil, func(*column) bool { return true })
	if best < 0 {
		return nil
	}
	titles = []int{best}
	names := []*column{s.columns[best]}
	var lacking []int // files
	s.composed = nil
	for file := range s.file + 1 {
		if s.columns[best].files[file] {
			continue
		}
		if i := s.titleOf(file, guesses, best); i >= 0 && s.columns[i].shares(s.columns[best]) {
			titles, names = append(titles, i), append(names, s.columns[i])
		} else {
			lacking = append(lacking, file)
		}
	}
	for _, file := range lacking {
		i := s.titleOf(file, guesses, best)
		if i < 0 || !s.columns[i].named(titleNames) {
			if columns := s.compose(file, guesses, names); columns != nil {
				s.composed = append(s.composed, columns)
				continue
			}
		}
		if i >= 0 {
			titles = append(titles, i)
		}
	}
	slices.Sort(titles)
	return s.partnerTitles(guesses, slices.Compact(titles))
}

// titleOf returns the column of a file that names its things best, and is in no file with the best column of all.
func (s *Suggester) titleOf(file int, guesses []guess, best int) int {
	return s.title(guesses, s.columns[best], func(c *column) bool { return c.files[file] && apart(c.files, s.columns[best].files) })
}

// longName is the mean length of names above which a column has texts.
const longName = 60

// title returns the best of some columns as the name of the things, -1 if there is none: one with the values of the
// names of another file, if that is known, or one that is called and looks like a name. People are the things of a list
// that names nothing else, such as one of artists with their genres.
func (s *Suggester) title(guesses []guess, other *column, some func(*column) bool) int {
	words := func(g guess) bool { return g.Type == match.TypeText && g.Role == match.RoleNone }
	best := s.best(guesses, other, func(c *column, g guess) bool { return words(g) && some(c) })
	if best >= 0 {
		if c := s.columns[best]; c.named(titleNames) || c.shares(other) || other == nil && c.unlike() >= 0.5 {
			return best
		}
	}
	people := s.best(guesses, other, func(c *column, g guess) bool {
		return g.Type == match.TypePeople && some(c) && (c.shares(other) || c.unlike() >= 0.5) && !c.lists()
	})
	if people >= 0 {
		return people
	}
	return best
}

// best returns the one of some columns that is most likely a name, -1 if there is none.
func (s *Suggester) best(guesses []guess, other *column, some func(*column, guess) bool) int {
	best, most := -1, 0
	for i, c := range s.columns {
		if !c.letters() || !some(c, guesses[i]) {
			continue
		}
		score := 1
		if c.shares(other) {
			score += 10
		}
		if c.named(titleNames) {
			score += 4
		}
		if nameNames[joined(c.plain)] {
			score++
		}
		if c.unlike() >= 0.5 {
			score += 2
		}
		if c.length/c.values <= 100 && c.words() {
			score++
		}
		if score > most {
			best, most = i, score
		}
	}
	return best
}

// naming returns the column of a file that certainly names its things: one with names of another file, or names of the
// same words, one with names of people, or one that is called like a name or like those who have one.
func (s *Suggester) naming(file int, guesses []guess) string {
	for i, c := range s.columns {
		if guesses[i].Type != match.TypeName || !c.files[file] {
			continue
		}
		for j, other := range s.columns {
			if guesses[j].Type == match.TypeName && apart(c.files, other.files) && (c.shares(other) || c.sharesWords(other)) {
				return c.name
			}
		}
		last := c.plain[strings.LastIndexByte(c.plain, '_')+1:]
		if titleNames[last] || companyPrefixes[last] || match.NamesPeople(c.sample) {
			return c.name
		}
	}
	return ""
}

// style returns how the names in a column are compared: for things at a location like those of the known kind that
// explains most columns, otherwise like those of the first kind that has such names, or as titles.
func (s *Suggester) style(c *column) match.Style {
	if c.named(workNames) {
		return match.StyleTitle
	}
	if k, explained := s.known(); k != nil && (c.isName(k) || !c.named(titleNames) && !slices.ContainsFunc(s.columns, func(c *column) bool { return c.isName(k) })) {
		for _, a := range explained {
			if a.Type == match.TypeAddress || a.Type == match.TypePhone || a.Role == match.RoleLocality || a.Role == match.RolePostcode || a.Role == match.RoleLatitude {
				return k.Style()
			}
		}
	}
	if !titleNames[joined(c.plain)] {
		for _, k := range s.Kinds {
			if c.isName(k) {
				return k.Style()
			}
		}
	}
	return match.StyleTitle
}

// isName reports whether a column is named like the name of the things of a kind.
func (c *column) isName(k *match.Schema) bool {
	return slices.ContainsFunc(k.Attributes, func(a match.Attribute) bool {
		return a.Type == match.TypeName && a.Role == match.RoleNone && c.means(k, &a)
	})
}

// known returns the kind that explains most columns, and these columns with their attributes. It returns nil if no kind
// explains any.
func (s *Suggester) known() (kind *match.Schema, explained map[*column]match.Attribute) {
	for _, k := range s.Kinds {
		if columns := s.explained(k); len(columns) > len(explained) {
			kind, explained = k, columns
		}
	}
	return kind, explained
}

// explained returns the columns that a kind has attributes for. An attribute of one value explains one column of a
// file. Part of a name is not what many rows share, such as the families of plants.
func (s *Suggester) explained(k *match.Schema) map[*column]match.Attribute {
	columns, taken := map[*column]match.Attribute{}, map[string][]*column{}
	for _, c := range s.columns {
		beside := func(of *column) bool { return !apart(of.files, c.files) }
		for _, a := range k.Attributes {
			part := a.Type == match.TypeName && a.Role != match.RoleNone
			if (a.Many || !slices.ContainsFunc(taken[a.Name], beside)) && c.means(k, &a) && !(part && c.groups()) {
				columns[c], taken[a.Name] = a, append(taken[a.Name], c)
				break
			}
		}
	}
	return columns
}

// compare sets which columns the known kind explains and which it loses. Groups, countries and free texts distinguish
// little and do not count; a draft has no parts of names. A column with a name for a work that the kind does not
// explain counts more than a column that it explains. For titles, a size or a shade counts, too. If no kind explains
// any column, one of the columns of a draft must consist of words, and unless it is the only one besides a key, not of
// long texts.
func (s *Suggester) compare(d *Draft, guesses []guess) {
	k, explained := s.known()
	if k != nil {
		d.Known, d.Explained = k.Kind, len(explained)
	}
	telling, named, parts, words := 0, false, false, false
	nameless := k != nil && s.nameless(k, explained, guesses)
	counted := map[string]bool{"": true}
	for i, c := range s.columns {
		g := guesses[i]
		a, known := explained[c]
		again := counted[d.Columns[i].Attribute]
		counted[d.Columns[i].Attribute] = true
		switch {
		case again:
		case known && (a.Type != match.TypeText || a.Role != match.RoleNone) && !a.Tag && a.Role != match.RoleCountry:
			telling++
		case k != nil && !known && g.Type == match.TypeName && (nameless || c.named(titleNames)):
			d.Lost = append([]string{c.name}, d.Lost...)
		case !known && g.Type != "" && g.Type != match.TypeName && (g.Type != match.TypeText || g.Role == match.RoleVariant):
			d.Lost = append(d.Lost, c.name)
		case k != nil && k.Style() == match.StyleTitle && !known && g.Type == match.TypeText && g.Role == match.RoleNone && c.named(variantNames):
			d.Lost = append(d.Lost, c.name) // a size or a shade, which the draft compares as text
		}
		parts = parts || known && a.Role != match.RoleNone && a.Type == match.TypeName
		short := c.length <= longName*c.values && len(s.columns) > 1 || d.Explained == 0 && len(s.columns) == 2
		words = words || g.Type == match.TypeName && c.words() && c.unlike() > 0.1 && short
		named = named || g.Type == match.TypeName && (known || c.named(titleNames))
	}
	if k != nil && k.Style() == match.StyleTitle {
		telling = 0 // the draft compares the same columns and more
	}
	d.Better = named && !parts && !isDirectory(k, explained) && len(d.Lost) >= max(1, telling) || (d.Explained == 0 || nameless) && words
}

// isDirectory reports whether a kind explains names with whole addresses: the many dates and codes of a register do not
// make its entries something else.
func isDirectory(k *match.Schema, explained map[*column]match.Attribute) bool {
	name, street, place := false, false, false
	for _, a := range explained {
		name = name || a.Type == match.TypeName
		street = street || a.Type == match.TypeAddress
		place = place || a.Role == match.RoleLocality || a.Role == match.RolePostcode
	}
	return k != nil && k.Style() != match.StyleTitle && name && street && place
}

// nameless reports whether a file that the known kind explains has no name of the kind: all such files, or one if it is
// a kind of titles.
func (s *Suggester) nameless(k *match.Schema, explained map[*column]match.Attribute, guesses []guess) bool {
	named := map[int]bool{} // files
	for c, a := range explained {
		if a.Type == match.TypeName {
			maps.Copy(named, c.files)
		}
	}
	if len(named) == 0 || k.Style() != match.StyleTitle {
		return len(named) == 0
	}
	for i, c := range s.columns {
		for file := range c.files {
			if guesses[i].Type == match.TypeName && !named[file] {
				return true
			}
		}
	}
	return false
}
