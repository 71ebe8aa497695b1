// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"
)

// parseEmail parses one raw value; ok is false if it names no mailbox.
func parseEmail(raw string) (string, bool) {
	s := strings.ToLower(strings.TrimSpace(raw))
	s = strings.TrimPrefix(s, "mailto:")
	box, host, ok := strings.Cut(s, "@")
	if !ok || box == "" || !strings.Contains(host, ".") || strings.ContainsAny(s, " \t\r\n") {
		return "", false
	}
	return s, true
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
