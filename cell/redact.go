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

// template puts a generation and an index in place of {g} and {i}: url that has them is
// parsed and checked like that of the first cell.
var template = strings.NewReplacer("{g}", "0", "{i}", "0")

// Check reports what is wrong with the url of a cell, or with a template that has {g}
// and {i} in it, without asking a database: ErrURL.
func (c *Cells[T]) Check(url string) error {
	url = template.Replace(url)
	driver, err := c.driver(url)
	if err != nil {
		return err
	}
	return driver.Check(url)
}

// driver returns the driver of a url that prints as it is.
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

// unfit blames the url where a cell is to be made for what is there already.
func unfit(err error) error {
	if errors.Is(err, ErrFormat) {
		return fmt.Errorf("%w: %w", ErrURL, err)
	}
	return err
}

// ParseURL reads the url of a cell, or a template with {g} and {i} in it. secret reports
// whether it holds a password, which may not stand in a map.
func ParseURL(s string) (u *url.URL, secret bool, err error) {
	if u, err = url.Parse(template.Replace(s)); err != nil {
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
