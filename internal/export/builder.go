// SPDX-License-Identifier: Apache-2.0

package export

import (
	"slices"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/internal/problem"
	"github.com/locus-db/locus/match"
)

// builder builds the columns of a table, then its rows, one at a time.
type builder struct {
	db      *locus.DB
	query   Query
	columns []exchange.Column
	usual   int // how many columns a table has unless some are named

	at     map[string]int    // positions of the chosen columns that are not attributes
	of     map[string]int    // positions of the chosen attributes
	names  map[string]string // columns of attributes, where they differ from the attribute's name
	row    exchange.Row
	values []string // a place for the single value of each column
}

// fixed adds columns of single texts.
func (b *builder) fixed(names ...string) {
	for _, name := range names {
		b.columns = append(b.columns, exchange.Column{Name: name})
	}
}

// op adds the column op of a table since a watermark, and another column that such a table has.
func (b *builder) op(other string) {
	if b.query.Since != nil {
		b.fixed(columnOp, other)
	}
}

// attributes adds the attributes of kinds, each once. An attribute that has many values in any kind becomes a list. One
// with the name of another column is called attributes.NAME.
func (b *builder) attributes(kinds []*match.Schema) {
	own := len(b.columns)
	taken := []string{columnEntity, columnPUID, columnVersion}
	for _, c := range b.columns {
		taken = append(taken, c.Name)
	}
	b.names = map[string]string{}
	for _, kind := range kinds {
		for _, a := range kind.Attributes {
			if slices.Contains(b.query.Hide, a.Name) {
				continue
			}
			name := a.Name
			if slices.Contains(taken, name) {
				name = "attributes." + name
				b.names[a.Name] = name
			}
			i := slices.IndexFunc(b.columns[own:], func(c exchange.Column) bool { return c.Name == name })
			if i < 0 {
				b.columns = append(b.columns, exchange.Column{Name: name, Many: a.Many})
			} else if a.Many {
				b.columns[own+i].Many = true
			}
		}
	}
	b.of = map[string]int{}
	for _, c := range b.columns[own:] {
		b.of[c.Name] = -1
	}
	for attribute, name := range b.names {
		delete(b.of, name)
		b.of[attribute] = -1
	}
}

// choose reduces the columns to those of the query and prepares the row.
func (b *builder) choose(t *Table) error {
	t.Columns = b.columns[:b.usual]
	if b.query.Columns != nil {
		var names []string
		for _, name := range b.query.Columns {
			if name != UsualColumns {
				names = append(names, name)
				continue
			}
			for _, c := range t.Columns {
				if !slices.Contains(b.query.Columns, c.Name) {
					names = append(names, c.Name)
				}
			}
		}
		chosen, _, err := exchange.Select(b.columns, names)
		if err != nil {
			return problem.Invalid("/columns", "invalid", "%v", err)
		}
		t.Columns = chosen
	}
	t.Columns = slices.Clone(t.Columns)
	b.at = map[string]int{}
	attribute := map[string]string{}
	for name := range b.of {
		column := name
		if other, differs := b.names[name]; differs {
			column = other
		}
		attribute[column] = name
	}
	for i, c := range t.Columns {
		if name, is := attribute[c.Name]; is {
			b.of[name] = i
		} else {
			b.at[c.Name] = i
		}
	}
	b.row, b.values = make(exchange.Row, len(t.Columns)), make([]string, len(t.Columns))
	return nil
}

// begin empties the row.
func (b *builder) begin() { clear(b.row) }

// set sets the single value of a column, if it is chosen and there is one.
func (b *builder) set(column, value string) {
	if i, chosen := b.at[column]; chosen && value != "" {
		b.values[i] = value
		b.row[i] = b.values[i : i+1 : i+1]
	}
}

// setAttribute sets the values of an attribute, if it is chosen.
func (b *builder) setAttribute(name string, values []string) {
	if i, known := b.of[name]; known && i >= 0 {
		b.row[i] = values
	}
}

// instant returns a time as tables have it: RFC 3339 in UTC, to the millisecond.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
