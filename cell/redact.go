// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// template replaces {g} and {i} by generation and index, so that a URL template is parsed and checked like the URL of
// the first cell.
var template = strings.NewReplacer("{g}", "0", "{i}", "0")

// Check validates the URL of a cell, or a template with {g} and {i}, without connecting: ErrURL.
func (c *Cells[T]) Check(url string) error {
	url = template.Replace(url)
	driver, err := c.driver(url)
	if err != nil {
		return err
	}
	return driver.Check(url)
}

// driver returns the driver of a URL, after checking length and characters.
func (c *Cells[T]) driver(url string) (Driver[T], error) {
	const longest = 2048
	switch i := strings.IndexFunc(url, func(r rune) bool { return !unicode.IsPrint(r) }); {
	case len(url) > longest:
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are taken", ErrURL, len(url), longest)
	case !utf8.ValidString(url):
		return nil, fmt.Errorf("%w: it is not UTF-8", ErrURL)
	case i >= 0:
		r, _ := utf8.DecodeRuneInString(url[i:])
		return nil, fmt.Errorf("%w: it has the character %U, which does not print: leave it out", ErrURL, r)
	}
	if strings.ContainsAny(url, "{}") {
		return nil, fmt.Errorf("%w: %s has a brace that is not of {g} or {i}", ErrURL, Redact(url))
	}
	return c.opts.Driver(url)
}

// unfit adds ErrURL if existing data at the URL prevents the creation of the cell.
func unfit(err error) error {
	if errors.Is(err, ErrFormat) {
		return fmt.Errorf("%w: %w", ErrURL, err)
	}
	return err
}

// ParseURL parses the URL of a cell, or a template with {g} and {i}. secret reports whether it contains a password,
// which is not allowed in a map.
func ParseURL(s string) (u *url.URL, secret bool, err error) {
	if u, err = url.Parse(template.Replace(s)); err != nil {
		return nil, false, err
	}
	_, secret = u.User.Password()
	return u, secret || u.Query().Has("password"), nil
}

// Redact returns the URL of a cell without its password and without parameters, any of which may contain one. Maps
// reject passwords; Redact is for URLs from elsewhere, and for parameters that a map cannot check.
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
		return s // unchanged, not normalised
	}
	u.RawQuery = ""
	return u.String()
}
