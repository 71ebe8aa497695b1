// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// template composes a value of an attribute from several columns, such as "{first} {last}".
type template struct {
	text      string // as it was written
	attribute string
	columns   []string
	before    []string // the text before each column
	after     string   // the text after the last one
}

// isTemplate reports whether the left side of a mapping is a template, not a column.
func isTemplate(from string) bool { return strings.ContainsAny(from, "{}") }

var errTemplate = errors.New("want columns in braces, with text between them, as in '{first_name} {last_name}=name'")

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

// compose fills in the columns. An empty column is dropped with the text before it, and so is text that would then be
// first or last. Without any value the result is "".
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

// meaning adds the parsed templates to the Columns of one file.
type meaning struct {
	*Columns
	made         []template // from Rename
	alternatives []Alternative
}

// meaning parses the templates in Rename, sorted by text.
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

// target is Columns.target, but a column that is part of a template has no other meaning, unless its name is another
// attribute.
func (m *meaning) target(column string, mixed bool) (name, reason string) {
	name, reason = m.Columns.target(column, mixed)
	for _, t := range m.made {
		if slices.Contains(t.columns, column) && (name == skip || name == t.attribute) {
			return skip, ""
		}
	}
	return name, reason
}

// compose adds the results of the templates to the attributes of a row, and reports whether one of these attributes
// already had values.
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

func (m *meaning) isPart(column string) bool {
	return slices.ContainsFunc(m.made, func(t template) bool { return slices.Contains(t.columns, column) })
}
