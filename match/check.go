// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locus-db/locus/internal/definition"
	"github.com/locus-db/locus/internal/problem"
)

// Limits of one record's attributes, in bytes of UTF-8 unless noted.
const (
	MaxAttributes     = 128  // attributes of a record
	MaxValues         = 1024 // values of an attribute
	MaxText           = 4096 // one value
	MaxURL            = 2048 // one value of TypeURL
	MaxPhone          = 64   // one value of TypePhone
	MaxID             = 255  // one value of TypeID
	MaxCategoryLevels = 16   // levels of one category path
)

// The codes of problems. They are stable, so programs may compare them.
const (
	CodeUnknown    = "unknown_attribute"
	CodeRequired   = "required"
	CodeTooMany    = "too_many"
	CodeTooLong    = "too_long"
	CodeNotUTF8    = "invalid_utf8"
	CodeControl    = "control_character"
	CodeNotANumber = "not_a_number"
	CodeOutOfRange = "out_of_range"
	CodeScheme     = "scheme"
	CodeTooDeep    = "too_deep"
)

// Check returns all reasons to refuse a record of this kind, first those of the whole record, then by attribute and
// value; nil if there are none. A pointer is /ATTRIBUTE, or /ATTRIBUTE/INDEX if there are several values. Dirty values
// are accepted. Problems are values over a limit, unreadable or undeclared, a
// missing required attribute, and a record without any compared attribute, unless an unknown one may be it. Empty or
// blank text counts as absent.
func (s *Schema) Check(a Attributes) []Problem {
	var whole, problems []Problem
	known := true
	if len(a) > MaxAttributes {
		whole = append(whole, problem.New("", CodeTooMany, fmt.Sprintf("a record has at most %d attributes, this one has %d", MaxAttributes, len(a))))
	}
	missing := s.missing(a)
	names := slices.AppendSeq(append(make([]string, 0, len(missing)+len(a)), missing...), maps.Keys(a))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		pointer := func() string { return problem.Pointer(problem.Clip(name)) }
		attribute, ok := s.Attribute(name)
		if !ok {
			problems, known = append(problems, problem.New(pointer(), CodeUnknown, s.unknown(name))), false
			continue
		}
		if slices.Contains(missing, name) {
			problems = append(problems, problem.New(pointer(), CodeRequired, fmt.Sprintf("a record of kind %s needs %q: send it, or map a column to it", s.Kind, name)))
		}
		if n := len(a[name]); n > MaxValues {
			problems = append(problems, problem.New(pointer(), CodeTooMany, fmt.Sprintf("an attribute has at most %d values, this one has %d", MaxValues, n)))
			continue
		}
		for i, raw := range a[name] {
			if code, detail := attribute.check(raw); code != "" {
				at := pointer()
				if len(a[name]) > 1 {
					at += "/" + strconv.Itoa(i)
				}
				problems = append(problems, problem.New(at, code, detail))
			}
		}
	}
	if known && !s.says(a) && missing == nil {
		whole = append(whole, problem.New("", CodeRequired,
			fmt.Sprintf("a record of kind %s needs an attribute that it can be matched by: send one of %s, or map a column to it", s.Kind, strings.Join(s.compared(), ", "))))
	}
	return append(whole, problems...)
}

// missing returns the names of the required attributes without a value.
func (s *Schema) missing(a Attributes) (names []string) {
	for _, attribute := range s.Attributes {
		if attribute.Required && !s.said(attribute, a) {
			names = append(names, attribute.Name)
		}
	}
	return names
}

func (s *Schema) compared() (names []string) {
	for _, attribute := range s.Attributes {
		if s.matches(attribute) {
			names = append(names, attribute.Name)
		}
	}
	return names
}

// matches reports whether an attribute is compared and may match. A country only differs.
func (s *Schema) matches(a Attribute) bool {
	return s.fieldOf(a) != fieldCount && a.Role != RoleCountry
}

// says reports whether a record has a value that is compared.
func (s *Schema) says(a Attributes) bool {
	return slices.ContainsFunc(s.Attributes, func(attribute Attribute) bool {
		return s.matches(attribute) && slices.ContainsFunc(a[attribute.Name], sent)
	})
}

// said reports whether an attribute has a value. Any attribute of TypeName can replace another one.
func (s *Schema) said(attribute Attribute, a Attributes) bool {
	return slices.ContainsFunc(s.Attributes, func(other Attribute) bool {
		return (other.Name == attribute.Name || attribute.Type == TypeName && other.Type == TypeName) &&
			slices.ContainsFunc(a[other.Name], sent)
	})
}

// check returns the code and text of the problem with one raw value, "" if there is none.
func (a Attribute) check(raw string) (code, message string) {
	limit := MaxText
	switch a.Type {
	case TypeURL:
		limit = MaxURL
	case TypePhone:
		limit = MaxPhone
	case TypeID:
		limit = MaxID
	}
	if len(raw) > limit {
		return CodeTooLong, fmt.Sprintf("%d bytes, at most %d are taken", len(raw), limit)
	}
	if !utf8.ValidString(raw) {
		return CodeNotUTF8, "not valid UTF-8: convert the source to UTF-8 first"
	}
	if i := strings.IndexFunc(raw, forbidden); i >= 0 {
		r, _ := utf8.DecodeRuneInString(raw[i:])
		return CodeControl, fmt.Sprintf("control character %U at byte %d: only tab and line breaks are taken", r, i)
	}
	if !sent(raw) {
		return "", ""
	}
	switch a.Type {
	case TypeGeo:
		return a.checkDegrees(raw)
	case TypeURL:
		if scheme, ok := urlScheme(strings.TrimSpace(raw)); ok && scheme != "http" && scheme != "https" {
			return CodeScheme, fmt.Sprintf("a website begins with http:// or https://, this one with %q", problem.Clip(scheme))
		}
	case TypeCategory:
		if levels := strings.Count(raw, ">") + 1; levels > MaxCategoryLevels {
			return CodeTooDeep, fmt.Sprintf("a category path of %d levels, at most %d are taken", levels, MaxCategoryLevels)
		}
	}
	return "", ""
}

func (a Attribute) checkDegrees(raw string) (code, message string) {
	limit := a.degrees()
	degrees, ok := parseDegrees(raw, a.Role)
	if !ok {
		if isNothing(fold(raw)) {
			return "", ""
		}
		return CodeNotANumber, fmt.Sprintf("%q is not a number of degrees such as 37.7749", problem.Clip(raw))
	}
	if math.Abs(degrees) > limit {
		return CodeOutOfRange, fmt.Sprintf("%s is outside of -%g to %g degrees", problem.Clip(raw), limit, limit)
	}
	return "", ""
}

func (a Attribute) degrees() float64 {
	if a.Role == RoleLatitude {
		return 90
	}
	return 180
}

// unknown returns a message for an undeclared name, with the declared name that was probably meant.
func (s *Schema) unknown(name string) string {
	names := make([]string, 0, len(s.Attributes))
	for _, a := range s.Attributes {
		names = append(names, a.Name)
	}
	if best := definition.Nearest(name, names); best != "" {
		return fmt.Sprintf("kind %s has no attribute %q: did you mean %q?", s.Kind, problem.Clip(name), best)
	}
	return fmt.Sprintf("kind %s has no attribute %q: it has %s", s.Kind, problem.Clip(name), strings.Join(names, ", "))
}

func sent(raw string) bool { return strings.TrimSpace(raw) != "" }

func forbidden(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' }

// urlScheme returns the scheme of an address in lower case, if it has one. A host with a dot and a port
// ("example.org:8080") has none; a word followed by a number counts as a scheme, because it may be one
// ("javascript:1").
func urlScheme(s string) (string, bool) {
	scheme, _, ok := strings.Cut(s, ":")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "./ ?#@") {
		return "", false
	}
	return strings.ToLower(scheme), true
}
