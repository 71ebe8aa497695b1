// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"net/url"
	"strings"
)

// Redact returns the url of a cell as it may be shown: without a password, and
// without parameters, any of which may hold one. A map refuses passwords; this is
// for urls that come from elsewhere, and for parameters that a map cannot judge.
func Redact(s string) string {
	u, err := url.Parse(s)
	if err != nil || strings.Contains(strings.ToLower(s), "password=") && u.RawQuery == "" {
		scheme, _, found := strings.Cut(s, ":")
		if !found {
			return "…"
		}
		return scheme + ":…"
	}
	if _, secret := u.User.Password(); secret {
		u.User = url.User(u.User.Username())
	} else if u.RawQuery == "" {
		return s // as it was written
	}
	u.RawQuery = ""
	return u.String()
}
