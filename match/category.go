// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// maxCategories is the maximum number of categories of a record to compare.
const maxCategories = 16

type category struct {
	hash  uint64 // of the folded word
	first bool   // last level of the first path: the primary category
}

// categories are a record's categories. The mask has one bit per hash and rejects most pairs without a
// common category.
type categories struct {
	mask  uint64
	list  []category
	parts parts // named by the first path
}

// addCategories adds every level of every path as a category.
func (r *Record) addCategories(values []string) {
	first := true
	var stack [64]byte
	buf := stack[:0]
	for _, raw := range values {
		for level := range strings.SplitSeq(raw, ">") {
			buf = appendFold(buf[:0], level)
			if isNothing(buf) {
				continue
			}
			c := category{hash: xxhash.Sum64(buf)}
			if len(r.categories.list) < maxCategories && !slices.ContainsFunc(r.categories.list, func(d category) bool { return c.hash == d.hash }) {
				r.categories.list = append(r.categories.list, c)
				r.categories.mask |= 1 << (c.hash & 63)
				if first {
					r.categories.parts |= nameParts(buf)
				}
			}
		}
		if first && len(r.categories.list) > 0 {
			r.categories.list[len(r.categories.list)-1].first = true
			first = false
		}
	}
}

// compareCategories returns the level of the best matching categories.
func compareCategories(a, b *categories) level {
	switch {
	case a.mask == 0 || b.mask == 0:
		return levelNone
	case a.mask&b.mask == 0:
		return categoryDifferent
	}
	best := categoryDifferent
	for i := range a.list {
		for j := range b.list {
			if a.list[i].hash == b.list[j].hash {
				if a.list[i].first && b.list[j].first {
					return categoryFirst
				}
				best = categoryOverlap
			}
		}
	}
	return best
}

// sameBrand reports whether two folded brands may be one: one is the beginning, the end, the initials or a typo of the
// other, as in L'Oréal and L'Oréal Paris, HP and Hewlett-Packard.
func sameBrand(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a != "" &&
		(strings.HasPrefix(b, a+" ") || strings.HasSuffix(b, " "+a) || likeWord(a, b) || stands(a, strings.Fields(b)))
}

// normalCategory returns the normal form of a path: "food > pizza".
func normalCategory(raw string) string {
	var levels []string
	for level := range strings.SplitSeq(raw, ">") {
		if folded := fold(level); !isNothing(folded) {
			levels = append(levels, folded)
		}
	}
	return strings.Join(levels, " > ")
}
