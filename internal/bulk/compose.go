// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"regexp"
	"slices"
	"strings"

	"github.com/locus-db/locus/match"
)

// middleNames are names of columns with the middle names, without "_".
var middleNames = nameSet(`middle mid middlename middlenames middleinitial midinitial mi mname midname zweitervorname zweitname weiterevornamen deuxiemeprenom autresprenoms
	segundonombre secondonome tweedevoornaam drugieimie отчество otchestvo побатькові`)

// generations are names, without "_", of columns for what follows a family name, such as Jr.
var generations = nameSet(`suffix namesuffix generation generationalsuffix suffixname nameextension`)

// nameParts are the attributes that compose a person's name, and the names of columns that continue each.
var nameParts = map[match.Role]map[string]bool{match.RoleGiven: middleNames, match.RoleFamily: generations}

// composeName composes the given names, or the family names, of columns with one part each: first and middle name, or
// numbered parts such as lname_c1 and lname_c2. Parts with the same number keep the order of the columns.
func (r *recognition) composeName(g guessed) bool {
	parts, more := []int{g.column}, nameParts[g.attribute.Role]
	own, counted := numberless(r.columns[g.column].plain)
	for i, c := range r.columns {
		plain := c.plain
		other, numbered := numberless(plain)
		first, rest, _ := strings.Cut(plain, "_")
		follows := more[joined(plain)] || prefixes[first] && more[joined(rest)] || numbered && (counted || i > g.column) && other == own
		if i != g.column && follows && (fits(g.attribute, c.values) || generations[joined(plain)]) {
			parts = append(parts, i)
		}
	}
	return len(parts) > 1 && r.compose(g.attribute, map[match.Role]string{match.RoleGiven: "given names", match.RoleFamily: "family names"}[g.attribute.Role], parts...)
}

// partNumber is the number of a part in a column name: first_name_2, fname_c1.
var partNumber = regexp.MustCompile(`_?(?:c|component|part)?_?[1-4]$`)

// numberless returns the plain name of a part of a name without its number.
func numberless(plain string) (stem string, numbered bool) {
	stem = partNumber.ReplaceAllString(plain, "")
	return stem, stem != plain && stem != ""
}

// compose joins the values of several columns, with a space between them, into an attribute, unless one of the columns
// has another meaning.
func (r *recognition) compose(a *match.Attribute, why string, columns ...int) bool {
	return r.composeWith(a, " ", why, columns...)
}

func (r *recognition) composeWith(a *match.Attribute, between, why string, columns ...int) bool {
	parts := make([]joint, len(columns))
	for i, column := range columns {
		parts[i] = joint{column, between}
	}
	return r.composeParts(a, why, parts)
}

// joint is a column of a composition, with the text before it.
type joint struct {
	column int
	before string
}

func (r *recognition) composeParts(a *match.Attribute, why string, parts []joint) bool {
	var expression strings.Builder
	for i, part := range parts {
		name := r.columns[part.column].name
		if uses, _ := r.mapping.resolve(name); len(uses) > 0 && name != a.Name || strings.ContainsAny(name, "{}") || slices.Contains(r.o.Ignore, name) {
			return false
		}
		if i > 0 {
			expression.WriteString(part.before)
		}
		expression.WriteString("{" + name + "}")
	}
	if r.mapping.assign(Assignment{a.Name, expression.String()}, nil) != nil {
		return false
	}
	for _, part := range parts {
		r.reasons[r.columns[part.column].name] = why
	}
	return true
}
