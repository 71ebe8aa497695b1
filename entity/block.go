// SPDX-License-Identifier: Apache-2.0

package entity

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// lead moves the values of one record to the front in the attributes of a block, so that a view does not
// combine the street of one record with the postcode of another. It picks the record whose values have the
// largest total weight, which favours fuller records and majority values. Gaps are filled from other
// records, heaviest first, if they agree on the block's first attribute that has a value and contradict
// nothing shown. Attributes that are still empty are removed from the view.
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
		if at == 0 {
			continue
		}
		first := candidates[at]
		weighed[name] = append([]candidate{first}, slices.Delete(slices.Clone(candidates), at, at+1)...)
	}
}

// blockOf holds the values of one record in the attributes of a block.
type blockOf struct {
	normals []string // one value per attribute, "" where the record has none
	text    string   // normals joined by NUL
	weight  int64
}

// readBlock picks the heaviest value that a record has in each attribute, which is the first match in the
// candidates.
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

// contradicts reports whether two records differ in an attribute that both have.
func contradicts(a, b []string) bool {
	for i := range a {
		if a[i] != "" && b[i] != "" && a[i] != b[i] {
			return true
		}
	}
	return false
}
