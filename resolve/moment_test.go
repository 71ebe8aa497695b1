// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/conformance"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// Observations of a record, some with equal times, arrive in any order and in any batches; the stored
// result is the same.
func TestP09_ContentsOfOneMomentInAnyOrder(t *testing.T) {
	t.Parallel()
	in := open(t, t.TempDir(), nil)
	runs := 0
	conformance.Check(t, 30, func(rt *rapid.T) {
		ops := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) resolve.Op {
			a := entity.Attributes{"name": {rapid.SampledFrom([]string{"Zephyr Trampolines", "Quill Dental"}).Draw(rt, "name")}}
			if phones := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"415-555-2300", "415-555-2301"}), 0, 2, rapid.ID).Draw(rt, "phones"); len(phones) > 0 {
				a["phones"] = phones
			}
			if rapid.Bool().Draw(rt, "in a city") {
				a["city"] = []string{"Oakland"}
			}
			return resolve.Op{Attributes: a, Observed: time.UnixMilli(1700000000000 + rapid.Int64Range(0, 1).Draw(rt, "moment"))}
		}), 2, 5).Draw(rt, "observations")
		var stored [2]entity.Attributes
		for i, order := range [][]resolve.Op{ops, rapid.Permutation(ops).Draw(rt, "order")} {
			runs++
			ref := entity.Ref{Source: fmt.Sprint("source ", runs), Key: "1"}
			order = slices.Clone(order)
			for k := range order {
				order[k].Ref = ref
			}
			cut := rapid.IntRange(0, len(order)).Draw(rt, "cut")
			in.apply(t, order[:cut])
			in.apply(t, order[cut:])
			in.each(t, func(tx storage.Tx, lo entity.PUID) error {
				records, err := tx.ListRecords(t.Context(), ref.Source, lo, 1<<20)
				for _, rec := range records {
					if rec.Ref == ref {
						stored[i] = rec.Attributes
					}
				}
				return err
			})
		}
		if !maps.EqualFunc(stored[0], stored[1], slices.Equal) {
			rt.Fatalf("%v, in another order %v", stored[0], stored[1])
		}
	})
}
