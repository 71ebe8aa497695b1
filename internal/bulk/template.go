// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// template composes a value of an attribute of several columns, such as "{first} {last}".
type template struct {
	text      string // as it was written
	attribute string
	columns   []string
	before    []string // the text before each column
	after     string   // the text after the last one
}

// isTemplate reports whether what is renamed is no column, but a template of several.
func isTemplate(from string) bool { return strings.ContainsAny(from, "{}") }

var errTemplate = errors.New("want columns in braces, with text between them, as in '{first_name} {last_name}=name'")

// parseTemplate takes a template apart.
func parseTemplate(text, attribute string) (template, error) {
	t := template{text: text, attribute: attribute, after: text}
	for {
		before, rest, found := strings.Cut(t.after, "{")
		if !found {
			break
		}
		column, after, closed := strings.Cut(rest, "}")
		if column == "" || !closed || strings.Contains(column, "{") || strings.Contains(before, "}") {
			return t, errTemplate
		}
		t.columns, t.before, t.after = append(t.columns, column), append(t.before, before), after
	}
	if len(t.columns) == 0 || strings.Contains(t.after, "}") {
		return t, errTemplate
	}
	return t, nil
}

// compose fills the columns in. One that is empty vanishes with the text before it; so does text that would come
// first because of that, or last. Without any value the result is "".
func (t *template) compose(value func(column string) string) string {
	var b strings.Builder
	last := ""
	for i, column := range t.columns {
		if last = strings.TrimSpace(value(column)); last == "" {
			continue
		}
		if i == 0 || b.Len() > 0 {
			b.WriteString(t.before[i])
		}
		b.WriteString(last)
	}
	if last != "" {
		b.WriteString(t.after)
	}
	return strings.TrimSpace(b.String())
}

// meaning is what the columns of one file mean.
type meaning struct {
	*Columns
	made         []template // of Rename
	alternatives []Alternative
}

// meaning takes the templates among what is renamed apart, in the order of their texts.
func (c *Columns) meaning() (*meaning, error) {
	m := &meaning{Columns: c}
	for _, text := range slices.Sorted(maps.Keys(c.Rename)) {
		if !isTemplate(text) {
			continue
		}
		t, err := parseTemplate(text, c.Rename[text])
		if err != nil {
			return nil, fmt.Errorf("%.60q: %w", text, err)
		}
		if !slices.Contains(c.Attributes, t.attribute) && !slices.Contains(c.Others, t.attribute) {
			return nil, errors.New(c.noAttribute(text, t.attribute))
		}
		m.made = append(m.made, t)
	}
	return m, nil
}

// target is that of Columns, but for a column that is a part of a template: that says nothing else, unless its name is
// another attribute.
func (m *meaning) target(column string, mixed bool) (name, reason string) {
	name, reason = m.Columns.target(column, mixed)
	for _, t := range m.made {
		if slices.Contains(t.columns, column) && (name == skip || name == t.attribute) {
			return skip, ""
		}
	}
	return name, reason
}

// compose adds what the templates make of the values of a row to its attributes, and reports whether one of these had
// values before.
func (m *meaning) compose(row *Row, value func(column string) string) (again bool) {
	for i := range m.made {
		t := &m.made[i]
		if text := t.compose(value); text != "" {
			again = again || len(row.Attributes[t.attribute]) > 0
			row.Attributes[t.attribute] = append(row.Attributes[t.attribute], text)
		}
	}
	return again
}

// isPart reports whether a column is a part of a template.
func (m *meaning) isPart(column string) bool {
	return slices.ContainsFunc(m.made, func(t template) bool { return slices.Contains(t.columns, column) })
}
