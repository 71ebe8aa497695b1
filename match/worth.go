// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// worthWords is the number of words above which a name or an address is not worth more.
const worthWords = 8

// Worth returns the information content of raw value i of an attribute, in percent. It orders values that
// are equally new and trusted: a name or an address is worth more the more words it has, up to eight; an
// own page more than one of a network; the first category of a source more than the others.
func (r *Record) Worth(attribute string, i int) int {
	a, _ := r.matcher.schema.Attribute(attribute)
	raw := r.attributes[attribute][i]
	switch a.Type {
	case TypeName, TypeAddress:
		words := strings.Count(fold(raw), " ") + 1
		return 100 * min(words, worthWords) / worthWords
	case TypeURL:
		if p, ok := parsePage(raw); ok && p.domain == "" {
			return 50
		}
	case TypeCategory:
		if i > 0 {
			return 30
		}
	}
	return 100
}
