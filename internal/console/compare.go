// SPDX-License-Identifier: Apache-2.0

package console

import (
	"slices"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// only marks an attribute that only one of the two records has.
const only = "only"

// pairRow is one attribute of two records.
type pairRow struct {
	Attribute string
	A, B      []string
	State     string // how the values compare
}

// Words describes the state.
func (r pairRow) Words() string {
	switch r.State {
	case same:
		return "same"
	case spelled:
		return "same, spelled differently"
	case differs:
		return "differs"
	default:
		return "only in one"
	}
}

// pairRows lists the values of two records side by side, in the order of the schema. Attributes that the schema no
// longer declares come last.
func pairRows(schema *match.Schema, a, b *entity.Record) []pairRow {
	m := match.New(schema, nil)
	var names, rest []string
	for _, declared := range schema.Attributes {
		names = append(names, declared.Name)
	}
	for _, attributes := range []entity.Attributes{a.Attributes, b.Attributes} {
		for name := range attributes {
			if !slices.Contains(names, name) {
				rest = append(rest, name)
			}
		}
	}
	slices.Sort(rest)
	var rows []pairRow
	for _, name := range append(names, slices.Compact(rest)...) {
		if r := (pairRow{Attribute: name, A: a.Attributes[name], B: b.Attributes[name]}); len(r.A)+len(r.B) > 0 {
			r.State = compared(m, r)
			rows = append(rows, r)
		}
	}
	return rows
}

// compared compares the values of two records. Lists agree if they have a value in common.
func compared(m *match.Matcher, r pairRow) string {
	normal := func(raw string) string {
		if n := m.NormaliseValue(r.Attribute, raw); n != "" {
			return n
		}
		return raw
	}
	switch {
	case len(r.A) == 0 || len(r.B) == 0:
		return only
	case slices.Equal(r.A, r.B):
		return same
	}
	for _, a := range r.A {
		for _, b := range r.B {
			if normal(a) == normal(b) {
				return spelled
			}
		}
	}
	return differs
}
