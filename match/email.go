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

// compareEmails reports whether two records share a mailbox. Different mailboxes are no evidence, because
// many things have several.
func compareEmails(a, b []string) level {
	for _, x := range a {
		if slices.Contains(b, x) {
			return emailEqual
		}
	}
	return levelNone
}
