// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/changelog"
)

// Limits of a query in this API.
const (
	maxParams    = 64
	defaultLimit = 100
)

// values are the parameters of a query. Only list parameters may be repeated.
type values map[string]string

// repeated are the list parameters. Their values are joined by line breaks, which no parameter can contain.
var repeated = map[string]bool{"filter": true, "has": true, "without": true, "pair": true}

// blank are the parameters that may be empty: no words, the prefix of every name, and the position before everything in
// the logs.
var blank = map[string]bool{"q": true, "prefix": true, "after": true}

// list returns the values of a list parameter.
func (q values) list(name string) []string {
	text, given := q[name]
	if !given {
		return nil
	}
	return strings.Split(text, "\n")
}

// parseQuery parses the query of a request and rejects what url.ParseQuery accepts silently: bad escapes, semicolons,
// repeated names.
func parseQuery(raw string) (values, error) {
	if raw == "" {
		return nil, nil
	}
	if strings.Contains(raw, ";") {
		return nil, fault(CodeMalformed, "", "a semicolon in the query must be written as %%3B")
	}
	parts := strings.Split(raw, "&")
	if len(parts) > maxParams {
		return nil, fault(CodeMalformed, "", "the query has %d parameters: at most %d", len(parts), maxParams)
	}
	query := make(values, len(parts))
	for _, part := range parts {
		rawName, rawValue, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(rawName)
		if err != nil {
			return nil, fault(CodeMalformed, "", "a name in the query has a bad percent escape")
		}
		value, err := url.QueryUnescape(rawValue)
		if err != nil {
			return nil, fault(CodeMalformed, pointerTo(name), "the parameter %.60q has a bad percent escape", name)
		}
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return nil, fault(CodeInvalidUTF8, pointerTo(name), "the parameter %.60q is not UTF-8", name)
		}
		before, twice := query[name]
		switch {
		case repeated[name] && strings.Contains(value, "\n"):
			return nil, fault(CodeInvalid, pointerTo(name), "the parameter %q holds a line break", name)
		case repeated[name] && twice:
			value = before + "\n" + value
		case twice:
			return nil, fault(CodeDuplicateKey, pointerTo(name), "the parameter %.60q is given twice", name)
		}
		query[name] = value
	}
	return query, nil
}

func pointerTo(name string) string { return "?" + printable(cut(name, 60)) }

// cut truncates external text before it is shown.
func cut(s string, limit int) string {
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// known rejects unknown parameters, because a mistyped limit must not mean no limit, empty parameters, because an empty
// watermark must not mean none, and missing required ones.
func (q values) known(params []param) error {
	found := 0
	for _, p := range params {
		v, ok := q[p.name]
		if ok {
			found++
		}
		if ok && v == "" && !blank[p.name] {
			return fault(CodeInvalid, pointerTo(p.name), "the parameter %q has no value: give it one, or omit it", p.name)
		}
		if p.required && !ok {
			return fault(CodeInvalid, pointerTo(p.name), "the parameter %q is missing", p.name)
		}
	}
	if found == len(q) {
		return nil
	}
	names := make([]string, 0, len(params))
	for _, p := range params {
		names = append(names, p.name)
	}
	for name := range q {
		if !contains(params, name) {
			if len(names) == 0 {
				return fault(CodeUnknownField, pointerTo(name), "unknown parameter %.60q: this route takes none", name)
			}
			return fault(CodeUnknownField, pointerTo(name), "unknown parameter %.60q: this route takes %s", name,
				strings.Join(names, ", "))
		}
	}
	return nil
}

func contains(params []param, name string) bool {
	for _, p := range params {
		if p.name == name {
			return true
		}
	}
	return false
}

// limit returns the page size.
func (q values) limit() (int, error) {
	text, ok := q["limit"]
	if !ok {
		return defaultLimit, nil
	}
	return q.atMost("limit", text, locus.MaxLimit)
}

// watermark reads a watermark, nil if it is missing.
func (q values) watermark(name string) (changelog.Watermark, error) {
	text, given := q[name]
	if !given {
		return nil, nil
	}
	w, err := changelog.ParseWatermark(text)
	if err != nil {
		f := toFault(err, "")
		f.Pointer, f.Errors = pointerTo(name), nil
		return nil, f
	}
	return w, nil
}

// flag reads true or false; the default is false.
func (q values) flag(name string) (bool, error) {
	switch text, given := q[name]; {
	case text == "true":
		return true, nil
	case text == "false", !given:
		return false, nil
	default:
		return false, fault(CodeInvalid, pointerTo(name), "%s is %.20q: want true or false", name, text)
	}
}

func (q values) atMost(name, text string, limit int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text || n < 1 || n > limit {
		return 0, fault(CodeInvalid, pointerTo(name), "%s is %.20q: want a whole number from 1 to %d", name, text, limit)
	}
	return n, nil
}
