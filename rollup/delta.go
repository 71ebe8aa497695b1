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

// slot is what is kept of one group at one value of the dimension: how many things there are, how many
// values were skipped, then the numbers of the measures in their order: the two halves of a sum, beside which
// an average has how many values it is of, none of the others. All of them commute, so no order of changes
// can make a difference.
type slot []int64

// sum is the sum that begins at a place.
func (s slot) sum(at int) Int128 { return Int128{s[at], s[at+1]} }

func (s slot) addSum(at int, t Int128) {
	t = s.sum(at).Plus(t)
	s[at], s[at+1] = t.High, t.Low
}

// addSlot adds what is kept of other things to a slot.
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

// less is what takes the things of a slot away.
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
	slotCount   = iota // things
	slotSkipped        // values that were no numbers
	slotNumbers        // where the measures begin
)

// width is how many numbers the slots of a definition have.
func (d *Definition) width() int {
	n := slotNumbers
	for _, m := range d.Measures {
		n += m.numbers()
	}
	return n
}

// numbers is how many of a slot are a measure's.
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

// group is one group: its slots in the order of the values of the dimension.
type group []dimensioned

// dimensioned is a slot with its value of the dimension, "" for none.
type dimensioned struct {
	value string
	slot  slot
}

// at answers with the slot of a value of the dimension, which is empty if it was not there.
func (g *group) at(value string, width int) slot {
	i, found := slices.BinarySearchFunc(*g, value, func(s dimensioned, value string) int { return strings.Compare(s.value, value) })
	if !found {
		*g = slices.Insert(*g, i, dimensioned{value, make(slot, width)})
	}
	return (*g)[i].slot
}

// delta is a sum of images, some taken away: what a batch of changes does to a generation.
type delta struct {
	*Definition
	wide   int               // how many numbers a slot has
	groups map[string]*group // by their keys
	// values are what the measures count whose values are kept: how many times each, by the key of its
	// row.
	values map[string]int64
}

func newDelta(d *Definition) *delta {
	return &delta{Definition: d, wide: d.width(), groups: map[string]*group{}, values: map[string]int64{}}
}

// change takes the image before away and adds the one after.
func (dl *delta) change(c *changelog.Change) {
	if c.Kind.OfRecord() == (dl.Over == Records) {
		dl.add(c.Was, -1)
		dl.add(c.Is, 1)
	}
}

// add adds an image times times: 1 or -1.
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

// Rows of a generation are groups and values. The parts of their keys are divided by the separator, and
// there are as many as the definition says, so a key can be read again.
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

// valuePrefix is what the keys of all values of a measure begin with.
func valuePrefix(group, dimension string, measure int) string {
	return rowValue + group + separator + dimension + separator + string([]byte{byte(measure)})
}

// shown is a key of a group for people.
func shown(key string) string { return strings.ReplaceAll(key, separator, " / ") }

// keys are those of all rows that the delta changes, in order.
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

// apply makes new rows of what is stored under keys, and says how many groups came, less those that went.
// A generation in which there would be fewer than none of something is wrong, and says so.
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

// applyGroup adds changes to a group as it is stored.
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
			return nil, fmt.Errorf("rollup %s: group %q has %d things under %q: rebuild it", dl.Name, shown(key), at[slotCount], change.value)
		case at[slotCount] == 0 && slices.ContainsFunc(at, func(n int64) bool { return n != 0 }):
			return nil, fmt.Errorf("rollup %s: group %q has sums of nothing under %q: rebuild it", dl.Name, shown(key), change.value)
		}
	}
	g = slices.DeleteFunc(g, func(s dimensioned) bool { return s.slot[slotCount] == 0 })
	return encodeGroup(g), nil
}

// bounded reports the first row of a group with more values of the dimension than may be stored. A reader or
// a verification that works such a group out has an answer all the same.
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
