// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

// One list has Volta Corra EX 4dr as the name of a car, another has its make, model and trim in columns. A file without
// a name composes it of the columns that the names of another file contain.

const (
	// composedRows is how many rows are examined.
	composedRows = 1000
	// wholePercent of the rows have a value of the first column of a composition in some name. partPercent of those
	// that have all other columns in one name have a further column there, too; the others are of things that the
	// other file does not have.
	wholePercent = 50
	partPercent  = 30
)

// Composition is an attribute that is composed of the columns of a file, with each value once.
type Composition struct {
	Assignment
	term term
}

func newComposition(attribute string, columns []*column, numbered *column) Composition {
	t := term{once: true}
	for i, of := range columns {
		before := ""
		if i > 0 {
			before = " "
		}
		if of == numbered {
			before += "#"
		}
		t.columns, t.before = append(t.columns, of.name), append(t.before, before)
		t.text += before + "{" + of.name + "}"
	}
	return Composition{Assignment{Attribute: attribute, Expression: t.text}, t}
}

// numbered returns the only one of some columns that has numbers, if most names of other files have a number sign: X #7.
func numbered(columns []*column, names *column) (of *column) {
	if !names.has(wholePercent, func(v string) bool { return numberSign.MatchString(v) }) {
		return nil
	}
	for _, c := range columns {
		if c.has(percentNumbers, func(v string) bool { return bareNumber.MatchString(v) }) {
			if of != nil {
				return nil
			}
			of = c
		}
	}
	return of
}

const percentNumbers = 90

var (
	numberSign = regexp.MustCompile(`#\d`)
	bareNumber = regexp.MustCompile(`^\s*#?\d{1,6}\s*$`)
)

// among reports whether a file with these columns has the composition.
func (c Composition) among(columns []string) bool {
	return !slices.ContainsFunc(c.term.columns, func(name string) bool { return !slices.Contains(columns, name) })
}

// nameTexts are names of other files, to look for values in them.
type nameTexts struct {
	words [][]string
	with  map[string][]int // indices of the names with a word
	found map[string]places
}

// places are the names that contain a value, a bit each, and the sum of the positions of the value in them.
type places struct {
	in        []uint64
	names, at int
}

func newNameTexts(columns []*column) *nameTexts {
	all := map[string]bool{}
	for _, c := range columns {
		maps.Copy(all, c.folded())
	}
	t := &nameTexts{with: map[string][]int{}, found: map[string]places{}}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		words := strings.Fields(name)
		for i, w := range words {
			if !slices.Contains(words[:i], w) {
				t.with[w] = append(t.with[w], len(t.words))
			}
		}
		t.words = append(t.words, words)
	}
	return t
}

// of returns where a value is, without what stands in brackets behind it if the names do not have that. A value without
// letters and digits is no value.
func (t *nameTexts) of(value string) places {
	p := t.places(foldValue(value))
	if short, _, bracket := strings.Cut(value, " ("); bracket && p.names == 0 {
		return t.places(foldValue(short))
	}
	return p
}

func (t *nameTexts) places(value string) places {
	p, known := t.found[value]
	if known || value == "" {
		return p
	}
	p.in = make([]uint64, (len(t.words)+63)/64)
	words := strings.Fields(value)
	for _, name := range t.with[words[0]] {
		of := t.words[name]
		for at := range len(of) - len(words) + 1 {
			if slices.Equal(of[at:at+len(words)], words) {
				p.in[name/64] |= 1 << (name % 64)
				p.names, p.at = p.names+1, p.at+at
				break
			}
		}
	}
	t.found[value] = p
	return p
}

// compose returns the columns that the names in other columns contain together in the rows of a file, in the order of the
// names. There are none if there are fewer than two.
func (s *Suggester) compose(file int, guesses []guess, names []*column) []*column {
	t := newNameTexts(names)
	rows := s.rowsOf(file)
	var free, taken []*column
	var first *column
	for i, c := range s.columns {
		if !c.files[file] || !composable(guesses[i]) || strings.ContainsAny(c.name, "{}") {
			continue
		}
		free = append(free, c)
		if c.letters() && t.share(c, rows, nil) >= wholePercent && (first == nil || len(c.folded()) > len(first.folded())) {
			first = c
		}
	}
	within := make([][]uint64, len(rows)) // the names that contain all columns that are taken
	for next := first; next != nil; {
		taken = append(taken, next)
		free = slices.DeleteFunc(free, func(c *column) bool { return c == next })
		for i, row := range rows {
			if p := t.of(row[next.name]); p.in != nil {
				within[i] = common(within[i], p.in)
			}
		}
		next = nil
		most := partPercent - 1
		for _, c := range free {
			if share := t.share(c, rows, within); share > most {
				next, most = c, share
			}
		}
	}
	if different := composedOf(taken, rows); len(taken) < 2 || float64(different) <= groupShare*float64(len(rows)) {
		return nil // what many rows share names nothing
	}
	slices.SortStableFunc(taken, func(a, b *column) int { return cmp.Compare(t.position(a, rows), t.position(b, rows)) })
	return taken
}

// composedOf returns how many different values columns have together.
func composedOf(columns []*column, rows []map[string]string) int {
	different := map[string]bool{}
	for _, row := range rows {
		var words []string
		for _, c := range columns {
			words = append(words, row[c.name])
		}
		different[foldValue(strings.Join(words, " "))] = true
	}
	return len(different)
}

// composable reports whether a column may be part of a name: words, or numbers that the thing has.
func composable(g guess) bool {
	switch g.Type {
	case match.TypeText:
		return g.Role == match.RoleNone || g.Role == match.RoleNote && g.why == numbersDiffer
	case match.TypePeople, match.TypeCategory, match.TypeID:
		return true
	}
	return false
}

// rowsOf returns the first rows of a file, by column.
func (s *Suggester) rowsOf(file int) (rows []map[string]string) {
	for i, fields := range s.rows {
		if s.files[i] != file || len(rows) == composedRows {
			continue
		}
		row := map[string]string{}
		for _, f := range fields {
			if len(f.Values) == 1 {
				row[f.Name] = f.Values[0]
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// share returns the percentage of the rows with a value in the column that have it in a name, one of those in within if
// that is not nil.
func (t *nameTexts) share(c *column, rows []map[string]string, within [][]uint64) int {
	n, all := 0, 0
	for i, row := range rows {
		in := t.of(row[c.name]).in
		if in == nil || within != nil && !some(within[i]) {
			continue
		}
		all++
		if within != nil {
			in = common(within[i], in)
		}
		if some(in) {
			n++
		}
	}
	if n < leastGrouped {
		return 0
	}
	return 100 * n / all
}

// position is the mean position of the values of a column in the names.
func (t *nameTexts) position(c *column, rows []map[string]string) float64 {
	names, at := 0, 0
	for _, row := range rows {
		p := t.of(row[c.name])
		names, at = names+p.names, at+p.at
	}
	return float64(at) / float64(max(names, 1))
}

// common returns the bits of both sets. A nil set has all bits.
func common(a, b []uint64) []uint64 {
	if a == nil {
		return b
	}
	both := make([]uint64, len(a))
	for i := range min(len(a), len(b)) {
		both[i] = a[i] & b[i]
	}
	return both
}

func some(set []uint64) bool {
	return set == nil || slices.ContainsFunc(set, func(w uint64) bool { return w != 0 })
}
