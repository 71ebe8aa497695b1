// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"errors"
	"slices"
	"strings"
)

// term is a part of an expression: one column, or a composition of several, such as "{first} {last}".
type term struct {
	text    string // as it was written
	columns []string
	before  []string // the text before each column of a composition, nil for a plain column
	after   string   // the text after the last one
	once    bool     // a value that stands before is left out
}

func (t *term) composed() bool { return t.before != nil }

var errComposition = errors.New("want columns in braces with text between them, as in '{first} {last}'")

// parseExpression splits an expression into terms. A name in columns is a column, whatever characters it has.
func parseExpression(text string, columns []string) ([]term, error) {
	if slices.Contains(columns, text) {
		return []term{{text: text, columns: []string{text}}}, nil
	}
	var terms []term
	for _, part := range splitTerms(text) {
		part = strings.TrimSpace(part)
		switch {
		case part == "":
			return nil, errors.New("a column is missing between two commas")
		case !strings.ContainsAny(part, "{}") || slices.Contains(columns, part):
			terms = append(terms, term{text: part, columns: []string{part}})
		default:
			t, err := parseComposition(part)
			if err != nil {
				return nil, err
			}
			terms = append(terms, t)
		}
	}
	return terms, nil
}

// splitTerms splits at the commas that are not within a composition. A composition begins with a brace and ends with
// the last one before a comma that a column follows.
func splitTerms(text string) []string {
	if strings.HasPrefix(strings.TrimSpace(text), "{") || strings.Contains(text, "}") {
		return []string{text}
	}
	return strings.Split(text, ",")
}

func parseComposition(text string) (term, error) {
	t := term{text: text, after: text}
	for {
		before, rest, found := strings.Cut(t.after, "{")
		if !found {
			break
		}
		column, after, closed := strings.Cut(rest, "}")
		if column == "" || !closed || strings.Contains(column, "{") || strings.Contains(before, "}") {
			return t, errComposition
		}
		t.columns, t.before, t.after = append(t.columns, column), append(t.before, before), after
	}
	if len(t.columns) == 0 || strings.Contains(t.after, "}") {
		return t, errComposition
	}
	return t, nil
}

// compose fills in the columns. An empty column is dropped with the text before it, and so is text that would then be
// first or last. Without any value the result is "".
func (t *term) compose(value func(column string) string) string {
	var b strings.Builder
	last := ""
	for i, column := range t.columns {
		if last = strings.TrimSpace(value(column)); last == "" || t.once && says(b.String(), last) {
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

// says reports whether a text has the words of a value side by side.
func says(text, value string) bool {
	return text != "" && strings.Contains(" "+foldValue(text)+" ", " "+foldValue(value)+" ")
}
