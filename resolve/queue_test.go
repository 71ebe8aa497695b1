// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// Callers that call again when they are answered share each batch after a few, although some of them began while others were
// waiting. Otherwise two groups of them would wait for each other for ever.
func TestQueue_CallersThatAreOutOfStepShareBatches(t *testing.T) {
	t.Parallel()
	const early, late, calls = 7, 5, 6
	ops := world(1, 40)
	slow := func(_ cell.ID, c storage.Cell) storage.Cell { return slowCell{c, time.Second, time.Second} }
	warmed(t, ops)
	synctest.Test(t, func(t *testing.T) {
		q := resolve.NewQueue(open(t, t.TempDir(), slow).Resolver, early+late)
		begun := time.Now()
		var answered [early + late]time.Duration // when the last call of each caller was
		var wg sync.WaitGroup
		for i := range answered {
			wg.Go(func() {
				if i >= early {
					time.Sleep(time.Second)
				}
				for n := range calls {
					op := ops[(i*calls+n)%len(ops)]
					op.Key = fmt.Sprint(i, " ", n)
					if _, err := q.Do(t.Context(), []resolve.Op{op}); err != nil {
						t.Error(err)
					}
					answered[i] = time.Since(begun)
					time.Sleep(time.Duration(i) * time.Millisecond)
				}
			})
		}
		wg.Wait()
		q.Close()
		if last := slices.Compact(slices.Sorted(slices.Values(answered[early:]))); len(last) != 1 {
			t.Errorf("the last calls were answered after %v, want those that began late together", answered)
		}
	})
}
