// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/exchange"
)

// Names of columns that are not attributes.
const (
	ColumnSource   = "source"
	ColumnKey      = "key"
	ColumnObserved = "observed_at"
	ColumnKind     = "kind"
)

// Columns describes the columns of a file.
type Columns struct {
	// Source is the source of every row; "" takes it from the column "source".
	Source string
	// Key is the name of the key column. Defaults to "key".
	Key string
	// Keyless allows files and rows without a key; Row.Key is then "".
	Keyless bool
	// Rename maps columns to attributes. Several columns may share an attribute, which then has several values. A
	// template with columns in braces, such as "{first} {last}", composes one value from them.
	Rename map[string]string
	// Kind is the kind of every row; "" takes it from the column "kind", if there is one.
	Kind string
	// Attributes are the names of the kind's attributes. Others are those of other kinds, which are allowed in a file
	// whose column "kind" may name these kinds.
	Attributes, Others []string
	// Many are the attributes that can have several values. For any other, a second value is an alternative; see
	// Reader.Alternatives.
	Many []string
	// NoRefs accepts rows without a source or a key, which are matched and not stored.
	NoRefs bool
	// IgnoreUnknown skips unknown columns instead of rejecting the file.
	IgnoreUnknown bool
}

// skip is the target of a skipped column.
const skip = ""

// isKind reports whether the column "kind" names the kind of a row, and is not an attribute.
func (c *Columns) isKind() bool { return !slices.Contains(c.Attributes, ColumnKind) }

// mixed reports whether rows may be of any kind because there is a column "kind", and may have attributes of any kind.
func (c *Columns) mixed(hasKind bool) bool { return hasKind && c.Kind == "" && c.isKind() }

// target returns what a column means: one of the four names above, an attribute, or skip. The reason is set if it is
// none of these.
func (c *Columns) target(column string, mixed bool) (name, reason string) {
	key := cmp.Or(c.Key, ColumnKey)
	name, renamed := c.Rename[column]
	if !renamed || isTemplate(column) {
		name = column
		switch {
		case column == key:
			return ColumnKey, ""
		case column == ColumnKey:
			// This is the source's own column "key", but another column was chosen as the key.
			return c.unknown(column, name)
		}
	}
	switch {
	case name == ColumnSource && c.Source != "":
		return skip, ""
	case name == ColumnKind && c.Kind != "" && c.isKind():
		return skip, ""
	case name == ColumnSource, name == ColumnKey, name == ColumnKind, name == ColumnObserved, slices.Contains(c.Attributes, name),
		mixed && slices.Contains(c.Others, name):
		return name, ""
	}
	return c.unknown(column, name)
}

func (c *Columns) unknown(column, name string) (string, string) {
	if c.IgnoreUnknown {
		return skip, ""
	}
	return skip, c.noAttribute(column, name)
}

// noAttribute returns the reason to reject a name.
func (c *Columns) noAttribute(column, name string) string {
	reason := fmt.Sprintf("column %.60q is no attribute", column)
	if name != column {
		reason = fmt.Sprintf("column %.60q is mapped to %.60q, which is no attribute", column, name)
	}
	if near := Nearest(name, c.Attributes); near != "" {
		reason += fmt.Sprintf("; did you mean %s?", near)
	}
	return reason
}

// list returns the name of a CSV column and reports whether its fields are lists, as an export writes them: phones[] are
// those of phones. A column that is renamed is taken by its whole name.
func (c *Columns) list(column string) (name string, many bool) {
	if _, renamed := c.Rename[column]; renamed {
		return column, false
	}
	header := exchange.ParseHeader(column)
	return header.Name, header.Many
}

// unmapped returns the reason to reject a file without the columns it needs, "" if it has them. Mappings without a
// column in the file show that they were written the wrong way round.
func (c *meaning) unmapped(header []string) string {
	for _, t := range c.made {
		for _, column := range t.columns {
			if !slices.Contains(header, column) {
				return fmt.Sprintf("there is no column %.60q, of which %.60q is to be composed", column, t.text)
			}
		}
	}
	for from, to := range c.Rename {
		if slices.Contains(header, from) || isTemplate(from) {
			continue
		}
		if slices.Contains(header, to) {
			return fmt.Sprintf("there is no column %.60q to be mapped to %.60q; is it the other way round, --map %s=%s?", from, to, to, from)
		}
		return fmt.Sprintf("there is no column %.60q to be mapped", from)
	}
	return ""
}

// Nearest returns the name that a misspelt one probably means, "" if none is close.
func Nearest(name string, names []string) string {
	best, nearest := min(3, len(name)), ""
	for _, candidate := range names {
		d := distance(strings.ToLower(name), candidate)
		if strings.HasPrefix(candidate, name) || strings.HasPrefix(name, candidate) {
			d = min(d, 2)
		}
		if d < best {
			best, nearest = d, candidate
		}
	}
	return nearest
}

// distance returns the number of bytes to insert, delete, replace or swap with their neighbour.
func distance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
