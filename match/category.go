// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// maxCategories bounds the categories of a record that are compared.
const maxCategories = 16

// category is one level of a category path.
type category struct {
	hash  uint64 // of the folded word
	first bool   // the last level of the first path: what the source thinks the thing is
}

// addCategories reads the values: every level of a path counts as a category.
func (r *Record) addCategories(values []string) {
	first := true
	var buf []byte
	for _, raw := range values {
		for level := range strings.SplitSeq(raw, ">") {
			buf = appendFold(buf[:0], level)
			if isNothing(string(buf)) {
				continue
			}
			c := category{hash: xxhash.Sum64(buf)}
			if len(r.categories) < maxCategories && !slices.ContainsFunc(r.categories, func(d category) bool { return c.hash == d.hash }) {
				r.categories = append(r.categories, c)
			}
		}
		if first && len(r.categories) > 0 {
			r.categories[len(r.categories)-1].first = true
			first = false
		}
	}
}

func compareCategories(a, b []category) level {
	if len(a) == 0 || len(b) == 0 {
		return levelNone
	}
	best := categoryDifferent
	for i := range a {
		for j := range b {
			if a[i].hash == b[j].hash {
				if a[i].first && b[j].first {
					return categoryFirst
				}
				best = categoryOverlap
			}
		}
	}
	return best
}

// normalCategory is the normal form of a path: "food > pizza".
func normalCategory(raw string) string {
	var levels []string
	for level := range strings.SplitSeq(raw, ">") {
		if folded := fold(level); !isNothing(folded) {
			levels = append(levels, folded)
		}
	}
	return strings.Join(levels, " > ")
}
