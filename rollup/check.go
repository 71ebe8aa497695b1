// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/locus-db/locus/internal/problem"
)

// Limits of a definition and its results.
const (
	// maxGroups limits the groups of a generation in one cell, MaxSlots the dimension values of a group. A
	// generation that exceeds either fails, because the definition is probably a mistake.
	maxGroups = 1_000_000
	MaxSlots  = 1000
	// maxProduct limits the groups that one entity or record may fall into.
	maxProduct = 4096

	maxAttributes = 3
	maxMeasures   = 32
	maxConditions = 16
	maxValues     = 1000
	maxScale      = 9
	maxTop        = 100
)

// Kind describes the kind that a definition counts: its name and, for each attribute, whether it has many values.
type Kind struct {
	Name string
	Many map[string]bool
}

var (
	nameOK      = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)
	attributeOK = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
)

// Check completes a definition and validates it against its kind. The error is an *InvalidError that lists every
// problem.
func (d Definition) Check(kind Kind) (Definition, error) {
	if problems := d.problems(&kind); len(problems) > 0 {
		return d, invalid(problems)
	}
	return d.canonical(), nil
}

// checking collects problems; kind may be nil.
type checking struct {
	Definition
	kind  *Kind
	found []Problem
}

func (d Definition) problems(kind *Kind) []Problem {
	c := &checking{Definition: d, kind: kind}
	if !nameOK.MatchString(d.Name) {
		c.fail("/rollup", "want a name of a-z, 0-9, _ and -, at most 63, that begins with a letter")
	}
	switch {
	case d.Kind == "" || !utf8.ValidString(d.Kind):
		c.fail("/kind", "want the kind of the things")
	case kind != nil && d.Kind != kind.Name:
		c.fail("/kind", "this installation has things of kind %s", kind.Name)
	}
	if d.Over != "" && d.Over != Entities && d.Over != Records {
		c.fail("/over", "want entities or records")
	}
	if d.Store != InCell && d.Store != InMongoDB {
		c.fail("/store", "want mongodb, or nothing for the database of the cell")
	}
	c.groups()
	c.conditions()
	c.measures()
	if text, err := json.Marshal(d); err != nil || len(text) > maxText {
		c.fail("/rollup", "as JSON the definition has %d bytes, at most %d are allowed", len(text), maxText)
	}
	return c.found
}

func (c *checking) fail(pointer, format string, args ...any) {
	c.found = append(c.found, problem.New(pointer, "invalid", fmt.Sprintf(format, args...)))
}

// attribute checks a name and reports whether the attribute has many values.
func (c *checking) attribute(pointer, name string) (many bool) {
	switch {
	case name == attrSource:
		return c.Over != Records
	case name == attrOutcome:
		if c.Over != Records {
			c.fail(pointer, "only records have an outcome; say over: records")
		}
		return false
	case !attributeOK.MatchString(name):
		c.fail(pointer, "%.64q is no name of an attribute", name)
		return false
	case c.kind == nil:
		return false
	}
	many, known := c.kind.Many[name]
	if !known {
		c.fail(pointer, "kind %s has no attribute %s", c.kind.Name, name)
	}
	return many
}

func (c *checking) groups() {
	if len(c.Group) < 1 || len(c.Group) > maxAttributes {
		c.fail("/group", "want 1 to %d attributes", maxAttributes)
	}
	for i, name := range c.Group {
		c.attribute("/group", name)
		if slices.Contains(c.Group[:i], name) {
			c.fail("/group", "attribute %s is given twice", name)
		}
	}
	if c.Dimension != "" {
		if c.attribute("/dimension", c.Dimension) {
			c.fail("/dimension", "attribute %s has many values; a dimension divides a group, so it has one", c.Dimension)
		}
		if slices.Contains(c.Group, c.Dimension) {
			c.fail("/dimension", "attribute %s is already a grouping attribute", c.Dimension)
		}
	}
}

func (c *checking) conditions() {
	if len(c.Where) > maxConditions {
		c.fail("/where", "at most %d conditions, not %d", maxConditions, len(c.Where))
	}
	for i, w := range c.Where {
		at := problem.Pointer("where", w.Attribute)
		c.attribute(at, w.Attribute)
		if slices.ContainsFunc(c.Where[:i], func(v Condition) bool { return v.Attribute == w.Attribute }) {
			c.fail(at, "an attribute has one condition")
		}
		forms := 0
		for _, set := range []bool{len(w.Values) > 0, w.Min != "" || w.Max != "", w.Exists, w.Absent} {
			if set {
				forms++
			}
		}
		if forms != 1 {
			c.fail(at, "want one of: a value or a list of them, min and max, exists")
		}
		if slices.ContainsFunc(w.Values, func(v string) bool { return !utf8.ValidString(v) }) {
			c.fail(at, "a value is not UTF-8")
		}
		if len(w.Values) > maxValues {
			c.fail(at, "at most %d values, not %d", maxValues, len(w.Values))
		}
		for _, limit := range []string{w.Min, w.Max} {
			if _, ok := parseBound(limit); limit != "" && !ok {
				c.fail(at, "%.64q is neither a decimal number nor a date like 2026-11-20", limit)
			}
		}
		low, okLow := parseBound(w.Min)
		high, okHigh := parseBound(w.Max)
		if okLow && okHigh && low.date != high.date {
			c.fail(at, "min and max are both numbers or both dates")
		}
	}
}

func (c *checking) measures() {
	if len(c.Measures) > maxMeasures {
		c.fail("/measures", "at most %d, not %d", maxMeasures, len(c.Measures))
	}
	for i, m := range c.Measures {
		at := problem.Pointer("measures", m.Name)
		if !attributeOK.MatchString(m.Name) {
			c.fail(at, "want a name of a-z, 0-9 and _, at most 64, that begins with a letter")
		}
		if slices.ContainsFunc(c.Measures[:i], func(n Measure) bool { return n.Name == m.Name }) {
			c.fail(at, "the measure is given twice")
		}
		if !m.Func.known() {
			c.fail(at, "want count, or sum, avg, min, max, top or distinct with an attribute")
			continue
		}
		if c.external() && m.Func.multiset() {
			c.fail(at, "%s keeps every value by itself; a group in MongoDB is one document of counts, sums and averages: leave store: mongodb out, or the measure", m.Func)
		}
		if m.Func == Count && m.Attribute != "" {
			c.fail(at, "a count has no attribute")
		}
		if m.Func != Count {
			c.attribute(problem.Pointer("measures", m.Name, string(m.Func)), m.Attribute)
		}
		if m.Scale < 0 || m.Scale > maxScale || m.Scale > 0 && !m.Func.numeric() {
			c.fail(at+"/scale", "want 0 to %d digits after the point, of numbers only; sums of floats would depend on their order", maxScale)
		}
		if m.Func == Top && (m.K < 1 || m.K > maxTop) || m.Func != Top && m.K != 0 {
			c.fail(at+"/k", "want 1 to %d, for top only", maxTop)
		}
	}
}

func (f Func) known() bool {
	switch f {
	case Count, Sum, Avg, Min, Max, Top, Distinct:
		return true
	}
	return false
}
