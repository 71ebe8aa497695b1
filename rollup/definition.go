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

// Definition says what is counted. Parse makes one of YAML or JSON; in Go it is written down, and Check
// completes it. Two definitions are the same if their texts are, whatever order they were written in.
type Definition struct {
	// Name of the rollup: [a-z][a-z0-9_-]{0,62}.
	Name string
	// Kind of the things, such as place.
	Kind string
	// Over is Entities unless it says Records.
	Over Over
	// Where are conditions that all hold for what is counted.
	Where []Condition
	// Group are the attributes that make the groups, 1 to 3. One with many values puts a thing into a
	// group for each of them; several make a group of each combination.
	Group []string
	// Dimension is an attribute with one value, which divides each group, or "".
	Dimension string
	// Measures are what is kept of each group; none means one count.
	Measures []Measure
	// Store is where the groups are kept: InCell, or InMongoDB.
	Store Place
}

// Place is where the groups of a rollup are kept.
type Place string

// Where groups are kept. Another place is another definition, so groups go over to MongoDB, and back, as one
// generation takes the place of another.
const (
	InCell    Place = ""        // in the database of the cell, beside what is counted
	InMongoDB Place = "mongodb" // in documents, see Documents: count, sum and avg only
)

// apart tells whether the groups are kept in documents.
func (d *Definition) apart() bool { return d.Store != InCell }

// Over says what a rollup counts.
type Over string

// What a rollup counts. Both have the attribute source; records have outcome too, founded or joined.
const (
	Entities Over = "entities"
	Records  Over = "records"
)

// Attributes that are no attributes of the kind.
const (
	attrSource  = "source"
	attrOutcome = "outcome"
)

// Condition is about one attribute. Of Values, Min with Max, and Exists one is set. It holds if it holds
// for one of the attribute's values; with Not, if it holds for none.
type Condition struct {
	Attribute string
	Not       bool
	// Values are those of which one must be there, byte for byte.
	Values []string
	// Min and Max are decimal numbers or dates, both inclusive; "" is no limit. A value that is not of
	// that form is in no such range.
	Min, Max string
	// Exists asks for any value, Absent for none.
	Exists, Absent bool
}

// Measure is a number kept of a group.
type Measure struct {
	Name string
	Func Func
	// Attribute that is measured; "" for a count.
	Attribute string
	// Scale is how many digits after the decimal point the numbers have, 0 to 9. A value with more, or
	// one that is no number, is left out and counted as skipped.
	Scale int
	// K is how many values Top keeps, 1 to 100.
	K int
}

// Func is what a measure does with its values: each distinct value of an attribute once for each thing.
type Func string

// The functions of measures.
const (
	Count    Func = "count"    // how many things
	Sum      Func = "sum"      // of the values
	Avg      Func = "avg"      // of the values
	Min      Func = "min"      // the smallest value
	Max      Func = "max"      // the largest value
	Top      Func = "top"      // the K largest values, those that are there twice twice
	Distinct Func = "distinct" // how many different values
)

// numeric tells whether the function reads numbers.
func (f Func) numeric() bool { return f != Count && f != Distinct }

// multiset tells whether the values themselves are kept, because one that goes away must leave the
// next one known.
func (f Func) multiset() bool { return f == Min || f == Max || f == Top || f == Distinct }

// canonical is the definition with its defaults, and with all that has no order in order.
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

// Equal tells whether two definitions are the same.
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

// UnmarshalJSON reads what Parse reads.
func (d *Definition) UnmarshalJSON(text []byte) error {
	parsed, err := Parse(text)
	if err == nil {
		*d = *parsed
	}
	return err
}

// attributes are those of the kind that are read, in order.
func (d *Definition) attributes() []string {
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

// Images are those that changes must carry for it, with the attributes that it reads.
func (d *Definition) Images() changelog.Images {
	if d.Over == Records {
		return changelog.Images{Records: d.attributes()}
	}
	return changelog.Images{Entities: d.attributes()}
}

// Measure answers with the measure of a name.
func (d *Definition) Measure(name string) (Measure, bool) {
	i := slices.IndexFunc(d.Measures, func(m Measure) bool { return m.Name == name })
	if i < 0 {
		return Measure{}, false
	}
	return d.Measures[i], true
}
