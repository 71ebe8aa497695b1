// SPDX-License-Identifier: Apache-2.0

package rollup

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/locus-db/locus/changelog"
)

// slot holds the values of one group at one dimension value: the number of entities or records, the number of
// skipped values, then the numbers of the measures in order. A sum takes two (the halves of an Int128), an
// average also its count, the other functions none. All numbers commute, so the order of changes does not matter.
type slot []int64

// sum returns the sum stored at an index.
func (s slot) sum(at int) Int128 { return Int128{s[at], s[at+1]} }

func (s slot) addSum(at int, t Int128) {
	t = s.sum(at).Plus(t)
	s[at], s[at+1] = t.High, t.Low
}

// addSlot adds other to s.
func (d *Definition) addSlot(s, other slot) {
	s[slotCount] += other[slotCount]
	s[slotSkipped] += other[slotSkipped]
	at := slotNumbers
	for _, m := range d.Measures {
		if m.Func == Sum || m.Func == Avg {
			s.addSum(at, other.sum(at))
		}
		if m.Func == Avg {
			s[at+2] += other[at+2]
		}
		at += m.numbers()
	}
}

// less returns the negative of a slot.
func (d *Definition) less(s slot) slot {
	less := make(slot, len(s))
	less[slotCount], less[slotSkipped] = -s[slotCount], -s[slotSkipped]
	at := slotNumbers
	for _, m := range d.Measures {
		if m.Func == Sum || m.Func == Avg {
			less.addSum(at, s.sum(at).Negative())
		}
		if m.Func == Avg {
			less[at+2] = -s[at+2]
		}
		at += m.numbers()
	}
	return less
}

const (
	slotCount   = iota // entities or records
	slotSkipped        // values that are not numbers
	slotNumbers        // first number of the measures
)

// width returns the number of int64s in a slot.
func (d *Definition) width() int {
	n := slotNumbers
	for _, m := range d.Measures {
		n += m.numbers()
	}
	return n
}

// numbers returns the number of int64s that a measure takes in a slot.
func (m Measure) numbers() int {
	switch m.Func {
	case Sum:
		return 2
	case Avg:
		return 3
	default:
		return 0
	}
}

// group is one group: its slots in the order of their dimension values.
type group []dimensioned

// dimensioned is a slot with its dimension value, "" for none.
type dimensioned struct {
	value string
	slot  slot
}

// at returns the slot of a dimension value, and inserts an empty one if it is missing.
func (g *group) at(value string, width int) slot {
	i, found := slices.BinarySearchFunc(*g, value, func(s dimensioned, value string) int {
		return strings.Compare(s.value, value)
	})
	if !found {
		*g = slices.Insert(*g, i, dimensioned{value, make(slot, width)})
	}
	return (*g)[i].slot
}

// delta is a sum of images with signs: the effect of a batch of changes on a generation.
type delta struct {
	*Definition
	wide   int               // length of a slot
	groups map[string]*group // by group key
	// values counts the occurrences of each value of the multiset measures, by row key.
	values map[string]int64
}

func newDelta(d *Definition) *delta {
	return &delta{Definition: d, wide: d.width(), groups: map[string]*group{}, values: map[string]int64{}}
}

// change subtracts the image before and adds the one after.
func (dl *delta) change(c *changelog.Change) {
	if c.Kind.OfRecord() == (dl.Over == Records) {
		dl.add(c.Was, -1)
		dl.add(c.Is, 1)
	}
}

// add adds an image with a sign: times is 1 or -1.
func (dl *delta) add(im *changelog.Image, times int64) {
	if im != nil && im.Kind != dl.Kind {
		return
	}
	var m measured
	read := false
	dl.Expand(im, func(of []string, dimension string) {
		if !read {
			m, read = dl.read(im), true
		}
		key := groupKey(of)
		g := dl.groups[key]
		if g == nil {
			g = &group{}
			dl.groups[key] = g
		}
		dl.addTo(g.at(dimension, dl.wide), key, dimension, &m, times)
	})
}

func (dl *delta) addTo(s slot, key, dimension string, m *measured, sign int64) {
	s[slotCount] += sign
	s[slotSkipped] += sign * m.skipped
	at := slotNumbers
	for i, measure := range dl.Measures {
		for _, n := range m.of[i].numbers {
			if measure.Func.multiset() {
				dl.values[valueKey(key, dimension, i, string(appendOrdered(nil, n)))] += sign
				continue
			}
			s.addSum(at, NewInt128(n).times(sign))
		}
		if measure.Func == Avg {
			s[at+2] += sign * int64(len(m.of[i].numbers))
		}
		for _, text := range m.of[i].texts {
			dl.values[valueKey(key, dimension, i, shorten(text))] += sign
		}
		at += measure.numbers()
	}
}

// Rows of a generation hold groups or values. The separator divides the parts of a key; the definition fixes
// their number, so a key can be parsed.
//
//	g city \x00 category                                      slots of the group
//	v city \x00 category \x00 dimension \x00 measure value    how many times the group has the value
const (
	rowGroup = "g"
	rowValue = "v"
)

func valueKey(group, dimension string, measure int, value string) string {
	return valuePrefix(group, dimension, measure) + value
}

// valuePrefix returns the common key prefix of all values of a measure.
func valuePrefix(group, dimension string, measure int) string {
	return rowValue + group + separator + dimension + separator + string([]byte{byte(measure)})
}

// shown formats a group key for people.
func shown(key string) string { return strings.ReplaceAll(key, separator, " / ") }

// keys returns the keys of all rows that the delta changes, sorted.
func (dl *delta) keys() [][]byte {
	keys := make([][]byte, 0, len(dl.groups)+len(dl.values))
	for key := range dl.groups {
		keys = append(keys, []byte(rowGroup+key))
	}
	for key, n := range dl.values {
		if n != 0 {
			keys = append(keys, []byte(key))
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	return keys
}

// apply computes new rows from the rows stored under keys, and the net number of groups added. It returns an error if a
// count would become negative, which means that the generation is wrong.
func (dl *delta) apply(keys, stored [][]byte) (rows []Row, groups int64, err error) {
	for i, key := range keys {
		var body []byte
		if string(key[:1]) == rowGroup {
			body, err = dl.applyGroup(string(key[1:]), *dl.groups[string(key[1:])], stored[i])
		} else {
			body, err = dl.applyValue(string(key), stored[i])
		}
		if err != nil {
			return nil, 0, err
		}
		if bytes.Equal(body, stored[i]) {
			continue
		}
		if string(key[:1]) == rowGroup {
			groups += count(body != nil) - count(stored[i] != nil)
		}
		rows = append(rows, Row{Key: key, Body: body})
	}
	return rows, groups, nil
}

func count(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// applyGroup adds changes to a stored group.
func (dl *delta) applyGroup(key string, changes group, stored []byte) ([]byte, error) {
	g, err := decodeGroup(stored, dl.wide)
	if err != nil {
		return nil, fmt.Errorf("rollup %s: group %q: %w", dl.Name, shown(key), err)
	}
	for _, change := range changes {
		at := g.at(change.value, dl.wide)
		dl.addSlot(at, change.slot)
		switch {
		case at[slotCount] < 0:
			return nil, fmt.Errorf("rollup %s: group %q has %d things under %q: rebuild it", dl.Name, shown(key), at[slotCount],
				change.value)
		case at[slotCount] == 0 && slices.ContainsFunc(at, func(n int64) bool { return n != 0 }):
			return nil, fmt.Errorf("rollup %s: group %q has sums of nothing under %q: rebuild it", dl.Name, shown(key),
				change.value)
		}
	}
	g = slices.DeleteFunc(g, func(s dimensioned) bool { return s.slot[slotCount] == 0 })
	return encodeGroup(g), nil
}

// bounded returns ErrLimit if a group row has more dimension values than may be stored. Readers and verifications
// that compute such a group do not check this, so they still return a result.
func (d *Definition) bounded(key, body []byte) error {
	if key[0] != rowGroup[0] {
		return nil
	}
	if n, _ := binary.Uvarint(body); n > uint64(maxSlots) {
		return fmt.Errorf("%w: rollup %s: group %q has %d values of %s, %d are allowed: make it one of the attributes of the group",
			ErrLimit, d.Name, shown(string(key[1:])), n, d.Dimension, maxSlots)
	}
	return nil
}

func (d *Definition) boundedRows(rows []Row) error {
	for _, r := range rows {
		if err := d.bounded(r.Key, r.Body); err != nil {
			return err
		}
	}
	return nil
}

func (dl *delta) applyValue(key string, stored []byte) ([]byte, error) {
	n, err := decodeCount(stored)
	if err == nil {
		n += dl.values[key]
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("rollup %s: value %q: %w", dl.Name, key, err)
	case n < 0:
		return nil, fmt.Errorf("rollup %s: value %q is there %d times: rebuild it", dl.Name, key, n)
	case n == 0:
		return nil, nil
	}
	return binary.AppendUvarint(nil, uint64(n)), nil
}
