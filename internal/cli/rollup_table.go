// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
	"github.com/locus-db/locus/rollup"
)

const (
	// noValue labels things without a value of the dimension, total the whole group.
	noValue = "(none)"
	total   = "total"
	// maxAcross is how many dimension values a terminal shows side by side.
	maxAcross = 12
)

// groupsTable returns a table of groups. With a dimension, a single measure has a column for each dimension value and
// one for the total; several measures have a row for each. Without a dimension, each group is a row and each measure a
// column. rows forces rows, and a terminal also gets rows if there are too many columns; the format for programs does
// not depend on their number.
func groupsTable(d *rollup.Definition, groups []httpapi.RollupGroup, rows, terminal bool) *term.Table {
	names := make([]string, 0, len(d.Measures))
	for _, m := range d.Measures {
		names = append(names, m.Name)
	}
	switch {
	case d.Dimension != "" && len(names) == 1 && !rows:
		t := crossTable(d, names[0], groups)
		if terminal && len(t.Header) > len(d.Group)+maxAcross+1 {
			return longTable(d, names, groups)
		}
		return t
	case d.Dimension != "":
		return longTable(d, names, groups)
	}
	t := numbers(d.Group, names)
	for i := range groups {
		t.Add(append(slices.Clone(groups[i].Group), texts(groups[i].Total, names)...)...)
	}
	return t
}

// numbers returns a table of numbers with leading columns for labels.
func numbers(of, columns []string) *term.Table {
	t := &term.Table{Header: append(slices.Clone(of), columns...), Right: map[int]bool{}}
	for i := range columns {
		t.Right[len(of)+i] = true
	}
	return t
}

// crossTable has a column for each dimension value that occurs, in order.
func crossTable(d *rollup.Definition, measure string, groups []httpapi.RollupGroup) *term.Table {
	var columns []string
	none := false
	for i := range groups {
		for _, slot := range groups[i].By {
			if slot.Value == nil {
				none = true
			} else if at, there := slices.BinarySearch(columns, *slot.Value); !there {
				columns = slices.Insert(columns, at, *slot.Value)
			}
		}
	}
	shown := slices.Clone(columns)
	if none {
		shown = append(shown, noValue)
	}
	t := numbers(d.Group, append(shown, total))
	for i := range groups {
		g := &groups[i]
		row := make([]string, len(shown)+1)
		for _, slot := range g.By {
			at := len(columns)
			if slot.Value != nil {
				at, _ = slices.BinarySearch(columns, *slot.Value)
			}
			row[at] = text(slot.Values[measure])
		}
		row[len(shown)] = text(g.Total[measure])
		t.Add(append(slices.Clone(g.Group), row...)...)
	}
	return t
}

// longTable has a row for each dimension value.
func longTable(d *rollup.Definition, names []string, groups []httpapi.RollupGroup) *term.Table {
	t := numbers(append(slices.Clone(d.Group), d.Dimension), names)
	for i := range groups {
		g := &groups[i]
		row := func(value string, of httpapi.Measures) {
			t.Add(append(append(slices.Clone(g.Group), value), texts(of, names)...)...)
		}
		var without httpapi.Measures
		for _, slot := range g.By {
			if slot.Value == nil {
				without = slot.Values
			} else {
				row(*slot.Value, slot.Values)
			}
		}
		if without != nil {
			row(noValue, without)
		}
		row(total, g.Total)
	}
	return t
}

func texts(of httpapi.Measures, names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = text(of[name])
	}
	return all
}

// text formats a number or a list of numbers; null is empty.
func text(raw json.RawMessage) string {
	s := strings.TrimSpace(string(raw))
	if s == "null" {
		return ""
	}
	if list, ok := strings.CutPrefix(s, "["); ok {
		return strings.ReplaceAll(strings.TrimSuffix(list, "]"), ",", " ")
	}
	return s
}
