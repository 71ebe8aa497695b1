// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locus-db/locus/match"
)

// sampled is a column of a sample: its name, and the values that the rows have.
type sampled struct {
	name   string
	plain  string   // see describe
	values []string // not empty, nor blank, in the order of the rows
	rows   int      // rows that have the column
	short  int      // rows without a value in this column and in at least half of the others, such as totals
}

// isValue reports whether a field of a sample has a value: blanks, with which some exports fill columns, are none.
func isValue(text string, null []string) bool {
	return strings.TrimSpace(text) != "" && !slices.Contains(null, text)
}

// recognition assigns a meaning to the columns of a file.
type recognition struct {
	o       *Options
	kinds   []*match.Schema
	columns []sampled
	rows    int  // of the sample
	lists   bool // see mapping.lists

	kind    *match.Schema
	mapping *mapping
	reasons map[string]string // why a column was guessed
	misfits map[string]string // why a column was not guessed, although it has the name of an attribute
}

// recognise takes the kind that the options name, or else finds the one that explains most columns. If several explain
// the same number, it takes the first of the likely kinds, or else one of people if the names are those of people, or
// else the first.
func recognise(o *Options, kinds []*match.Schema, columns []sampled, rows int, lists bool) (*recognition, error) {
	var best *recognition
	most := -1
	var failed error
	known := slices.ContainsFunc(kinds, func(k *match.Schema) bool { return k.Kind == o.Kind })
	describe(columns, kinds)
	for _, kind := range kinds {
		if known && kind.Kind != o.Kind {
			continue
		}
		r := &recognition{o: o, kinds: kinds, columns: columns, rows: rows, lists: lists, kind: kind, reasons: map[string]string{}, misfits: map[string]string{}}
		explained, err := r.explain()
		if err != nil {
			failed = cmp.Or(failed, err)
			continue
		}
		if explained > most || explained == most && r.likelier(best) {
			best, most = r, explained
		}
		if r.mapping.mixed || o.Exact {
			break // the rows name their kinds
		}
	}
	if best == nil {
		return nil, failed
	}
	return best, nil
}

// likelier reports whether the kind is likelier than another that explains as many columns.
func (r *recognition) likelier(than *recognition) bool {
	if likely := slices.Contains(r.o.Likely, r.kind.Kind); likely != slices.Contains(r.o.Likely, than.kind.Kind) {
		return likely
	}
	return than.kind.Style() != match.StylePerson && r.people()
}

func (r *recognition) names() []string {
	names := make([]string, len(r.columns))
	for i, c := range r.columns {
		names[i] = c.name
	}
	return names
}

// explain builds the mapping for one kind and returns the number of columns that it explains. A part of a person's name
// and a column of people's names, by its name or by its values, count twice, because a list of people often has company
// names, too, but a list of companies hardly has names of persons.
func (r *recognition) explain() (explained int, err error) {
	names := r.names()
	others := slices.DeleteFunc(slices.Clone(r.kinds), func(k *match.Schema) bool { return k == r.kind })
	if r.mapping, err = newMapping(r.o, r.kind, others, names); err != nil {
		return 0, err
	}
	r.mapping.lists = r.lists
	if !r.o.Exact {
		if !r.o.IgnoreUnknown || len(r.o.Set) == 0 { // otherwise the options have set every column that is wanted
			r.guessAttributes()
			r.guessByValues()
			r.dropHalfPoint()
		}
		r.guessKey()
	}
	for i, name := range names {
		if r.rows > 0 && len(r.columns[i].values) == 0 { // it says nothing about the kind
			continue
		}
		uses, _ := r.mapping.resolve(name)
		if r.isRareName(i, uses) {
			continue
		}
		if len(uses) > 0 {
			explained++
		}
		if slices.ContainsFunc(uses, func(u use) bool {
			return (u.kind == useAttribute || u.kind == usePart) && (r.isPartOfName(u.attribute) || r.isFullName(i, u.attribute))
		}) {
			explained++
		}
	}
	if r.people() && (len(r.o.Likely) == 0 || slices.Contains(r.o.Likely, r.kind.Kind)) {
		explained++
	}
	return explained, nil
}

// guessed is a candidate for an attribute.
type guessed struct {
	column    int
	attribute *match.Attribute
	alias     alias
}

// guessAttributes guesses the attributes of columns whose own name has no meaning: their name contains an alias of an
// attribute, and their values fit its type. If an attribute has a single value, the column with the best name gets it.
func (r *recognition) guessAttributes() {
	r.completeAddress()
	r.completeLetter()
	r.completeDate()
	r.completePoint()
	taken := map[string]bool{}
	for _, s := range r.mapping.set {
		taken[s.attribute] = true
	}
	var all []guessed
	for i, c := range r.columns {
		if uses, _ := r.mapping.resolve(c.name); len(uses) > 0 || slices.Contains(r.o.Ignore, c.name) {
			for _, u := range uses {
				if u.kind == useAttribute {
					taken[u.attribute] = true
				}
			}
			continue
		}
		plain := c.plain
		if _, known := reserved[plain]; known && plain != ColumnKey && plain != ColumnKind {
			continue
		}
		for j := range r.kind.Attributes {
			a := &r.kind.Attributes[j]
			is := aliasAmong(r.kinds, r.kind, a, plain)
			if is != noAlias && plain != plainName(c.name) {
				is = max(is, looserAlias)
			}
			if is == noAlias && r.namesCustomers(a, plain, c.values) {
				is = innerAlias
			}
			switch {
			case is == noAlias, a.Type == match.TypeAddress && c.isHouseNumber() && !hasWords(c.values),
				a.Type == match.TypeCategory && areAll(geometries, c.values):
			case fits(a, c.values):
				all = append(all, guessed{i, a, is})
			case r.misfits[c.name] == "":
				if undatedOf(a, c.values) == len(c.values) {
					r.misfits[c.name] = fmt.Sprintf("column %.60q has a name of %s and no date with a year, such as %.40q", c.name, a.Name, c.values[0])
					continue
				}
				odd := c.values[slices.IndexFunc(c.values, func(v string) bool { return !fitsOne(a, strings.TrimSpace(v)) })]
				r.misfits[c.name] = fmt.Sprintf("column %.60q has a name of %s and other values, such as %.40q", c.name, a.Name, odd)
			}
		}
	}
	sparse := func(g guessed) int { // a column without values is the last to win, one with few before it
		switch n := len(r.columns[g.column].values); {
		case n == 0:
			return 2
		case 2*n < r.rows:
			return 1
		}
		return 0
	}
	of, has := r.addresses(all)
	slices.SortStableFunc(all, func(a, b guessed) int {
		return cmp.Or(cmp.Compare(r.codes(a), r.codes(b)), cmp.Compare(a.alias, b.alias), cmp.Compare(sparse(a), sparse(b)),
			cmp.Compare(r.lacks(a.column), r.lacks(b.column)), cmp.Compare(forMail(of[a.column]), forMail(of[b.column])),
			cmp.Compare(sizeOf(has[of[b.column]], has[""]), sizeOf(has[of[a.column]], has[""])))
	})
	all = r.oneAddress(all, of, has)
	for _, g := range all {
		name := r.columns[g.column].name
		if uses, _ := r.mapping.resolve(name); len(uses) > 0 || r.isPartOfTown(g, all) {
			continue
		}
		if taken[g.attribute.Name] && !g.attribute.Many {
			r.misfits[name] = cmp.Or(r.misfits[name], fmt.Sprintf("column %.60q is a second one for %s", name, g.attribute.Name))
			continue
		}
		if g.attribute.Many && taken[g.attribute.Name] && r.mapping.isSet(g.attribute.Name) {
			continue
		}
		if r.isOwner(g, all) {
			r.misfits[name] = fmt.Sprintf("column %.60q has one value in all rows, beside another column with %s", name, g.attribute.Name)
			continue
		}
		if g.attribute.Type == match.TypeAddress && r.composeAddress(g) || isNamePart(g.attribute) && r.composeName(g) {
			taken[g.attribute.Name] = true
			continue
		}
		taken[g.attribute.Name] = true
		r.mapping.guess[name] = g.attribute.Name
		r.reasons[name] = map[alias]string{
			otherCase: "its name", namedAlias: "another name of it", looserAlias: "much like a name of it", innerAlias: "has a name of it",
		}[g.alias]
		if n := undatedOf(g.attribute, r.columns[g.column].values); n > 0 {
			r.reasons[name] += fmt.Sprintf("; %d of %d are not compared: no year", n, len(r.columns[g.column].values))
		}
	}
}

// SourceOf derives a source from the name of a file, "" if that is not possible.
func SourceOf(name string) string {
	if Beside(name) != name {
		return ""
	}
	name = filepath.Base(name)
	for _, ending := range []string{".gz", ".zst", ".zip", ".rejected.jsonl", ".csv", ".tsv", ".psv", ".tab", ".txt", ".jsonl", ".ndjson", ".geojson", ".json", ".parquet", ".xlsx", ".xlsm"} {
		if cut, found := strings.CutSuffix(strings.ToLower(name), ending); found {
			name = cut
		}
	}
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', (r == '_' || r == '.' || r == '-') && b.Len() > 0:
			b.WriteRune(r)
		case b.Len() > 0 && r < utf8.RuneSelf:
			b.WriteByte('_')
		}
	}
	source := b.String()
	return strings.TrimRight(source[:min(len(source), 64)], "_.-")
}

// isDated reports whether a source has four digits or more in a row: the next file of that source will have others.
func isDated(source string) bool {
	run := 0
	for _, r := range source {
		if run++; r < '0' || r > '9' {
			run = 0
		}
		if run == 4 {
			return true
		}
	}
	return false
}

// missing returns the columns that options name and the file lacks. A file whose rows are not stored may lack all
// columns of an assignment, which is then left out of the mapping.
func (r *recognition) missing() (names []string) {
	wanted := append(r.mapping.named(), r.o.Ignore...)
	for _, a := range r.o.Set {
		if terms, err := parseExpression(a.Expression, r.names()); err == nil && r.o.Unstored {
			for _, t := range terms {
				wanted = append(wanted, t.columns...)
			}
		}
	}
	for _, name := range wanted {
		if !slices.Contains(r.names(), name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// NoColumn returns why a file cannot be read without a column that an option names.
func NoColumn(name string, columns []string) string {
	reason := fmt.Sprintf("there is no column %.60q", name)
	if near := Nearest(name, columns); near != "" {
		reason += fmt.Sprintf("; did you mean %.60q?", near)
	}
	return reason
}
