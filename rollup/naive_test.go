// SPDX-License-Identifier: Apache-2.0

package rollup_test

import (
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/rollup"
)

// The oracle computes a definition from scratch in the simplest way, without code of the package.

// heap collects the values of one slot.
type heap struct {
	things  int
	skipped int
	numbers map[string][]*big.Rat // by measure
	texts   map[string][]string
}

// naive returns a sorted line for each group and each of its slots.
func naive(d *rollup.Definition, things []changelog.Image) []string {
	heaps := map[string]map[string]*heap{}
	at := func(group, dimension string) *heap {
		if heaps[group] == nil {
			heaps[group] = map[string]*heap{}
		}
		if heaps[group][dimension] == nil {
			heaps[group][dimension] = &heap{numbers: map[string][]*big.Rat{}, texts: map[string][]string{}}
		}
		return heaps[group][dimension]
	}
	for _, im := range things {
		if im.Kind == d.Kind && !slices.ContainsFunc(d.Where, func(c rollup.Condition) bool { return !naiveHolds(c, naiveValues(im, c.Attribute)) }) {
			dimension := ""
			if values := naiveValues(im, d.Dimension); d.Dimension != "" && len(values) > 0 {
				dimension = values[0]
			}
			for _, group := range naiveGroups(im, d.Group) {
				at(group, dimension).add(d, im)
				if d.Dimension != "" {
					at(group, "total").add(d, im)
				}
			}
		}
	}
	var lines []string
	for _, group := range slices.Sorted(maps.Keys(heaps)) {
		for _, dimension := range slices.Sorted(maps.Keys(heaps[group])) {
			h := heaps[group][dimension]
			line := fmt.Sprintf("%s at %q:", group, dimension)
			for _, m := range d.Measures {
				line += " " + m.Name + "=" + h.says(m)
			}
			if d.Dimension == "" || dimension == "total" {
				line += fmt.Sprintf(" skipped %d", h.skipped)
			}
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

// shown returns the same lines for the groups of a rollup.
func shown(d *rollup.Definition, groups []rollup.Group) []string {
	var lines []string
	show := func(g rollup.Group, dimension string, values rollup.Values) string {
		line := fmt.Sprintf("%q at %q:", strings.Join(g.Group, " "), dimension)
		for _, v := range values {
			line += " " + v.Name + "=" + v.String()
		}
		return line
	}
	for _, g := range groups {
		for _, s := range g.By {
			lines = append(lines, show(g, s.Value, s.Values))
		}
		total := ""
		if d.Dimension != "" {
			total = "total"
		}
		lines = append(lines, show(g, total, g.Total)+fmt.Sprintf(" skipped %d", g.Skipped))
	}
	slices.Sort(lines)
	return lines
}

func naiveValues(im changelog.Image, attribute string) []string {
	switch {
	case attribute == "source":
		return im.Sources
	case attribute == "outcome" && im.Outcome != "":
		return []string{im.Outcome}
	default:
		return im.Attributes[attribute]
	}
}

// naiveGroups returns all combinations.
func naiveGroups(im changelog.Image, attributes []string) []string {
	all := map[string]bool{"": true}
	for i, a := range attributes {
		next := map[string]bool{}
		for group := range all {
			for _, v := range naiveValues(im, a) {
				if i == 0 {
					next[v] = true
				} else {
					next[group+" "+v] = true
				}
			}
		}
		all = next
	}
	if len(all) > rollup.Falls {
		return []string{strconv.Quote(strings.TrimSpace(strings.Repeat("… ", len(attributes))))}
	}
	var groups []string
	for group := range all {
		groups = append(groups, strconv.Quote(group))
	}
	return groups
}

var (
	naiveNumber = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
	naiveDate   = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})(T.*)?$`)
)

// naiveBound parses a number, or a date as a number of seconds.
func naiveBound(s string) (r *big.Rat, date, ok bool) {
	if naiveNumber.MatchString(s) {
		r, ok = new(big.Rat).SetString(s)
		return r, false, ok
	}
	if m := naiveDate.FindStringSubmatch(s); m != nil {
		day, err := time.Parse("2006-01-02", m[1])
		return new(big.Rat).SetInt64(day.Unix()), true, err == nil
	}
	return nil, false, false
}

func naiveHolds(c rollup.Condition, values []string) bool {
	for _, v := range values {
		is := c.Exists || slices.Contains(c.Values, v)
		if c.Min != "" || c.Max != "" {
			r, date, ok := naiveBound(v)
			is = ok
			if low, d, _ := naiveBound(c.Min); ok && c.Min != "" {
				is = is && d == date && low.Cmp(r) <= 0
			}
			if high, d, _ := naiveBound(c.Max); ok && c.Max != "" {
				is = is && d == date && r.Cmp(high) <= 0
			}
		}
		if is {
			return !c.Not
		}
	}
	return (c.Absent && len(values) == 0) != c.Not
}

func (h *heap) add(d *rollup.Definition, im changelog.Image) {
	h.things++
	for _, m := range d.Measures {
		seen := map[string]bool{}
		for _, v := range naiveValues(im, m.Attribute) {
			if m.Func == rollup.Count || seen[v] {
				continue
			}
			seen[v] = true
			if m.Func == rollup.Distinct {
				h.texts[m.Name] = append(h.texts[m.Name], v)
				continue
			}
			r, ok := new(big.Rat).SetString(v)
			if ok = ok && naiveNumber.MatchString(v); ok {
				units := new(big.Rat).Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(m.Scale)), nil)))
				ok = units.IsInt() && units.Num().IsInt64()
			}
			if ok {
				h.numbers[m.Name] = append(h.numbers[m.Name], r)
			} else {
				h.skipped++
			}
		}
	}
}

func (h *heap) says(m rollup.Measure) string {
	numbers := slices.Clone(h.numbers[m.Name])
	slices.SortFunc(numbers, (*big.Rat).Cmp)
	sum := new(big.Rat)
	for _, n := range numbers {
		sum.Add(sum, n)
	}
	switch {
	case m.Func == rollup.Count:
		return strconv.Itoa(h.things)
	case m.Func == rollup.Sum:
		return naiveText(sum, m.Scale)
	case m.Func == rollup.Distinct:
		texts := slices.Clone(h.texts[m.Name])
		slices.Sort(texts)
		return strconv.Itoa(len(slices.Compact(texts)))
	case len(numbers) == 0:
		return ""
	case m.Func == rollup.Avg:
		return naiveText(sum.Quo(sum, new(big.Rat).SetInt64(int64(len(numbers)))), m.Scale+6)
	case m.Func == rollup.Min:
		return naiveText(numbers[0], m.Scale)
	}
	slices.Reverse(numbers)
	k := max(m.K, 1)
	var texts []string
	for _, n := range numbers[:min(k, len(numbers))] {
		texts = append(texts, naiveText(n, m.Scale))
	}
	return strings.Join(texts, " ")
}

func naiveText(r *big.Rat, digits int) string {
	text := r.FloatString(digits)
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}
