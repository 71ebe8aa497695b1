// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"cmp"
	"slices"
	"strings"
)

// Merge adds up the parts of all cells in the order of the groups and returns at most limit groups; 0 is no
// limit. more reports whether further groups follow.
func Merge(d *Definition, parts []*Part, limit int) (groups []Group, more bool) {
	m := merging{d: d, measures: d.Measures, next: make([][]read, 0, len(parts))}
	// A cell with more groups has not returned the groups after its last one.
	horizon := ""
	for _, p := range parts {
		if m.next = append(m.next, p.groups); p.plain {
			m.measures = slices.DeleteFunc(slices.Clone(d.Measures), func(m Measure) bool { return m.Func.multiset() })
		}
		if last := len(p.groups) - 1; p.more && (!more || p.groups[last].key < horizon) {
			horizon, more = p.groups[last].key, true
		}
	}
	bounded, most := more, 0
	for _, next := range m.next {
		most = max(most, len(next))
	}
	groups = slices.Grow(groups, most)
	for {
		key, of := m.least()
		switch {
		case len(of) == 0, bounded && key > horizon:
			return groups, more
		case limit > 0 && len(groups) == limit:
			return groups, true
		}
		groups = append(groups, m.group(key, of))
	}
}

// merging iterates over the groups of all cells in parallel.
type merging struct {
	d        *Definition
	measures []Measure // that were read
	next     [][]read  // of each cell
	of       []*read   // parts of the current group
	slab     []Value   // preallocated values, not yet handed out
	slots    []Slot    // preallocated slots
	grown    int       // the size of the last slab
}

// more returns the size of the next allocation for parts of n: most answers are small, and a large one takes few.
func more(last *int, n, most int) int {
	*last = min(max(16, 2**last), most)
	return max(n, *last)
}

// least takes the next group and returns its part from each cell that has it.
func (m *merging) least() (key string, of []*read) {
	m.of = m.of[:0]
	found := false
	for _, next := range m.next {
		if len(next) > 0 && (!found || next[0].key < key) {
			key, found = next[0].key, true
		}
	}
	for i := range m.next {
		if len(m.next[i]) > 0 && m.next[i][0].key == key {
			m.of = append(m.of, &m.next[i][0])
			m.next[i] = m.next[i][1:]
		}
	}
	return key, m.of
}

// group adds up one group.
func (m *merging) group(key string, of []*read) Group {
	g := Group{Group: strings.Split(key, separator), Total: m.blank(), By: m.none(len(of[0].group))}
	for _, r := range of {
		for n := range r.group {
			s := &r.group[n]
			g.Skipped += s.slot[slotSkipped]
			var kept []map[string]int64
			if r.kept != nil {
				kept = r.kept[n]
			}
			g.Total.add(m.d, s.slot, kept)
			if m.d.Dimension != "" {
				m.slot(&g, s.value).add(m.d, s.slot, kept)
			}
		}
	}
	g.Total.settle()
	for i := range g.By {
		g.By[i].Values.settle()
	}
	return g
}

// slot returns the slot of a dimension value. The cells name them in order, so it is often the last.
func (m *merging) slot(g *Group, value string) Values {
	i, found := slices.BinarySearchFunc(g.By, value, func(s Slot, value string) int { return cmp.Compare(s.Value, value) })
	if !found {
		g.By = slices.Insert(g.By, i, Slot{Value: value, Values: m.blank()})
	}
	return g.By[i].Values
}

// none returns an empty slice with capacity n.
func (m *merging) none(n int) []Slot {
	if m.d.Dimension == "" {
		return []Slot{}
	}
	if len(m.slots) < n {
		m.slots = make([]Slot, more(&m.grown, n, 1024))
	}
	slots := m.slots[:0:n]
	m.slots = m.slots[n:]
	return slots
}

// blank returns zero values.
func (m *merging) blank() Values {
	n := len(m.measures)
	if len(m.slab) < n {
		m.slab = make([]Value, more(&m.grown, n, 4096))
	}
	vs := Values(m.slab[:n:n])
	m.slab = m.slab[n:]
	for i := range vs {
		vs[i].Measure = &m.measures[i]
	}
	return vs
}

// Largest returns the n groups with the largest total of a measure, largest first; ties are in the order of the
// groups.
func Largest(groups []Group, measure string, n int) []Group {
	value := func(g Group) Value { v, _ := g.Total.Get(measure); return v }
	slices.SortStableFunc(groups, func(a, b Group) int {
		return cmp.Or(compareRank(value(a), value(b)), slices.Compare(a.Group, b.Group))
	})
	return groups[:min(n, len(groups))]
}
