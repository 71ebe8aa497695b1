// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

const (
	// leastPeople is the share of values that certainly name a person, from which a list names people.
	leastPeople = 0.4
	// mostFirms is the share of values that certainly name none up to which it does.
	mostFirms = 0.1
)

// NamesPeople reports whether a list of names is one of people. It counts names with a known given name, a title, a
// patronymic or a comma, and those with a digit, a legal form, a word for a trade or another number of words.
func NamesPeople(values []string) bool {
	people, firms, all := 0, 0, 0
	for _, v := range values {
		if isNothing(fold(v)) {
			continue
		}
		all++
		switch is, not := personal(v); {
		case not:
			firms++
		case is:
			people++
		}
	}
	return all > 0 && float64(people) >= leastPeople*float64(all) && float64(firms) <= mostFirms*float64(all)
}

// personal reports whether a text is certainly the name of a person, and whether it certainly is not.
func personal(text string) (is, not bool) {
	var p person
	given, family := splitWhole(text, p.words)
	words := append(given, family...)
	folded, _ := romanise(fold(text))
	_, form := cutForms(folded)
	if form.text != "" || hasDigit(folded) || strings.Contains(text, "&") || len(words) < 2 || len(words) > 5 {
		return false, true
	}
	is = commaAt(text) > 0 && len(given) > 0 || len(words) < len(strings.Fields(folded)) // a title
	trade := false
	for _, w := range words {
		is = is || len(nicknames[w]) > 0 || patronymic(w)
		trade = trade || nameWords[w]&nameBusiness != 0
	}
	return is && !trade, trade && !is // John Hall may be a hall
}
