// SPDX-License-Identifier: Apache-2.0

package match

import (
	"regexp"
	"strings"
)

// Lists of works write in the title what others have in columns: the performer before a dash, guests behind "feat.",
// and the year of a new mastering.

// guests are the words before the names of guests, and mastering is the end of a title.
var (
	guests    = regexp.MustCompile(`(?i)\s+[(\[]?(?:feat\.?|ft\.|featuring)\s`)
	mastering = regexp.MustCompile(`(?i)\s+(?:[(\[]|[-–] )(?:\d{4} )?(?:digital(?:ly)? )?` +
		`remaster(?:ed)?(?: version| edition)?(?: \d{4})?[)\]]?\s*$`)
)

// cutGuests returns a title without its guests, up to a bracket or a dash.
func cutGuests(raw string) string {
	at := guests.FindStringIndex(raw)
	if at == nil || at[0] == 0 {
		return raw
	}
	rest := raw[at[1]:]
	end := len(rest)
	for _, mark := range []string{")", "]", " (", " [", " - ", " – ", " — "} {
		if i := strings.Index(rest, mark); i >= 0 && i < end {
			if end = i; len(mark) == 1 {
				end++ // the bracket is theirs
			}
		}
	}
	return raw[:at[0]] + rest[end:]
}

// cutCredits returns a title without the people of the record in it. A record without people gets those of the title,
// if other records name them as people.
func (r *Record) cutCredits(raw string) string {
	if !r.matcher.credits {
		return raw
	}
	raw = cutGuests(mastering.ReplaceAllString(raw, ""))
	for _, dash := range []string{" - ", " – ", " — "} {
		first, rest, found := strings.Cut(raw, dash)
		if !found || strings.TrimSpace(rest) == "" {
			continue
		}
		if r.isCredited(first) {
			return rest
		}
		if at := strings.LastIndex(raw, dash); r.isCredited(raw[at+len(dash):]) {
			return raw[:at]
		}
	}
	return raw
}

// isCredited reports whether a part of the title names the people of the record. Those of a record without any are
// known from other records.
func (r *Record) isCredited(part string) bool {
	if isNothing(fold(part)) {
		return true
	}
	list := parsePeople(nil, []string{part})
	if len(r.people) > 0 || len(list) == 0 {
		return len(list) > 0 && len(list) <= len(r.people) && comparePeople(list, r.people) >= peopleOneOf
	}
	for _, c := range list {
		if r.matcher.terms.tokens[c.hash()] < 2 {
			return false
		}
	}
	r.people = list
	return true
}

// hash returns the hash under which a table has the number of records that name a person.
func (c credit) hash() uint64 { return textHash("\x00credit " + c.given + " " + c.family) }
