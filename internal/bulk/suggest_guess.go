// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/locus-db/locus/match"
)

// guess is the proposed attribute of a column, with the reason. A column without a type is left out.
type guess struct {
	match.Attribute
	why string
	// a meaning that columns of other files may share: the attribute of a known kind, a role of people, a quantity
	known string
}

// concept returns the name of a set of peopleNames or measureNames; "" for none, and for the last set, which has
// several concepts.
func concept(of string, set int) string {
	if set < 0 || of == "people" && set == len(peopleNames)-1 || of == "measure" && set == len(measureNames)-1 {
		return ""
	}
	return of + " " + strconv.Itoa(set)
}

// guesses returns the proposed attribute of each column. Columns are judged one by one, except for the key and the name
// of the things, of which a file has one each.
func (s *Suggester) guesses() []guess {
	guesses := make([]guess, len(s.columns))
	keys := map[*column]bool{}
	for file := range s.file + 1 {
		keys[s.key(file)] = true
	}
	for i, c := range s.columns {
		if keys[c] {
			guesses[i].why = "the key: different in every row, and no evidence"
			continue
		}
		guesses[i] = s.guess(c)
	}
	for _, i := range s.titles(guesses) {
		style := match.StyleTitle // of what other files have in several columns
		if s.composed == nil {
			style = s.style(s.columns[i])
		}
		guesses[i] = guess{Attribute: match.Attribute{Type: match.TypeName, Style: style}, why: "names the things"}
	}
	brand := func(g guess) bool { return g.Type == match.TypeCategory && !g.Tag }
	for i, g := range guesses {
		if g.Type == match.TypeCategory && g.Tag && slices.ContainsFunc(guesses, brand) { // beside a brand, a group of products
			guesses[i].Type = match.TypeText
		}
	}
	return guesses
}

// typeWords returns the type of an attribute with its role, style or scope.
func typeWords(a match.Attribute) string {
	words := []string{string(a.Type), string(a.Role), string(a.Style), string(a.Scope)}
	if a.Tag {
		words = append(words, "tag")
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// guess returns the proposed attribute of a column, by its name and its values.
func (s *Suggester) guess(c *column) guess {
	is := func(a match.Attribute, why string) guess { return guess{Attribute: a, why: why} }
	note := match.Attribute{Type: match.TypeText, Role: match.RoleNote}
	switch {
	case c.values == 0:
		return is(match.Attribute{}, "empty")
	case c.named(changingNames):
		return is(note, "may differ for one thing")
	case c.named(worldNames) && c.numbers() && !c.years() && !c.groups():
		return is(match.Attribute{Type: match.TypeID, Scope: match.ScopeWorld}, "the name of a number that all sources share")
	case c.group(peopleNames) >= 0 && c.letters(), c.people() && !nameNames[joined(c.plain)]:
		return guess{match.Attribute{Type: match.TypePeople, Many: c.many}, "persons or groups", concept("people", c.group(peopleNames))}
	case c.named(makerNames) && c.letters():
		return is(match.Attribute{Type: match.TypePeople, Many: c.many}, "the maker: another one made another thing")
	}
	for _, k := range s.Kinds {
		for i := range k.Attributes {
			a := k.Attributes[i]
			if a.Type != match.TypeName && (a.Type != match.TypeID || a.Scope == match.ScopeWorld && !c.groups()) && c.means(k, &a) {
				known := a.Name + " of " + k.Kind
				return guess{match.Attribute{Type: a.Type, Role: a.Role, Scope: a.Scope, Many: a.Many, Tag: a.Tag, Dimension: a.Dimension}, "as " + known, known}
			}
		}
	}
	measure := c.group(measureNames)
	if c.durations*durationShare >= c.values {
		return guess{match.Attribute{Type: match.TypeNumber}, "durations", concept("measure", 0)}
	}
	switch {
	case c.years(), c.named(yearNames) && c.digits():
		return is(match.Attribute{Type: match.TypeDate}, "years")
	case c.dates():
		return is(match.Attribute{Type: match.TypeDate}, "dates")
	case c.mostly(formEmail):
		return is(match.Attribute{Type: match.TypeEmail, Many: c.many}, "mailboxes")
	case c.mostly(formPhone) && c.called():
		return is(match.Attribute{Type: match.TypePhone, Many: c.many}, "phone numbers")
	case c.mostly(formURL) && c.unlike() < 0.5:
		return is(note, "addresses that several rows share")
	case c.mostly(formURL):
		return is(match.Attribute{Type: match.TypeURL, Many: c.many}, "web addresses")
	case c.mostly(formNumber) && measure >= 0:
		return guess{match.Attribute{Type: match.TypeNumber}, "a quantity of the thing", concept("measure", measure)}
	case c.amounts():
		return guess{match.Attribute{Type: match.TypeNumber}, "numbers with one unit", concept("measure", measure)}
	case measure >= 0 && c.named(variantNames) && c.mostly(formWords):
		return is(match.Attribute{Type: match.TypeText}, "sizes, as they stand in titles")
	case measure >= 0 && c.digits():
		return is(note, "a quantity in several forms")
	case c.mostly(formNumber, formPhone):
		return is(note, numbersDiffer)
	case c.groups():
		return is(match.Attribute{Type: match.TypeText, Tag: true, Many: c.many}, "few different values: a group")
	}
	return is(match.Attribute{Type: match.TypeText, Many: c.many}, "words")
}

// durationShare is the share of the values, as one in so many, that shows that a column has durations if they are written
// with colons or units. The others may be in seconds or minutes.
const durationShare = 5

const numbersDiffer = "numbers that may differ for one thing: type number compares them"

// A column of at least leastGrouped values, of which at most groupShare are different, divides the things into groups.
const (
	leastGrouped = 20
	groupShare   = 0.1
)

// brandWeights returns the weights of brands in the known kind of titles where a column is the brand: there
// different brands mean different things.
func (s *Suggester) brandWeights(c *column) map[string]map[string]match.Weight {
	const line = "category"
	for _, k := range s.Kinds {
		isBrand := func(a match.Attribute) bool { return a.Type == match.TypeCategory && c.means(k, &a) }
		if k.Style() == match.StyleTitle && k.Weights[line] != nil && slices.ContainsFunc(k.Attributes, isBrand) {
			return map[string]map[string]match.Weight{line: k.Weights[line]}
		}
	}
	return nil
}

// attribute returns a name for the attribute of a column that the kind does not have yet.
func (s *Suggester) attribute(kind *match.Schema, c *column) string {
	name := aliasName(c.plain)
	if name == "" || name[0] < 'a' {
		name = strings.TrimRight("column_"+name, "_")
	}
	if _, known := reserved[name]; known {
		name += "_value"
	}
	free := name[:min(len(name), 60)]
	for n := 2; ; n++ {
		if _, taken := kind.Attribute(free); !taken {
			return free
		}
		free = fmt.Sprintf("%s_%d", name[:min(len(name), 60)], n)
	}
}

// aliasName returns a plain name of Latin letters, digits and "_".
func aliasName(plain string) string {
	name := strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '_'
		}
		return r
	}, plain)
	return strings.Trim(name[:min(len(name), 64)], "_")
}
