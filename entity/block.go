// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// lead puts the values of one record first in the attributes of a block, so that a view does not show the street of
// one record and the postcode of another. The record is the one whose values weigh most together, by the weights that
// they have in their attributes: the fuller of two records, and what most records say. What it leaves out is filled in
// from the other records, heaviest first, that say the same in the most telling attribute that it has and contradict
// nothing that is shown; what none of those says either is not shown, though other records have a value.
func lead(block []string, members []Testimony, weighed map[string][]candidate) {
	said := make([]blockOf, 0, len(members))
	for _, m := range members {
		if b := readBlock(block, m, weighed); b.weight > 0 {
			said = append(said, b)
		}
	}
	if len(said) == 0 {
		return
	}
	slices.SortFunc(said, func(a, b blockOf) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight),
			cmp.Compare(xxhash.Sum64String(a.text), xxhash.Sum64String(b.text)), strings.Compare(a.text, b.text))
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
	for i, name := range block {
		candidates := weighed[name]
		at := slices.IndexFunc(candidates, func(c candidate) bool { return c.normal == shown[i] })
		if at < 0 {
			delete(weighed, name)
			continue
		}
		first := candidates[at]
		weighed[name] = append([]candidate{first}, slices.Delete(slices.Clone(candidates), at, at+1)...)
	}
}

// blockOf is what one record says in the attributes of a block.
type blockOf struct {
	normals []string // one value of each attribute, "" where the record has none
	text    string   // the same, joined
	weight  int64
}

// readBlock takes, of the values that a record has in an attribute, the heaviest: the first of the candidates.
func readBlock(block []string, m Testimony, weighed map[string][]candidate) (b blockOf) {
	b.normals = make([]string, len(block))
	for i, name := range block {
		if len(m.Values[name]) == 0 {
			continue
		}
		at := slices.IndexFunc(weighed[name], func(c candidate) bool {
			return slices.ContainsFunc(m.Values[name], func(s Spelling) bool { return s.Normal == c.normal })
		})
		if at >= 0 {
			b.normals[i] = weighed[name][at].normal
			b.weight += weighed[name][at].weight
		}
	}
	b.text = strings.Join(b.normals, "\x00")
	return b
}

// contradicts reports whether two records say different things in an attribute that both have.
func contradicts(a, b []string) bool {
	for i := range a {
		if a[i] != "" && b[i] != "" && a[i] != b[i] {
			return true
		}
	}
	return false
}
