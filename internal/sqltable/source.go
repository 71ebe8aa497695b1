// SPDX-License-Identifier: Apache-2.0

package sqltable

import (
	"net/url"
	"path/filepath"
	"strings"
)

// Options select the rows of a database.
type Options struct {
	// Exactly one of Table, perhaps with its schema, and Query is set.
	Table, Query string
	// Since is a column whose values only grow, such as the time of the last change. With From, only rows from that
	// value on are read, without rows whose value is null.
	Since, From string
	// After is the position of a row, after which a table is read.
	After []string
	// Rows is how many rows came before; they count in the numbers of rows.
	Rows int64
	// Page is the number of rows per request. Defaults to 5000.
	Page int
}

// schemes are the schemes of URLs of databases.
var schemes = []string{"postgres://", "postgresql://", "mysql://", "sqlite:"}

// IsURL reports whether a name is the URL of a database.
func IsURL(name string) bool {
	for _, scheme := range schemes {
		if strings.HasPrefix(name, scheme) {
			return true
		}
	}
	return false
}

// Name returns a URL without its password.
func Name(name string) string {
	scheme, rest, network := strings.Cut(name, "://")
	if !network {
		return name
	}
	user, host, named := cutLast(rest, "@")
	if named {
		user, _, _ = strings.Cut(user, ":")
		rest = user + "@" + host
	}
	if path, query, ok := strings.Cut(rest, "?"); ok {
		var kept []string
		for _, pair := range strings.Split(query, "&") {
			if name, _, _ := strings.Cut(pair, "="); !strings.Contains(strings.ToLower(name), "password") {
				kept = append(kept, pair)
			}
		}
		if rest = path; len(kept) > 0 {
			rest += "?" + strings.Join(kept, "&")
		}
	}
	return scheme + "://" + rest
}

// cutLast is strings.Cut at the last separator of the part before the path.
func cutLast(text, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return text, "", false
}

// File returns the file of a SQLite URL, "" for any other.
func File(name string) string {
	if file, ok := strings.CutPrefix(name, "sqlite:"); ok {
		return strings.TrimPrefix(file, "//")
	}
	return ""
}

// Base returns the name of a file for data that belongs to an import: the database and the table, or "query".
func Base(name string, o *Options) string {
	database := "database"
	if file := File(name); file != "" {
		database = filepath.Base(file)
	} else if u, err := url.Parse(Name(name)); err == nil && strings.Trim(u.Path, "/") != "" {
		database = strings.Trim(u.Path, "/")
	}
	what := o.Table
	if what == "" {
		what = "query"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, database+"."+what)
}
