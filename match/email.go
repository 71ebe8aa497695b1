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

// compareEmails reports whether two records have a mailbox in common. Different mailboxes are no evidence, because
// many things have several. One that many share has a line of its own, unless there is another one.
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

// sharedBox reports whether a mailbox is that of a firm, which persons share, or many names have it. A few are those of
// one person, misspelled.
func (m *Matcher) sharedBox(email string) bool {
	return m.style == StylePerson && officeBox(email) || m.terms.names(boxHash(email)) > PhoneCrowd
}
