// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locus-db/locus/internal/exchange"
	"github.com/locus-db/locus/match"
)

// mapping is the meaning of the columns of one file.
type mapping struct {
	source, kind string
	key          []string // columns
	hash         bool     // the key is HashKey
	set          []setting
	guess        map[string]string // attribute or reserved name by column
	said         []string          // columns whose meaning an option confirms
	observed     Observed
	zone         *time.Location
	null         map[string]bool
	spreadsheet  bool // see Options
	ignore       []string
	ignoreAll    bool
	unstored     bool // the source and the key may be missing
	lists        bool // columns such as phones[] contain lists

	attributes map[string]bool // by attribute name, whether it has many values
	others     map[string]bool // attributes of other kinds, allowed if the column "kind" names the kind of a row
	mixed      bool            // the column "kind" names the kind of a row
}

// setting is a parsed Assignment.
type setting struct {
	attribute string
	terms     []term
}

// useKind is the use of a column.
type useKind int

const (
	useAttribute useKind = iota
	useSource
	useKey
	useRowKind
	useObserved
	usePart // of a composition
)

// use is one use of a column.
type use struct {
	kind      useKind
	attribute string
	part      int // number of the part of the key
}

// reserved are the names that are not attributes.
var reserved = map[string]useKind{ColumnSource: useSource, ColumnKey: useKey, ColumnKind: useRowKind, ColumnObserved: useObserved}

// newMapping returns the mapping for a kind; others are the kinds of rows that name theirs.
func newMapping(o *Options, kind *match.Schema, others []*match.Schema, columns []string) (*mapping, error) {
	m := &mapping{
		source: o.Source, kind: o.Kind, observed: o.Observed, ignore: o.Ignore, ignoreAll: o.IgnoreUnknown || o.Unstored,
		unstored: o.Unstored, spreadsheet: o.Spreadsheet,
		guess: map[string]string{}, null: map[string]bool{}, attributes: map[string]bool{}, others: map[string]bool{}, zone: time.UTC,
	}
	for _, a := range kind.Attributes {
		m.attributes[a.Name] = a.Many
	}
	for _, other := range others {
		for _, a := range other.Attributes {
			m.others[a.Name] = a.Many
		}
	}
	m.mixed = m.kind == "" && slices.Contains(columns, ColumnKind) && !m.isAttribute(ColumnKind)
	for _, text := range o.Null {
		m.null[text] = true
	}
	if m.hash = slices.Equal(o.Key, []string{HashKey}); !m.hash {
		m.key = o.Key
	}
	if o.Observed.Zone != "" {
		zone, err := time.LoadLocation(o.Observed.Zone)
		if err != nil {
			return nil, fmt.Errorf("the zone %.40q of observed_at is not known", o.Observed.Zone)
		}
		m.zone = zone
	}
	for _, a := range o.Set {
		if o.Unstored && !anyOf(a, columns) {
			continue // the attribute may have another column in this file
		}
		if err := m.assign(a, columns); err != nil {
			return nil, err
		}
	}
	for _, c := range o.Composed {
		if !c.among(columns) {
			continue
		}
		if err := m.setTo(c.Assignment, c.term); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *mapping) isAttribute(name string) bool {
	if _, known := m.attributes[name]; known {
		return true
	}
	_, other := m.others[name]
	return other && m.mixed
}

// many reports whether an attribute can have several values.
func (m *mapping) many(attribute string) bool { return m.attributes[attribute] || m.others[attribute] }

// assignReserved sets the key, the source, the kind or the time from columns.
func (m *mapping) assignReserved(a Assignment, terms []term) error {
	for _, t := range terms {
		if t.composed() || len(terms) > 1 && a.Attribute != ColumnKey {
			return fmt.Errorf("--set %.80q: the %s is a column, not a composition", a.String(), a.Attribute)
		}
		switch name := t.columns[0]; reserved[a.Attribute] {
		case useKey:
			m.key = append(slices.Clone(m.key), name)
		case useObserved:
			m.observed.Column = name
		default:
			m.guess[name], m.said = a.Attribute, append(m.said, name)
		}
	}
	return nil
}

func (m *mapping) assign(a Assignment, columns []string) error {
	terms, err := parseExpression(a.Expression, columns)
	if err != nil {
		return fmt.Errorf("--set %.80q: %w", a.String(), err)
	}
	if kind, ok := reserved[a.Attribute]; ok && !m.isAttribute(a.Attribute) && kind != useAttribute {
		return m.assignReserved(a, terms)
	}
	return m.setTo(a, terms...)
}

// setTo sets an attribute to the parsed terms of an assignment, beside others.
func (m *mapping) setTo(a Assignment, terms ...term) error {
	if !m.isAttribute(a.Attribute) {
		return fmt.Errorf("--set %.80q: %s", a.String(), m.noAttribute(a.Attribute))
	}
	i := slices.IndexFunc(m.set, func(s setting) bool { return s.attribute == a.Attribute })
	if i < 0 {
		i = len(m.set)
		m.set = append(m.set, setting{attribute: a.Attribute})
	}
	s := &m.set[i]
	if s.terms = append(s.terms, terms...); len(s.terms) > 1 && !m.many(a.Attribute) {
		names := make([]string, len(s.terms))
		for i, t := range s.terms {
			if names[i] = "{" + t.text + "}"; t.composed() {
				names[i] = t.text
			}
		}
		return fmt.Errorf("%s has one value, and %d columns are set to it; compose it of them: --set '%s=%s'", a.Attribute, len(s.terms), a.Attribute, strings.Join(names, " "))
	}
	return nil
}

// anyOf reports whether an assignment names one of the columns, or cannot be parsed.
func anyOf(a Assignment, columns []string) bool {
	terms, err := parseExpression(a.Expression, columns)
	return err != nil || slices.ContainsFunc(terms, func(t term) bool {
		return slices.ContainsFunc(t.columns, func(name string) bool { return slices.Contains(columns, name) })
	})
}

func (m *mapping) isSet(attribute string) bool {
	return slices.ContainsFunc(m.set, func(s setting) bool { return s.attribute == attribute })
}

// resolve returns the uses of a column. reason says why a column has none.
func (m *mapping) resolve(name string) (uses []use, reason string) {
	for i, key := range m.key {
		if key == name {
			uses = append(uses, use{kind: useKey, part: i})
		}
	}
	if m.observed.Column == name && name != "" {
		uses = append(uses, use{kind: useObserved})
	}
	for _, s := range m.set {
		for _, t := range s.terms {
			switch {
			case !slices.Contains(t.columns, name):
			case t.composed():
				uses = append(uses, use{kind: usePart, attribute: s.attribute})
			default:
				uses = append(uses, use{kind: useAttribute, attribute: s.attribute})
			}
		}
	}
	if !m.isSet(name) && m.isAttribute(name) {
		return append(uses, use{kind: useAttribute, attribute: name}), ""
	}
	if attribute := m.list(name); attribute != "" {
		return []use{{kind: useAttribute, attribute: attribute}}, ""
	}
	to := cmp.Or(m.guess[name], name)
	kind, isReserved := reserved[to]
	switch {
	case kind == useKey && (m.hash || len(m.key) > 0), isReserved && kind == useObserved && m.observed.Column != "":
		isReserved = false
	case kind == useSource && m.source != "", kind == useRowKind && m.kind != "":
		return uses, ""
	}
	switch {
	case isReserved:
		return append(uses, use{kind: kind}), ""
	case len(uses) > 0:
		return uses, ""
	case m.guess[name] != "":
		return []use{{kind: useAttribute, attribute: to}}, ""
	case m.ignoreAll, slices.Contains(m.ignore, name):
		return nil, ""
	}
	return nil, m.noColumn(name)
}

// list returns the attribute whose values a CSV column holds as lists, as in exports: phones for phones[]. It returns
// "" for any other column, and for one that an option names.
func (m *mapping) list(name string) string {
	header := exchange.ParseHeader(name)
	if !m.lists || !header.Many || !m.isAttribute(header.Name) || m.isSet(header.Name) || slices.Contains(m.named(), name) {
		return ""
	}
	return header.Name
}

// noColumn returns why a column means nothing.
func (m *mapping) noColumn(name string) string {
	if m.isSet(name) {
		return fmt.Sprintf("column %.60q is left out, since --set names other columns for that attribute", name)
	}
	return "column " + m.noAttribute(name)
}

func (m *mapping) noAttribute(name string) string {
	reason := fmt.Sprintf("%.60q is no attribute", name)
	names := make([]string, 0, len(m.attributes))
	for attribute := range m.attributes {
		names = append(names, attribute)
	}
	slices.Sort(names)
	if near := Nearest(name, names); near != "" {
		reason += fmt.Sprintf("; did you mean %s?", near)
	}
	return reason
}

// named returns the columns that the mapping needs and did not guess.
func (m *mapping) named() []string {
	names := append(slices.Clone(m.said), m.key...)
	if m.observed.Column != "" {
		names = append(names, m.observed.Column)
	}
	for _, s := range m.set {
		for _, t := range s.terms {
			names = append(names, t.columns...)
		}
	}
	return names
}
