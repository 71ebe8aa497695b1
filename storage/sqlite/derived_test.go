// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// TestRecordsByKey_InSeveralStatements reads more blocking keys than a statement does, in any order, many of which reach
// their limits.
func TestRecordsByKey_InSeveralStatements(t *testing.T) {
	t.Parallel()
	f := openFile(t)
	const all = 300
	var add []derived.Posting
	var keys []uint64
	var limits []int
	var want [][]entity.PUID
	for i := range uint64(all) {
		key := i*0x9e3779b97f4a7c15 + 1
		var carriers []entity.PUID
		for n := range i % 5 {
			carriers = append(carriers, entity.PUID(1+n))
			add = append(add, derived.Posting{Key: key, PUID: entity.PUID(1 + n)})
		}
		limit := 1 + int(i*7%4)
		keys, limits, want = append(keys, key), append(limits, limit), append(want, carriers[:min(limit, len(carriers))])
	}
	slices.SortFunc(add, func(a, b derived.Posting) int { return cmp.Compare(a.Key, b.Key) })
	if err := f.Update(t.Context(), func(tx storage.Tx) error { return tx.Post(t.Context(), add, nil) }); err != nil {
		t.Fatal(err)
	}
	err := f.View(t.Context(), func(tx storage.Tx) error {
		got, err := tx.RecordsByKey(t.Context(), keys, limits)
		for i := range got {
			if !slices.Equal(got[i], want[i]) {
				t.Errorf("blocking key %d: %v, want %v", i, got[i], want[i])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
