// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/locus-db/locus/internal/definition"
)

// Limits of one record's attributes, in bytes of UTF-8 unless noted.
const (
	MaxAttributes     = 128  // attributes of a record
	MaxValues         = 32   // values of an attribute
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

// Problem is one reason to refuse a record.
type Problem struct {
	Attribute string `json:"attribute,omitempty"` // empty: the record as a whole
	Index     int    `json:"index"`               // of the value, -1 for the attribute as a whole
	Code      string `json:"code"`
	Message   string `json:"message"` // for people; suggests a fix
}

// Check returns all reasons to refuse a record of this kind, ordered by attribute and index; nil if there
// are none. Dirty values are accepted. Problems are values over a limit, unreadable or undeclared, a
// missing required attribute, and a record without any compared attribute. Empty or blank text counts as
// absent.
func (s *Schema) Check(a Attributes) []Problem {
	var problems []Problem
	if len(a) > MaxAttributes {
		problems = append(problems, Problem{
			Index: -1, Code: CodeTooMany,
			Message: fmt.Sprintf("a record has at most %d attributes, this one has %d", MaxAttributes, len(a)),
		})
	}
	for _, name := range slices.Sorted(maps.Keys(a)) {
		attribute, ok := s.Attribute(name)
		if !ok {
			problems = append(problems, Problem{Attribute: definition.Clip(name), Index: -1, Code: CodeUnknown, Message: s.unknown(name)})
			continue
		}
		if n := len(a[name]); n > MaxValues {
			problems = append(problems, Problem{
				Attribute: name, Index: -1, Code: CodeTooMany,
				Message: fmt.Sprintf("an attribute has at most %d values, this one has %d", MaxValues, n),
			})
			continue
		}
		for i, raw := range a[name] {
			if code, message := attribute.check(raw); code != "" {
				problems = append(problems, Problem{Attribute: name, Index: i, Code: code, Message: message})
			}
		}
	}
	for _, attribute := range s.Attributes {
		if attribute.Required && !s.said(attribute, a) {
			problems = append(problems, Problem{
				Attribute: attribute.Name, Index: -1, Code: CodeRequired,
				Message: fmt.Sprintf("a record of kind %s needs %q: send it, or map a column to it", s.Kind, attribute.Name),
			})
		}
	}
	if !s.says(a) && !slices.ContainsFunc(problems, func(p Problem) bool { return p.Code == CodeRequired }) {
		problems = append(problems, Problem{
			Index: -1, Code: CodeRequired,
			Message: fmt.Sprintf("a record of kind %s says something that it can be matched by: send one of %s, or map a column to it", s.Kind, strings.Join(s.compared(), ", ")),
		})
	}
	slices.SortStableFunc(problems, func(x, y Problem) int {
		return cmp.Or(strings.Compare(x.Attribute, y.Attribute), cmp.Compare(x.Index, y.Index))
	})
	return problems
}

func (s *Schema) compared() (names []string) {
	for _, attribute := range s.Attributes {
		if fieldOf(attribute) != fieldCount {
			names = append(names, attribute.Name)
		}
	}
	return names
}

// says reports whether a record has a value of a compared attribute.
func (s *Schema) says(a Attributes) bool {
	return slices.ContainsFunc(s.Attributes, func(attribute Attribute) bool {
		return fieldOf(attribute) != fieldCount && slices.ContainsFunc(a[attribute.Name], sent)
	})
}

// said reports whether an attribute has a value. Any attribute of TypeName stands in for another one.
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
			return CodeScheme, fmt.Sprintf("a website begins with http:// or https://, this one with %q", definition.Clip(scheme))
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
	degrees, err := strconv.ParseFloat(strings.TrimSpace(raw), 64)
	if err != nil || math.IsNaN(degrees) {
		if isNothing(fold(raw)) {
			return "", ""
		}
		return CodeNotANumber, fmt.Sprintf("%q is not a number of degrees such as 37.7749", definition.Clip(raw))
	}
	if math.Abs(degrees) > limit {
		return CodeOutOfRange, fmt.Sprintf("%s is outside of -%g to %g degrees", definition.Clip(raw), limit, limit)
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
		return fmt.Sprintf("kind %s has no attribute %q: did you mean %q?", s.Kind, definition.Clip(name), best)
	}
	return fmt.Sprintf("kind %s has no attribute %q: it has %s", s.Kind, definition.Clip(name), strings.Join(names, ", "))
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
