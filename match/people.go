// SPDX-License-Identifier: Apache-2.0

package match

import (
	"html"
	"regexp"
	"slices"
	"strings"
)

// Limits of a list of people: how many are compared, and how many become blocking keys.
const (
	maxPeople = 24
	keyPeople = 2
)

// people are the persons and groups that a record names, such as authors or a cast, in its order.
type people []credit

// credit is a person or a group: the words of the family name, or of the whole name of a group, and the first given
// name or initial.
type credit struct{ family, given string }

// listGoesOn is the end of a list that is not complete.
var listGoesOn = regexp.MustCompile(`(?i)[\s,;&]*\b(et|and) (al|alii|others)\b\.?\s*$`)

// parsePeople parses the values of an attribute of TypePeople: a person each, or a list in one value, separated by
// semicolons, bars, "and" or commas, with the family name first or last.
func parsePeople(list people, values []string) people {
	for _, raw := range values {
		if strings.Contains(raw, "&") {
			raw = html.UnescapeString(raw) // a semicolon ends an entity, too
		}
		for _, name := range splitPeople(raw) {
			if c := parseCredit(name); c.family != "" && len(list) < maxPeople && !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	return list
}

// splitPeople splits a list into names.
func splitPeople(raw string) []string {
	raw = listGoesOn.ReplaceAllString(raw, "")
	if first, rest, more := strings.Cut(raw, " "); more && strings.EqualFold(first, "by") {
		raw = rest
	}
	if strings.ContainsAny(raw, ";|\n") {
		return strings.FieldsFunc(raw, func(r rune) bool { return strings.ContainsRune(";|\n", r) })
	}
	parts := []string{""}
	for w := range strings.FieldsSeq(raw) {
		if last := &parts[len(parts)-1]; !joins(w) {
			*last = strings.TrimSpace(*last + " " + w)
		} else if *last != "" {
			parts = append(parts, "")
		}
	}
	if familyFirst(parts) {
		return parts
	}
	var names []string
	for _, part := range parts {
		pieces := strings.Split(strings.Trim(part, ", "), ",")
		if len(pieces)%2 == 0 && (len(pieces) == 2 && len(parts) == 1 && oneWord(pieces[0]) || everySecond(pieces, isInitials)) {
			for i := 0; i < len(pieces); i += 2 {
				names = append(names, pieces[i]+","+pieces[i+1])
			}
			continue
		}
		names = append(names, pieces...)
	}
	return names
}

// joins reports whether a word is a separator between two names. A single letter in upper case or with a dot is an
// initial.
func joins(w string) bool {
	if word := strings.ToLower(strings.Trim(w, ".()")); len(word) > 1 {
		w = word
	}
	return w == "/" || w == "&" || peopleJoin[w]
}

var peopleJoin = wordSet(`and und et y feat featuring ft with vs`)

// familyFirst reports whether each of several names has one comma: "Smith, John and Jones, Mary".
func familyFirst(names []string) bool {
	return len(names) > 1 && !slices.ContainsFunc(names, func(s string) bool { return strings.Count(strings.Trim(s, ", "), ",") != 1 })
}

func oneWord(s string) bool {
	words := strings.Fields(s)
	return len(words) == 1 || len(words) > 1 && particles[strings.ToLower(words[0])]
}

func everySecond(pieces []string, is func(string) bool) bool {
	for i := 1; i < len(pieces); i += 2 {
		if !is(pieces[i]) {
			return false
		}
	}
	return true
}

// isInitials reports whether a text is the initials of given names: "J.", "J. R. R.", "JR".
func isInitials(s string) bool {
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" .-", r) })
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return len(w) > 2 || w != strings.ToUpper(w) })
}

// parseCredit parses one name. It drops a trailing number, which some catalogues use to distinguish namesakes, the
// article of a group, and the word for the trade of a maker, which others leave out.
func parseCredit(name string) credit {
	if first, rest, _ := strings.Cut(strings.TrimSpace(name), " "); strings.EqualFold(first, "the") {
		name = rest
	}
	if name = cutMaker(name); name == "" {
		return credit{}
	}
	folded := fold(strings.TrimRight(name, " 0123456789"))
	if isNothing(folded) {
		return credit{}
	}
	var p person
	given, family := splitWhole(name, func(text string) []string {
		return p.words(strings.TrimRight(text, " 0123456789"))
	})
	if n := len(given); n > 0 && len(family) == 1 && len(family[0]) <= 2 && len(given[n-1]) > 2 && isInitials(name[strings.LastIndexByte(name, ' ')+1:]) {
		given, family = family, given // "Smith J"
	}
	for n := len(given); n > 1 && particles[given[n-1]]; n-- { // "Bussche, Jan van den"
		given, family = given[:n-1], slices.Concat(given[n-1:n], family)
	}
	c := credit{family: strings.Join(family, "")}
	if len(given) > 0 {
		c.given = given[0]
	}
	return c
}

// cutMaker returns a name without its legal form and without words for a maker's trade at the beginning and the end:
// Stone for Stone Brewing Co. It returns "" for a legal form that stood alone behind a comma.
func cutMaker(name string) string {
	name = strings.TrimSpace(name)
	for whole := len(name); name != ""; {
		i := strings.LastIndexByte(name, ' ')
		last := name[i+1:]
		if !foldedIn(makerForms, last) && (i < 0 || !foldedIn(makerWords, last) && (len(name) == whole || !foldedIn(makerGoods, last))) {
			break
		}
		name = strings.TrimSpace(name[:max(i, 0)])
	}
	if first, rest, more := strings.Cut(name, " "); more && foldedIn(makerWords, first) {
		return rest
	}
	return name
}

// foldedIn reports whether a word is in a set, folded.
func foldedIn(set map[string]bool, w string) bool {
	var buf [32]byte
	return len(w) < len(buf) && set[string(appendFold(buf[:0], w))]
}

var (
	makerForms = wordSet(`co inc ltd llc corp gmbh ag plc bv srl`)
	// makerWords are words for makers of drinks, music, books, films and goods. No family name is common among them.
	makerWords = wordSet(`company corporation manufacturing brewing brewery breweries brewers brewhouse brewpub brauerei brau brasserie brouwerij browar
		bryggeri cerveceria cervejaria birrificio pivovar winery vineyard vineyards cellars weingut bodega bodegas distillery distilling distillers
		brennerei distillerie records recordings entertainment publishing publishers publications verlag editions editorial editore
		pictures films productions studio studios`)
	// makerGoods are what makers make, before such a word or a legal form: Stone Beer Co. Alone they may be a family name.
	makerGoods = wordSet(`beer ale wine wines spirits cider coffee tea foods music books comics games film movie media press toys`)
)

// is reports whether two names may belong to one person: the family names are alike, and so are the given names as far
// as both are written out.
func (c credit) is(d credit) bool {
	switch {
	case c.given != "" && c.given == d.family && c.family == d.given:
		return true
	case !likeWord(c.family, d.family):
		return false
	case c.given == "" || d.given == "":
		return true
	case len(c.given) == 1 || len(d.given) == 1:
		return c.given[0] == d.given[0]
	}
	return likeWord(c.given, d.given) || c.given[0] == d.given[0] && min(len(c.given), len(d.given)) == 2 || nickname(c.given, d.given)
}

// comparePeople grades how much of the shorter list the other contains, because some catalogues list more people than
// others.
func comparePeople(a, b people) level {
	if len(a) == 0 || len(b) == 0 {
		return levelNone
	}
	common := 0
	var taken uint32 // of b
	for _, c := range a {
		for j, d := range b {
			if taken&(1<<j) == 0 && c.is(d) {
				taken |= 1 << j
				common++
				break
			}
		}
	}
	switch shorter := min(len(a), len(b)); {
	case common == 0:
		return peopleDifferent
	case common == shorter && shorter > 1:
		return peopleAll
	case common == shorter && len(a) == len(b):
		return peopleOne
	case common == shorter:
		return peopleOneOf
	case 2*common >= shorter:
		return peopleMost
	}
	return peopleFew
}
