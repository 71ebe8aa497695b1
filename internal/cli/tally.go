// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/internal/term"
)

// tally counts the rows of all files, the rejected ones, and the lines of the files that these take.
type tally struct {
	rows, refused, lines int64
	files                int
	causes               map[string]*caused
}

// caused counts the rows rejected for one cause, and locates the first.
type caused struct {
	rows, line int64
	file, unit string
}

func (t *tally) add(file, unit string, rows, refused, lines int64, causes bulk.Causes) {
	t.rows, t.refused, t.lines, t.files = t.rows+rows, t.refused+refused, t.lines+lines, t.files+1
	if t.causes == nil {
		t.causes = map[string]*caused{}
	}
	for cause, n := range causes {
		if t.causes[cause] == nil {
			t.causes[cause] = &caused{line: n.Line, file: file, unit: unit}
		}
		t.causes[cause].rows += n.Rows
	}
}

// failure returns the failure for rejected rows: in part, or in full if no row is left.
func (t *tally) failure(message, hint string) *failure {
	f := &failure{Code: "partly_refused", Message: message, Hint: hint, Exit: exitPartly}
	if t.refused == t.rows {
		f.Code, f.Exit = "refused", exitFailed
	}
	return f
}

// became describes the results; done is the word for accepted rows.
func (t *tally) became(done string) string {
	verb := func(n int64, one, many string) string {
		if n == 1 {
			return one
		}
		return many
	}
	others := t.rows - t.refused
	return fmt.Sprintf("%s %s refused%s, %s %s %s", t.size(), verb(t.refused, "was", "were"), t.because(),
		term.Count(others), verb(others, "is", "are"), done)
}

// size returns the number of rejected rows, and of their lines if there are more.
func (t *tally) size() string {
	text := counted(t.refused, "row", "rows")
	if t.lines > t.refused {
		text += fmt.Sprintf(" of %s lines", term.Count(t.lines))
	}
	return text
}

// mostCauses is how many causes are named in a message.
const mostCauses = 4

// because returns the causes in parentheses, the most frequent first, "" if there are none.
func (t *tally) because() string {
	names := slices.SortedFunc(maps.Keys(t.causes), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.causes[b].rows, t.causes[a].rows), cmp.Compare(a, b))
	})
	var parts []string
	for i, name := range names {
		c := t.causes[name]
		at := fmt.Sprintf("%s %d", c.unit, c.line)
		if t.files > 1 {
			at = fmt.Sprintf("%s %s %d", c.file, c.unit, c.line)
		}
		switch {
		case i == mostCauses:
			parts = append(parts, fmt.Sprintf("and %d other reasons", len(names)-i))
		case i > mostCauses:
		case t.refused == 1:
			parts = append(parts, at+": "+name)
		case c.rows == 1:
			parts = append(parts, fmt.Sprintf("1 %s, at %s", name, at))
		default:
			parts = append(parts, fmt.Sprintf("%s %s, first at %s", term.Count(c.rows), name, at))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}
