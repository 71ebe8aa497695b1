// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/locus-db/locus/changelog"
)

// Expand calls each for every group that an image falls into, with the group's values and the dimension value. A
// rollup is the sum of Expand over all images. It is pure and deterministic; a nil image falls into no group. The
// group slice is only valid until each returns.
//
// A value that occurs twice in one list counts once. An image without a value for one of the group's attributes
// is in no group; without a dimension value it is under "", which is never a real value. A value too long for a
// key is shortened and ends in a hash, so that different values stay different.
//
// One image cannot stop the whole rollup: if it would fall into more than maxProduct groups, it falls into a
// single one whose attributes are all "…".
func (d *Definition) Expand(im *changelog.Image, each func(group []string, dimension string)) {
	if im == nil || !d.holds(im) {
		return
	}
	dimension := ""
	if d.Dimension != "" {
		if values := valuesOf(im, d.Dimension); len(values) > 0 {
			dimension = shorten(values[0])
		}
	}
	var lists [maxAttributes][]string
	product := 1
	for i, name := range d.Group {
		lists[i] = distinct(valuesOf(im, name))
		product *= len(lists[i])
	}
	if product > falls {
		product = 1
		for i := range d.Group {
			lists[i] = []string{crowded}
		}
	}
	var group [maxAttributes]string
	for n := range product {
		for i := range d.Group {
			list := lists[i]
			group[i] = shorten(list[n%len(list)])
			n /= len(list)
		}
		each(group[:len(d.Group)], dimension)
	}
}

// crowded replaces the attribute values of an image that would fall into more than 4,096 groups.
const crowded = "…"

// valuesOf returns the values of an attribute, including source and outcome.
func valuesOf(im *changelog.Image, attribute string) []string {
	switch attribute {
	case attrSource:
		return im.Sources
	case attrOutcome:
		if im.Outcome == "" {
			return nil
		}
		return []string{im.Outcome}
	default:
		return im.Attributes[attribute]
	}
}

// distinct returns each value once, in order of first occurrence.
func distinct(values []string) []string {
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			once := slices.Clone(values[:i])
			for _, v := range values[i:] {
				if !slices.Contains(once, v) {
					once = append(once, v)
				}
			}
			return once
		}
	}
	return values
}

// maxKeyPart limits a value in a key, in bytes: a key has up to three groups, a dimension and a value, and
// databases limit its length.
const maxKeyPart = 200

// shorten cuts a value that is too long and appends a hash of it.
func shorten(value string) string {
	if len(value) <= maxKeyPart && !strings.Contains(value, separator) {
		return value
	}
	cut := min(len(value), maxKeyPart-len("…")-16)
	for cut < len(value) && cut > 0 && !utf8.RuneStart(value[cut]) {
		cut--
	}
	return fmt.Sprintf("%s…%016x", strings.ReplaceAll(value[:cut], separator, " "), xxhash.Sum64String(value))
}

// holds reports whether all conditions hold.
func (d *Definition) holds(im *changelog.Image) bool {
	for i := range d.Where {
		if !d.Where[i].holds(valuesOf(im, d.Where[i].Attribute)) {
			return false
		}
	}
	return true
}

func (c *Condition) holds(values []string) bool {
	is := false
	switch {
	case c.Exists:
		is = len(values) > 0
	case c.Absent:
		is = len(values) == 0
	case len(c.Values) > 0:
		is = slices.ContainsFunc(values, func(v string) bool { return slices.Contains(c.Values, v) })
	default:
		is = slices.ContainsFunc(values, c.within)
	}
	return is != c.Not
}

func (c *Condition) within(value string) bool {
	v, ok := parseBound(value)
	if low, set := parseBound(c.Min); ok && set {
		ok = low.date == v.date && low.compare(v) <= 0
	}
	if high, set := parseBound(c.Max); ok && set {
		ok = high.date == v.date && v.compare(high) <= 0
	}
	return ok
}

// measured holds the values that the measures read from an image.
type measured struct {
	skipped int64
	of      []reading // in the order of the measures
}

type reading struct {
	numbers []int64
	texts   []string
}

// read reads the measured values, each distinct value once.
func (d *Definition) read(im *changelog.Image) measured {
	m := measured{of: make([]reading, len(d.Measures))}
	for i, measure := range d.Measures {
		if measure.Func == Count {
			continue
		}
		values := distinct(valuesOf(im, measure.Attribute))
		if !measure.Func.numeric() {
			m.of[i].texts = values
			continue
		}
		for _, v := range values {
			if n, ok := parseNumber(v, measure.Scale); ok {
				m.of[i].numbers = append(m.of[i].numbers, n)
			} else {
				m.skipped++
			}
		}
	}
	return m
}

// separator divides the parts of a key. No part contains it: see shorten.
const separator = "\x00"

func groupKey(group []string) string { return strings.Join(group, separator) }
