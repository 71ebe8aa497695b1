// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"cmp"
	"slices"
	"strings"
)

// lead moves the values of one record to the front in the attributes of a block, so that a view does not
// combine the street of one record with the postcode of another. It picks the record whose values have the
// largest total weight, which favours fuller records and majority values. Gaps are filled from other
// records, heaviest first, if they agree on the block's first attribute that has a value and contradict
// nothing shown. Attributes that are still empty are removed from the view.
func lead(block []string, members []Testimony, names []string, weighed [][]candidate) {
	of, none := make([]*[]candidate, len(block)), []candidate(nil)
	for i, name := range block {
		of[i] = &none
		if at := slices.Index(names, name); at >= 0 {
			of[i] = &weighed[at]
		}
	}
	said := make([]blockOf, 0, len(members))
	normals := make([]string, len(block)*len(members))
	for i, m := range members {
		if b := readBlock(block, m, of, normals[i*len(block):(i+1)*len(block)]); b.weight > 0 {
			said = append(said, b)
		}
	}
	if len(said) == 0 {
		return
	}
	slices.SortFunc(said, func(a, b blockOf) int {
		if a.weight != b.weight {
			return cmp.Compare(b.weight, a.weight)
		}
		return compareHashes(a.text(), b.text())
	})
	shown := slices.Clone(said[0].normals)
	telling := slices.IndexFunc(shown, func(normal string) bool { return normal != "" })
	for _, b := range said[1:] {
		if b.normals[telling] == shown[telling] && !contradicts(b.normals, shown) {
			for i, normal := range b.normals {
				shown[i] = cmp.Or(shown[i], normal)
			}
		}
	}
	for i := range block {
		candidates := *of[i]
		at := slices.IndexFunc(candidates, func(c candidate) bool { return c.normal == shown[i] })
		if at < 0 {
			*of[i] = nil
			continue
		}
		first := candidates[at]
		copy(candidates[1:], candidates[:at])
		candidates[0] = first
	}
}

// blockOf holds the values of one record in the attributes of a block.
type blockOf struct {
	normals []string // one value per attribute, "" where the record has none
	weight  int64
}

// text orders records whose values weigh the same.
func (b blockOf) text() string { return strings.Join(b.normals, "\x00") }

// readBlock picks the heaviest value that a record has in each attribute, which is the first match in the
// candidates.
func readBlock(block []string, m Testimony, of []*[]candidate, normals []string) blockOf {
	b := blockOf{normals: normals}
	for i, name := range block {
		said := m.Values[name]
		if len(said) == 0 {
			continue
		}
		at := slices.IndexFunc(*of[i], func(c candidate) bool {
			return slices.ContainsFunc(said, func(s Spelling) bool { return s.Normal == c.normal })
		})
		if at >= 0 {
			b.normals[i] = (*of[i])[at].normal
			b.weight += (*of[i])[at].weight
		}
	}
	return b
}

// contradicts reports whether two records differ in an attribute that both have.
func contradicts(a, b []string) bool {
	for i := range a {
		if a[i] != "" && b[i] != "" && a[i] != b[i] {
			return true
		}
	}
	return false
}
