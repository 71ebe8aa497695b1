// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// worthWords is the number of words beyond which a name or an address says no more.
const worthWords = 8

// Worth is how much of what its attribute can say the raw value i says, in hundredths. Values that
// are equally new and trusted are told by it: a name or an address says as much as it has words, up
// to eight; a page of one's own more than one of a network; the category that a source names first
// more than the others.
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
