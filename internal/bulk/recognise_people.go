// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locus-db/locus/match"
)

// people reports whether the kind is one of people and a column with the whole name has names of people.
func (r *recognition) people() bool {
	return r.kind.Style() == match.StylePerson && slices.ContainsFunc(r.columns, func(c sampled) bool {
		uses, _ := r.mapping.resolve(c.name)
		return slices.ContainsFunc(uses, func(u use) bool {
			a, ok := r.kind.Attribute(u.attribute)
			return ok && u.kind == useAttribute && a.Type == match.TypeName && r.namePeople(c.values)
		})
	})
}

// namePeople reports whether the names in a column are those of people: as names, or by the mailboxes beside them.
func (r *recognition) namePeople(values []string) bool {
	if match.NamesPeople(values) {
		return true
	}
	boxes := map[string]bool{}
	for _, v := range values {
		if words := strings.Fields(strings.ToLower(v)); len(words) == 2 || len(words) == 3 {
			for _, box := range mailboxes(words[0], words[len(words)-1]) {
				boxes[box] = true
			}
		}
	}
	return slices.ContainsFunc(r.columns, func(c sampled) bool {
		named := 0
		for _, v := range c.values {
			if box, _, found := strings.Cut(strings.ToLower(strings.TrimSpace(v)), "@"); found && boxes[strings.TrimRight(box, "0123456789")] {
				named++
			}
		}
		return 2*named > len(values)
	})
}

// mailboxes are the forms that the mailbox of a person has and that of a firm hardly ever: ada.lovelace, a.lovelace,
// alovelace. A firm may have its name as one word.
func mailboxes(given, family string) []string {
	first, _ := utf8.DecodeRuneInString(given)
	initial := string(first)
	boxes := []string{initial + family}
	for _, mark := range []string{".", "_", "-"} {
		boxes = append(boxes, given+mark+family, family+mark+given, initial+mark+family)
	}
	return boxes
}

// isRareName reports whether a column has the names of people whom less than half of the rows have: most rows of such a
// file are about something else.
func (r *recognition) isRareName(column int, uses []use) bool {
	return 2*len(r.columns[column].values) < r.rows && slices.ContainsFunc(uses, func(u use) bool {
		return u.kind == useAttribute && r.isPartOfName(u.attribute)
	})
}

// isPartOfName reports whether an attribute is a given name or a family name.
func (r *recognition) isPartOfName(attribute string) bool {
	return slices.ContainsFunc(r.kind.Attributes, func(a match.Attribute) bool { return a.Name == attribute && isNamePart(&a) })
}

// fullNames are names of columns with the whole names of people, without "_".
var fullNames = nameSet(`fullname completename vollstandigername vollstaendigername nomcomplet nomprenom nombrecompleto nombreyapellidos nomecompleto nomecognome volledigenaam`)

// isFullName reports whether a column has, by its own name, the whole names of people: full name, patient name.
func (r *recognition) isFullName(column int, attribute string) bool {
	a, ok := r.kind.Attribute(attribute)
	plain := r.columns[column].plain
	first, _, prefixed := strings.Cut(plain, "_")
	_, owner := ofOwner(plain)
	return ok && a.Type == match.TypeName && a.Style == match.StylePerson && a.Role == match.RoleNone &&
		(fullNames[joined(plain)] || prefixed && (personPrefixes[first] || personPrefixes[owner]))
}

func isNamePart(a *match.Attribute) bool {
	return a.Role == match.RoleGiven || a.Role == match.RoleFamily
}

// namesCustomers reports whether a column such as Customer has the names of people, or of firms, beside how they are
// reached.
func (r *recognition) namesCustomers(a *match.Attribute, plain string, values []string) bool {
	if a.Type != match.TypeName || a.Role != match.RoleNone || r.kind.Style() == match.StyleTitle || !personColumns[plain] {
		return false
	}
	if people := r.namePeople(values); people != (r.kind.Style() == match.StylePerson) ||
		!people && !(firmColumns[plain] && hasWords(values) && differ(values, strings.TrimSpace)) {
		return false
	}
	return slices.ContainsFunc(r.columns, func(c sampled) bool {
		return slices.ContainsFunc(r.kind.Attributes, func(a match.Attribute) bool {
			return (a.Type == match.TypeEmail || a.Type == match.TypePhone) && aliasOf(r.kind, &a, c.plain) != noAlias
		})
	})
}
