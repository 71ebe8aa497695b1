// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"net/url"
	"strings"
)

// ParseURL reads the url of a cell, or a template with {g} and {i} in it. secret tells that
// it holds a password, which may not stand in a map.
func ParseURL(s string) (u *url.URL, secret bool, err error) {
	if u, err = url.Parse(strings.NewReplacer("{g}", "0", "{i}", "0").Replace(s)); err != nil {
		return nil, false, err
	}
	_, secret = u.User.Password()
	return u, secret || u.Query().Has("password"), nil
}

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
