// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/definition"
)

// Definition defines a rollup. Parse reads it from YAML or JSON; Check completes one written in Go. Two
// definitions are equal if their canonical JSON is, regardless of the order of their parts.
type Definition struct {
	// Name is the rollup's name: [a-z][a-z0-9_-]{0,62}.
	Name string
	// Kind is the kind of the entities or records, such as place.
	Kind string
	// Over defaults to Entities.
	Over Over
	// Where lists conditions that must all hold.
	Where []Condition
	// Group lists the 1 to 3 attributes that form the groups. An attribute with many values adds an entity or
	// record to one group per value; several attributes form a group for each combination.
	Group []string
	// Dimension is a single-valued attribute that divides each group, or "".
	Dimension string
	// Measures defaults to one count.
	Measures []Measure
	// Store is where the groups are kept: InCell or InMongoDB.
	Store Place
}

// Place is a location for the groups of a rollup.
type Place string

// The places for groups. Changing the place changes the definition, so groups move to MongoDB or back by building
// a new generation.
const (
	InCell    Place = ""        // in the cell's database
	InMongoDB Place = "mongodb" // elsewhere, see Elsewhere: count, sum and avg only
)

// external reports whether the groups are kept Elsewhere.
func (d *Definition) external() bool { return d.Store != InCell }

// Over selects the things that a rollup counts.
type Over string

// The things that a rollup counts. Both have the attribute source; records also have outcome, created or matched.
const (
	Entities Over = "entities"
	Records  Over = "records"
)

// Attributes that every kind has.
const (
	attrSource  = "source"
	attrOutcome = "outcome"
)

// Condition tests one attribute, which may have only one condition. Exactly one of Values, Min or Max, Exists, and
// Absent is set. It holds if any of the attribute's values satisfies it; with Not, if none does.
type Condition struct {
	Attribute string
	Not       bool
	// Values matches any of these values, byte for byte.
	Values []string
	// Min and Max are decimal numbers or dates, both inclusive; "" means no limit. A value of another form does
	// not match.
	Min, Max string
	// Exists matches if the attribute has a value, Absent if it has none.
	Exists, Absent bool
}

// Measure is a number kept for each group.
type Measure struct {
	Name string
	Func Func
	// Attribute is measured; "" for a count.
	Attribute string
	// Scale is the number of digits after the decimal point, 0 to 9. A value with more digits, or one that is not
	// a number, is left out and counted as skipped.
	Scale int
	// K is the number of values that Top keeps, 1 to 100.
	K int
}

// Func is the function of a measure. Each distinct value of an attribute is measured once per entity or record.
type Func string

// The functions of measures.
const (
	Count    Func = "count"    // number of entities or records
	Sum      Func = "sum"      // sum of the values
	Avg      Func = "avg"      // average of the values
	Min      Func = "min"      // smallest value
	Max      Func = "max"      // largest value
	Top      Func = "top"      // the K largest values, with duplicates
	Distinct Func = "distinct" // number of different values
)

// numeric reports whether the function reads numbers.
func (f Func) numeric() bool { return f != Count && f != Distinct }

// multiset reports whether each value is stored with its number of occurrences, so that removing one leaves the
// next one known.
func (f Func) multiset() bool { return f == Min || f == Max || f == Top || f == Distinct }

// canonical returns the definition with defaults set and unordered lists sorted.
func (d Definition) canonical() Definition {
	d.Over = cmp.Or(d.Over, Entities)
	d.Where = slices.Clone(d.Where)
	for i := range d.Where {
		values := slices.Clone(d.Where[i].Values)
		slices.Sort(values)
		d.Where[i].Values = slices.Compact(values)
	}
	slices.SortStableFunc(d.Where, func(a, b Condition) int { return cmp.Compare(a.Attribute, b.Attribute) })
	if len(d.Measures) == 0 {
		d.Measures = []Measure{{Name: "count", Func: Count}}
	}
	d.Measures = slices.Clone(d.Measures)
	slices.SortFunc(d.Measures, func(a, b Measure) int { return cmp.Compare(a.Name, b.Name) })
	return d
}

// Equal reports whether two definitions are the same.
func (d Definition) Equal(e Definition) bool {
	a, errA := json.Marshal(d)
	b, errB := json.Marshal(e)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// MarshalJSON writes the form that Parse reads.
func (d Definition) MarshalJSON() ([]byte, error) {
	d = d.canonical()
	text := struct {
		Rollup    string         `json:"rollup"`
		Kind      string         `json:"kind"`
		Over      Over           `json:"over"`
		Where     map[string]any `json:"where,omitempty"`
		Group     []string       `json:"group"`
		Dimension string         `json:"dimension,omitempty"`
		Measures  map[string]any `json:"measures"`
		Store     Place          `json:"store,omitempty"`
	}{d.Name, d.Kind, d.Over, map[string]any{}, d.Group, d.Dimension, map[string]any{}, d.Store}
	for _, c := range d.Where {
		text.Where[c.Attribute] = c.text()
	}
	for _, m := range d.Measures {
		text.Measures[m.Name] = m.text()
	}
	b, err := json.Marshal(text)
	return definition.FromJSON(b), err
}

func (c Condition) text() any {
	var is any
	switch {
	case len(c.Values) == 1:
		is = c.Values[0]
	case len(c.Values) > 1:
		is = c.Values
	case c.Exists, c.Absent:
		is = map[string]any{"exists": c.Exists}
	default:
		limits := map[string]any{}
		if c.Min != "" {
			limits["min"] = c.Min
		}
		if c.Max != "" {
			limits["max"] = c.Max
		}
		is = limits
	}
	if c.Not {
		return map[string]any{"not": is}
	}
	return is
}

func (m Measure) text() any {
	if m.Func == Count {
		return string(Count)
	}
	text := map[string]any{string(m.Func): m.Attribute}
	if m.Scale != 0 {
		text["scale"] = m.Scale
	}
	if m.Func == Top {
		text["k"] = m.K
	}
	return text
}

// Attributes returns the kind's attributes that the definition reads, sorted.
func (d *Definition) Attributes() []string {
	names := slices.Clone(d.Group)
	if d.Dimension != "" {
		names = append(names, d.Dimension)
	}
	for _, c := range d.Where {
		names = append(names, c.Attribute)
	}
	for _, m := range d.Measures {
		if m.Attribute != "" {
			names = append(names, m.Attribute)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == attrSource || name == attrOutcome })
	slices.Sort(names)
	return slices.Compact(names)
}

// Images returns the images, with the attributes, that changes must carry for the definition.
func (d *Definition) Images() changelog.Images {
	if d.Over == Records {
		return changelog.Images{Records: d.Attributes()}
	}
	return changelog.Images{Entities: d.Attributes()}
}

// Measure returns the measure with a name.
func (d *Definition) Measure(name string) (Measure, bool) {
	i := slices.IndexFunc(d.Measures, func(m Measure) bool { return m.Name == name })
	if i < 0 {
		return Measure{}, false
	}
	return d.Measures[i], true
}
