// SPDX-License-Identifier: Apache-2.0

package celltest

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/conformance"
)

// model is what a cell's directory must contain: the puid of each key.
type model map[cell.Key]int64

// lookup checks the answer of Store.Lookup.
func (m model) lookup(ks []cell.Key, got []int64) error {
	if len(got) != len(ks) {
		return fmt.Errorf("Lookup of %d keys gave %d answers", len(ks), len(got))
	}
	for i, k := range ks {
		if got[i] != m[k] {
			return fmt.Errorf("Lookup of key %d of %d gave %d, want %d", i, len(ks), got[i], m[k])
		}
	}
	return nil
}

// allocate checks the answer of Store.Allocate and remembers it. Which puid a new
// key gets is up to the store, but for range and order.
func (m model) allocate(ks []cell.Key, got []cell.Allocation, c Cell) error {
	if len(got) != len(ks) {
		return fmt.Errorf("Allocate of %d keys gave %d answers", len(ks), len(got))
	}
	used := map[int64]bool{}
	for _, puid := range m {
		used[puid] = true
	}
	fresh := map[cell.Key]bool{}
	for i, k := range ks {
		a := got[i]
		puid, known := m[k]
		switch {
		case known && (a.PUID != puid || a.Fresh != fresh[k]):
			return fmt.Errorf("Allocate of key %d of %d gave %+v, want puid %d, fresh %v", i, len(ks), a, puid, fresh[k])
		case known:
		case !a.Fresh:
			return fmt.Errorf("Allocate of new key %d of %d gave %+v, not fresh", i, len(ks), a)
		case a.PUID == 0 || a.PUID <= c.Lo || a.PUID > c.Hi:
			return fmt.Errorf("Allocate gave puid %d, not in (%d, %d]", a.PUID, c.Lo, c.Hi)
		case used[a.PUID]:
			return fmt.Errorf("Allocate gave puid %d twice", a.PUID)
		default:
			m[k], used[a.PUID], fresh[k] = a.PUID, true, true
		}
	}
	return nil
}

// histories numbers the histories of agreesWithModel, so that each has keys of its
// own in the one cell that they share.
var histories atomic.Uint64

// call is one call of a Store, on some keys.
type call struct {
	allocate bool
	keys     []cell.Key
}

// run makes the calls in one transaction and compares the answers.
func (m model) run(ctx context.Context, s cell.Store, c Cell, calls []call) error {
	for i, do := range calls {
		var err error
		if do.allocate {
			var got []cell.Allocation
			if got, err = s.Allocate(ctx, do.keys); err == nil {
				err = m.allocate(do.keys, got, c)
			}
		} else {
			var got []int64
			if got, err = s.Lookup(ctx, do.keys); err == nil {
				err = m.lookup(do.keys, got)
			}
		}
		if err != nil {
			return fmt.Errorf("call %d: %w", i, err)
		}
	}
	return nil
}

// agreesWithModel draws transactions of look-ups and allocations, some of which
// roll back, and compares every answer with the model. A transaction is drawn
// before it runs, since a backend may run it again.
func agreesWithModel(t tester, c Cell) {
	rapid.Check(t, func(t *rapid.T) {
		base := histories.Add(1) << 32
		// Few keys, so that batches meet each other and themselves.
		keyOf := rapid.Map(rapid.Uint64Range(0, 12), func(n uint64) cell.Key { return key(base + n) })
		callOf := rapid.Custom(func(t *rapid.T) call {
			return call{rapid.Bool().Draw(t, "allocate"), rapid.SliceOfN(keyOf, 0, 20).Draw(t, "keys")}
		})
		committed := model{}
		for range rapid.IntRange(1, 8).Draw(t, "transactions") {
			calls := rapid.SliceOfN(callOf, 1, 4).Draw(t, "calls")
			rollback, m := rapid.Bool().Draw(t, "rollback"), committed
			conformance.Ends(t, c.Update, rollback, func(ctx context.Context, s cell.Store) error {
				m = maps.Clone(committed)
				return m.run(ctx, s, c, calls)
			})
			if !rollback {
				committed = m
			}
		}
	})
}
