// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/resolve"
)

// Of two records put one after the other the first names their entity, however fast the cells commit: in the bubble
// that takes no time.
func TestMint_TheFirstRecordNamesTheEntity(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in := open(t, t.TempDir(), nil)
		mint, err := resolve.NewMint(locality.Node{}, time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		r, err := resolve.New(resolve.Options{Cells: in.cells, Rules: resolve.NewRules(1, matcher), Now: time.Now, Mint: mint})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 12 {
			attributes := entity.Attributes{"name": {fmt.Sprintf("Lantern Bakery %d", i)}, "phone": {fmt.Sprintf("+121755501%02d", i)}}
			put := func(source string) resolve.Result {
				result := r.Apply(context.Background(), []resolve.Op{{Ref: entity.Ref{Source: source, Key: fmt.Sprint(i)}, Attributes: attributes}})[0]
				if result.Err != nil {
					t.Fatal(result.Err)
				}
				return result
			}
			first, second := put("a"), put("b")
			if second.Entity != first.Entity || second.Outcome != resolve.Matched {
				t.Errorf("pair %d: %v as %v, then %v as %v", i, first.Outcome, first.Entity, second.Outcome, second.Entity)
			}
		}
	})
}
