// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"
)

// parseEmails returns the mailboxes that one raw value names: that of "Ada <ada@example.org>", both of
// "ada@example.org; a.l@example.com". A part with words that are no mailboxes names none.
func parseEmails(raw string) (boxes []string) {
	for part := range strings.FieldsFuncSeq(strings.ToLower(raw), func(r rune) bool { return strings.ContainsRune(";,|", r) }) {
		if _, after, named := strings.Cut(strings.TrimSuffix(strings.TrimSpace(part), ">"), "<"); named {
			part = after
		}
		words := strings.Fields(part)
		for i, s := range words {
			words[i] = strings.TrimPrefix(s, "mailto:")
		}
		if !slices.ContainsFunc(words, isNoMailbox) {
			boxes = append(boxes, words...)
		}
	}
	return boxes
}

func isNoMailbox(word string) bool {
	box, host, found := strings.Cut(word, "@")
	return !found || box == "" || !strings.Contains(host, ".")
}

// compareEmails reports whether two records have a mailbox in common. Different mailboxes are no evidence, because many
// things have several. A mailbox that many share has a separate line, unless another one is shared too.
func (v *Vector) compareEmails(a, b *Record) {
	for i, x := range a.emails {
		if !slices.Contains(b.emails, x) {
			continue
		}
		v.put(fieldEmail, emailEqual)
		if a.shared>>i&1 == 0 {
			v.put(fieldBox, levelNone)
			return
		}
		v.put(fieldBox, boxShared)
	}
}

// sharedBox reports whether a mailbox belongs to a firm, so that several persons share it, or is used with many names.
// A few names can be misspellings of one person.
func (m *Matcher) sharedBox(email string) bool {
	return m.style == StylePerson && officeBox(email) || m.terms.names(boxHash(email)) > PhoneCrowd
}
