// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage/internal/document"
)

const sqlUnfound = "SELECT rowid FROM search WHERE search MATCH ? AND rowid >= ? AND rowid <= ? ORDER BY rowid"

// Unfound reads the list of each word once, between the anchors of the entities that should be in it. A search for each
// entity would read all of its lists, most of which belong to other entities too: the index cannot skip within a list.
func (t *tx) Unfound(ctx context.Context, entities []entity.Indexed) ([]entity.PUID, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	sorted := slices.SortedFunc(slices.Values(entities), func(a, b entity.Indexed) int {
		return cmp.Compare(a.Anchor(), b.Anchor())
	})
	unfound := map[entity.PUID]bool{}
	lists := map[string][]int64{}
	for _, e := range sorted {
		if slices.ContainsFunc(e.Words, func(word string) bool { return !document.IsWord(word) }) {
			unfound[e.Anchor()] = true
			continue
		}
		for word := range strings.FieldsSeq(newEntry(e).words) {
			lists[word] = append(lists[word], int64(e.Anchor()))
		}
	}
	for _, word := range slices.Sorted(maps.Keys(lists)) {
		want := lists[word]
		err := t.query(ctx, sqlUnfound, func(r row) error {
			at := r.int(0)
			for len(want) > 0 && want[0] <= at {
				if want[0] < at {
					unfound[entity.PUID(want[0])] = true
				}
				want = want[1:]
			}
			return nil
		}, `"`+word+`"`, want[0], want[len(want)-1])
		if err != nil {
			return nil, fmt.Errorf("search for %q: %w", word, err)
		}
		for _, anchor := range want {
			unfound[entity.PUID(anchor)] = true
		}
	}
	return slices.Collect(maps.Keys(unfound)), nil
}
