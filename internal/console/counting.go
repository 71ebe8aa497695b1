// SPDX-License-Identifier: Apache-2.0

package console

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/rollup"
)

// counting is a rollup definition in words.
type counting struct {
	Over, Kind string
	Where      []clause
	Group      []string
	Dimension  string
	Measures   []string
}

// clause is a condition: an attribute and its required value.
type clause struct{ Attribute, Text string }

func newCounting(d *rollup.Definition) counting {
	c := counting{Over: string(cmp.Or(d.Over, rollup.Entities)), Kind: d.Kind, Group: d.Group, Dimension: d.Dimension}
	for i := range d.Where {
		c.Where = append(c.Where, clause{d.Where[i].Attribute, condition(&d.Where[i])})
	}
	for _, m := range d.Measures {
		c.Measures = append(c.Measures, measure(m))
	}
	return c
}

// shownValues is how many values of a condition are listed.
const shownValues = 5

func condition(c *rollup.Condition) string {
	is := "is "
	if c.Not {
		is = "is not "
	}
	switch {
	case c.Exists:
		return is + "present"
	case c.Absent:
		return is + "missing"
	case len(c.Values) > shownValues:
		return is + strings.Join(c.Values[:shownValues],
			", ") + " or one of " + count(int64(len(c.Values)-shownValues)) + " more"
	case len(c.Values) > 0:
		return is + strings.Join(c.Values, " or ")
	case c.Min == "":
		return is + "at most " + c.Max
	case c.Max == "":
		return is + "at least " + c.Min
	default:
		return is + "from " + c.Min + " to " + c.Max
	}
}

// measure describes a measure: "weight, the sum of weight_g".
func measure(m rollup.Measure) string {
	what := map[rollup.Func]string{
		rollup.Sum: "the sum of ", rollup.Avg: "the average ", rollup.Min: "the smallest ", rollup.Max: "the largest ",
		rollup.Distinct: "number of distinct values of ",
	}[m.Func]
	switch m.Func {
	case rollup.Count:
		what = "number"
	case rollup.Top:
		what = "the " + strconv.Itoa(m.K) + " largest "
	}
	return m.Name + ", " + what + m.Attribute
}

// example returns a command that defines a rollup for the schema.
func example(s *match.Schema) string {
	return "locus rollup define - <<'END'\n" + exampleYAML(s) + "END"
}

// exampleYAML returns a definition of a rollup for the schema, grouped by the first suitable attribute and divided
// by another: preferably the region, which has fewer values than a city.
func exampleYAML(s *match.Schema) string {
	group, dimension := "", ""
	for _, a := range s.Attributes {
		if group == "" && a.Tag {
			group = a.Name
		}
	}
	for _, a := range s.Attributes {
		switch {
		case group == "" && (a.Dimension || a.Many):
			group = a.Name
		case a.Dimension && a.Name != group && (dimension == "" || a.Role == match.RoleRegion):
			dimension = a.Name
		}
	}
	group = cmp.Or(group, "source")
	lines := []string{"rollup: " + s.Kind + "_by_" + group, "kind: " + s.Kind, "group: " + group}
	if dimension != "" {
		lines = append(lines, "dimension: "+dimension)
	}
	return strings.Join(append(lines, "measures: { number: count }", ""), "\n")
}

// written formats a value of a measure with grouped digits; "–" if there is none.
func written(v rollup.Value) string {
	text := v.String()
	if text == "" {
		return "–"
	}
	numbers := strings.Fields(text)
	for i, n := range numbers {
		numbers[i] = grouped(n)
	}
	return strings.Join(numbers, " · ")
}

// grouped groups the integer digits of a decimal number of any length by threes.
func grouped(number string) string {
	whole, frac, point := strings.Cut(strings.TrimPrefix(number, "-"), ".")
	var parts []string
	for len(whole) > 3 {
		parts = append(parts, whole[len(whole)-3:])
		whole = whole[:len(whole)-3]
	}
	parts = append(parts, whole)
	slices.Reverse(parts)
	text := strings.Join(parts, ",")
	if point {
		text += "." + frac
	}
	if strings.HasPrefix(number, "-") {
		text = "-" + text
	}
	return text
}

// worth returns a value as a number for drawing; 0 if there is none.
func worth(v rollup.Value) float64 {
	switch {
	case v.None, v.Func == rollup.Top:
		return 0
	case v.Func == rollup.Count, v.Func == rollup.Distinct:
		return float64(v.N)
	case v.Func == rollup.Avg:
		return v.Sum.Float() / float64(v.N)
	case v.Func == rollup.Sum:
		return v.Sum.Float()
	default:
		return float64(v.Number)
	}
}

// adds reports whether a function over a whole can be computed from its parts; the other functions need the values.
func adds(f rollup.Func) bool { return f == rollup.Count || f == rollup.Sum || f == rollup.Avg }

// less subtracts a part from its whole.
func less(v, part rollup.Value) rollup.Value {
	v.Sum, v.N = v.Sum.Plus(part.Sum.Negative()), v.N-part.N
	v.None = part.None && part.Func != rollup.Avg || v.Func == rollup.Avg && v.N == 0
	return v
}

// behind describes a lag.
func behind(lag time.Duration) string {
	switch {
	case lag <= 0:
		return "none"
	case lag < time.Second:
		return strconv.FormatInt(max(1, lag.Milliseconds()), 10) + " ms"
	case lag < time.Minute:
		return strconv.FormatFloat(lag.Truncate(100*time.Millisecond).Seconds(), 'f', 1, 64) + " s"
	case lag < 2*time.Hour:
		return strconv.Itoa(int(lag/time.Minute)) + " min"
	case lag < 48*time.Hour:
		return strconv.Itoa(int(lag/time.Hour)) + " h"
	default:
		return strconv.Itoa(int(lag/(24*time.Hour))) + " days"
	}
}

// verified says when something was last verified.
func verified(at time.Time) string {
	if at.IsZero() {
		return "not yet"
	}
	return moment(at)
}
