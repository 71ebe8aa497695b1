// SPDX-License-Identifier: Apache-2.0

package console

import (
	"cmp"
	"math"
	"slices"

	"github.com/locus-db/locus/rollup"
)

// columnsAtOnce is how many dimension values have their own column; the others share one.
const columnsAtOnce = 6

// groupTable lists groups: one measure with a column for each dimension value, and the totals of the others.
type groupTable struct {
	Names   []string // attributes of the groups
	Measure string   // the measure in the columns
	Columns []valueColumn
	Extra   []string // other measures
	Rows    []groupRow
	Left    []string // measures missing from this answer
}

// valueColumn is a column for a dimension value. Other is the column of the remaining ones; Text is "" for things
// without a value.
type valueColumn struct {
	Text  string
	Other bool
}

type groupRow struct {
	Link  string // also identifies the group
	Group []string
	Total amount
	By    []amount
	Extra []amount
}

// amount is a number and the filled part of its bar, 0 to 100; "" means no bar. Exact is it as a file has it.
type amount struct {
	Text, Bar string
	Exact     string
	Against   bool // negative
	Zero      bool
}

// newGroupTable lays out groups. by is the measure they are ordered by, if any; the answer then lacks the other
// measures that cannot be summed, see adds.
func newGroupTable(d *rollup.Definition, groups []rollup.Group, by string, link func([]string) string) *groupTable {
	t := &groupTable{Names: d.Group, Measure: by}
	if orders := Orders(d); by == "" && len(orders) > 0 {
		t.Measure = orders[0]
	} else if by == "" {
		t.Measure = d.Measures[0].Name
	}
	m, _ := d.Measure(t.Measure)
	for _, other := range d.Measures {
		switch {
		case other.Name == m.Name:
		case by != "" && !adds(other.Func):
			t.Left = append(t.Left, other.Name)
		default:
			t.Extra = append(t.Extra, other.Name)
		}
	}
	columns, rest := columnsOf(groups, m.Name)
	if t.Columns = columns; rest {
		t.Columns = append(t.Columns, valueColumn{Other: true})
	}
	var most, mostBy float64
	values := make([][]rollup.Value, len(groups))
	for i, g := range groups {
		total, _ := g.Total.Get(m.Name)
		most = max(most, math.Abs(worth(total)))
		values[i] = across(m, g, columns, rest)
		for _, v := range values[i][:len(columns)] { // not the rest, which would dwarf the others
			mostBy = max(mostBy, math.Abs(worth(v)))
		}
	}
	for i, g := range groups {
		total, _ := g.Total.Get(m.Name)
		row := groupRow{Link: link(g.Group), Group: g.Group, Total: newAmount(total, most)}
		for _, v := range values[i][:len(columns)] {
			row.By = append(row.By, newAmount(v, mostBy))
		}
		for _, v := range values[i][len(columns):] {
			row.By = append(row.By, newAmount(v, 0))
		}
		for _, name := range t.Extra {
			v, _ := g.Total.Get(name)
			row.Extra = append(row.Extra, newAmount(v, 0))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// columnsOf returns the dimension values that are largest over all groups, by name, things without a value last. rest
// reports whether there are others.
func columnsOf(groups []rollup.Group, measure string) (columns []valueColumn, rest bool) {
	sums := map[string]float64{}
	for _, g := range groups {
		for _, s := range g.By {
			v, _ := s.Values.Get(measure)
			sums[s.Value] += math.Abs(worth(v))
		}
	}
	var values []string
	for v := range sums {
		values = append(values, v)
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b)) })
	if rest = len(values) > columnsAtOnce; rest {
		values = values[:columnsAtOnce]
	}
	slices.SortFunc(values, func(a, b string) int {
		if a == "" || b == "" {
			return cmp.Compare(len(b), len(a))
		}
		return cmp.Compare(a, b)
	})
	for _, v := range values {
		columns = append(columns, valueColumn{Text: v})
	}
	return columns, rest
}

// across returns the values of a group by column, and the remainder of its total if others share a column.
func across(m rollup.Measure, g rollup.Group, columns []valueColumn, rest bool) []rollup.Value {
	var values []rollup.Value
	left, _ := g.Total.Get(m.Name)
	for _, c := range columns {
		v := rollup.Value{Measure: &m, None: !adds(m.Func) || m.Func == rollup.Avg}
		if i := slices.IndexFunc(g.By, func(s rollup.Slot) bool { return s.Value == c.Text }); i >= 0 {
			v, _ = g.By[i].Values.Get(m.Name)
		}
		left = less(left, v)
		values = append(values, v)
	}
	switch {
	case !rest:
	case adds(m.Func):
		values = append(values, left)
	default:
		values = append(values, rollup.Value{Measure: &m, None: true})
	}
	return values
}

// newAmount formats a value with a bar relative to the largest value; most of 0 means no bar.
func newAmount(v rollup.Value, most float64) amount {
	f := amount{Text: written(v), Exact: v.String()}
	n := worth(v)
	f.Zero, f.Against = n == 0 && v.Func != rollup.Top, n < 0
	if most > 0 {
		f.Bar = figure(100 * math.Abs(n) / most)
	}
	return f
}

// oneGroup is a group by dimension value, and the changes that affected it.
type oneGroup struct {
	Values      []string
	Dimension   string
	Measures    []string
	Rows        []slotRow
	Total       []amount
	Skipped     string
	Effects     []change
	Unexplained string
	Explain     string // the command to explain it
}

// slotRow is the row of a dimension value, "" for things without one.
type slotRow struct {
	Value   string
	Figures []amount
}

func (o *oneGroup) fill(d *rollup.Definition, g *rollup.Group) {
	if g.Skipped > 0 {
		o.Skipped = counted(g.Skipped, "value")
	}
	most := map[string]float64{}
	for _, s := range g.By {
		for _, v := range s.Values {
			most[v.Name] = max(most[v.Name], math.Abs(worth(v)))
		}
	}
	o.Measures = Orders(d)
	for _, m := range d.Measures {
		if !adds(m.Func) {
			o.Measures = append(o.Measures, m.Name)
		}
	}
	for _, name := range o.Measures {
		total, _ := g.Total.Get(name)
		o.Total = append(o.Total, newAmount(total, 0))
	}
	for _, s := range g.By {
		row := slotRow{Value: s.Value}
		for _, name := range o.Measures {
			v, _ := s.Values.Get(name)
			row.Figures = append(row.Figures, newAmount(v, most[name]))
		}
		o.Rows = append(o.Rows, row)
	}
}
