// SPDX-License-Identifier: Apache-2.0

package celltest

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"

	"pgregory.net/rapid"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance"
)

// model is the expected content of a cell's directory: the row of each key, and all puids ever allocated.
type model struct {
	row  map[cell.Key]int64
	used map[int64]bool
}

func newModel() model { return model{map[cell.Key]int64{}, map[int64]bool{}} }

func (m model) clone() model { return model{maps.Clone(m.row), maps.Clone(m.used)} }

// lookup checks the result of Store.Lookup.
func (m model) lookup(ks []cell.Key, got []int64) error {
	if len(got) != len(ks) {
		return fmt.Errorf("Lookup of %d keys gave %d answers", len(ks), len(got))
	}
	for i, k := range ks {
		if got[i] != m.row[k] {
			return fmt.Errorf("Lookup of key %d of %d gave %d, want %d", i, len(ks), got[i], m.row[k])
		}
	}
	return nil
}

// allocate checks the result of Store.Allocate and records it. The store chooses the puid of a new key, within range
// and order.
func (m model) allocate(ks []cell.Key, got []cell.Allocation, c Cell) error {
	if len(got) != len(ks) {
		return fmt.Errorf("Allocate of %d keys gave %d answers", len(ks), len(got))
	}
	fresh := map[cell.Key]bool{}
	for i, k := range ks {
		a := got[i]
		puid := m.row[k]
		switch known := puid != cell.Nothing; {
		case known && (a.PUID != puid || a.Fresh != fresh[k]):
			return fmt.Errorf("Allocate of key %d of %d gave %+v, want puid %d, fresh %v", i, len(ks), a, puid, fresh[k])
		case known:
		case !a.Fresh:
			return fmt.Errorf("Allocate of new key %d of %d gave %+v, not fresh", i, len(ks), a)
		case a.PUID == 0 || a.PUID <= c.Lo || a.PUID > c.Hi:
			return fmt.Errorf("Allocate gave puid %d, not in (%d, %d]", a.PUID, c.Lo, c.Hi)
		case m.used[a.PUID]:
			return fmt.Errorf("Allocate gave puid %d twice", a.PUID)
		default:
			m.row[k], m.used[a.PUID], fresh[k] = a.PUID, true, true
		}
	}
	return nil
}

func (m model) copy(rows []cell.Row) {
	for _, row := range rows {
		if m.row[row.Key] == cell.Nothing {
			m.row[row.Key] = row.PUID
		}
	}
}

// histories numbers the histories of agreesWithModel, so that each has keys of its own in the cell that they share.
var histories atomic.Uint64

type call struct {
	name string // lookup, allocate, copy
	keys []cell.Key
}

// rowsFor returns rows as an older cell would have them: puids of another range. A key has one row in a cell.
func rowsFor(ks []cell.Key, c Cell) (rows []cell.Row) {
	seen := map[cell.Key]bool{}
	for i, k := range ks {
		if !seen[k] {
			rows = append(rows, cell.Row{Key: k, PUID: c.Lo ^ 1<<62 + int64(i) + 1})
		}
		seen[k] = true
	}
	return rows
}

// run makes the calls in one transaction and compares the results.
func (m model) run(ctx context.Context, s cell.Store, c Cell, calls []call) error {
	for i, do := range calls {
		var err error
		switch do.name {
		case "lookup":
			var got []int64
			if got, err = s.Lookup(ctx, do.keys); err == nil {
				err = m.lookup(do.keys, got)
			}
		case "allocate":
			var got []cell.Allocation
			if got, err = s.Allocate(ctx, do.keys); err == nil {
				err = m.allocate(do.keys, got, c)
			}
		case "copy":
			rows := rowsFor(do.keys, c)
			m.copy(rows)
			err = s.Copy(ctx, rows)
		}
		if err != nil {
			return fmt.Errorf("call %d, %s: %w", i, do.name, err)
		}
	}
	return nil
}

// agreesWithModel draws transactions, rolls some back, and compares every result with the model. A transaction is drawn
// before it runs, since a backend may run it again.
func agreesWithModel(t tester, c Cell) {
	rapid.Check(t, func(t *rapid.T) {
		base := histories.Add(1) << 32
		// Few keys, so that batches overlap and contain duplicates.
		keyOf := rapid.Map(rapid.Uint64Range(0, 12), func(n uint64) cell.Key { return key(base + n) })
		callOf := rapid.Custom(func(t *rapid.T) call {
			name := rapid.SampledFrom([]string{"lookup", "lookup", "allocate", "allocate", "copy"}).Draw(t, "call")
			return call{name, rapid.SliceOfN(keyOf, 0, 20).Draw(t, "keys")}
		})
		committed := newModel()
		for range rapid.IntRange(1, 8).Draw(t, "transactions") {
			calls := rapid.SliceOfN(callOf, 1, 4).Draw(t, "calls")
			rollback, m := rapid.Bool().Draw(t, "rollback"), committed
			conformance.Ends(t, c.Update, rollback, func(ctx context.Context, s cell.Store) error {
				m = committed.clone()
				return m.run(ctx, s, c, calls)
			})
			if !rollback {
				committed = m
			}
		}
		// The next transaction must see the state that the last one left.
		update(t, c, func(ctx context.Context, s cell.Store) error {
			ks := keys(base, 13)
			got, err := s.Lookup(ctx, ks)
			if err != nil {
				return err
			}
			return committed.lookup(ks, got)
		})
	})
}
