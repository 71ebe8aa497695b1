// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/storage"
)

// Records with identical compared content share one blocking key (match.Record.Equal). The one with the lowest
// puid is their leader. Only the leader is posted under the other blocking keys and compared with other records;
// its followers have one edge, to the leader. So a blocking key has as many records as there are distinct
// contents, whatever the number of records, and a record that repeats known content costs one look-up of
// its leader.

// leadership maps the content of a batch's records to leaders.
type leadership struct {
	before, after map[uint64]entity.PUID // no entry if no record has the content
}

// posted returns the blocking keys that a record is posted under: all of a leader, only the shared one of a
// follower.
func posted(n *node, leads bool) []uint64 {
	if n == nil || n.norm == nil {
		return nil
	}
	if equal := n.norm.Equal(); equal != 0 && !leads {
		return []uint64{equal}
	}
	keys := make([]uint64, 0, len(n.norm.BlockingKeys()))
	for _, f := range n.norm.BlockingKeys() {
		keys = append(keys, f.Hash)
	}
	return keys
}

func (n *node) equal() uint64 {
	if n == nil || n.norm == nil {
		return 0
	}
	return n.norm.Equal()
}

// lead finds the leaders for the contents of the batch, before and after it, and draws in records that
// become or cease to be leaders.
func (b *batch) lead(ctx context.Context) error {
	says := map[uint64][]entity.PUID{} // records of the batch that have the content now
	ceased := map[uint64]int{}         // how many records of the batch no longer have the content
	limits := map[uint64]int{}
	for p, w := range b.writes {
		is := w.new.equal()
		if is != 0 {
			says[is], limits[is] = append(says[is], p), 1
		}
		for _, f := range w.lost {
			if match.IsEqual(f) && f != is {
				ceased[f]++
			}
		}
	}
	for e, n := range ceased {
		limits[e] = 1 + n
	}
	b.leaders = leadership{before: map[uint64]entity.PUID{}, after: map[uint64]entity.PUID{}}
	var drawn []entity.PUID
	for len(limits) > 0 {
		stored, err := b.stored(ctx, limits)
		if err != nil {
			return err
		}
		if b.repair { // a posting may be outdated
			var all []entity.PUID
			for _, list := range stored {
				all = append(all, list...)
			}
			if err := b.load(ctx, b.nodes, unique(all)); err != nil {
				return err
			}
		}
		for e, list := range stored {
			more := len(list) >= limits[e]
			if !b.repair && len(list) > 0 {
				b.leaders.before[e] = list[0]
			}
			list = slices.DeleteFunc(slices.Clone(list), func(p entity.PUID) bool {
				if w := b.writes[p]; w != nil {
					return w.new.equal() != e
				}
				return b.repair && b.nodes[p].equal() != e
			})
			if b.repair {
				// The former leader is the first record that is not in the redo set and still has the content.
				i := slices.IndexFunc(list, func(p entity.PUID) bool { return b.writes[p] == nil && !b.isUndone(p) })
				if i < 0 && more {
					limits[e] *= 4
					continue
				}
				if i >= 0 {
					b.leaders.before[e] = list[i]
				}
			}
			if list = unique(append(list, says[e]...)); len(list) > 0 {
				b.leaders.after[e] = list[0]
			}
			if before, after := b.leaders.before[e], b.leaders.after[e]; before != after || b.repair && ceased[e] > 0 {
				drawn = append(drawn, before, after)
			}
			delete(limits, e)
		}
	}
	return b.draw(ctx, drawn)
}

// draw adds records to the batch that are affected although their content has not changed.
func (b *batch) draw(ctx context.Context, puids []entity.PUID) error {
	puids = slices.DeleteFunc(unique(puids), func(p entity.PUID) bool { return p == 0 || b.writes[p] != nil })
	if err := b.load(ctx, b.nodes, puids); err != nil {
		return err
	}
	for _, p := range puids {
		if n := b.nodes[p]; n != nil && n.norm != nil {
			b.writes[p] = &write{puid: p, old: n, new: n}
		}
	}
	return nil
}

// leads reports whether a record leads the records with its content. A record without such a blocking key always
// does.
func leads(n *node, leaders map[uint64]entity.PUID) bool {
	e := n.equal()
	return e == 0 || leaders[e] == n.PUID
}

// blockOf reads the records of blocking keys from all cells that may hold their postings, up to the limit of
// each.
func (b *batch) blockOf(ctx context.Context, ask asking, limits map[uint64]int) (map[uint64][]entity.PUID, error) {
	groups := map[cell.ID][]uint64{}
	carriers := make(map[uint64][]entity.PUID, len(limits))
	for f := range limits {
		for _, id := range b.keyCells(f) {
			groups[id] = append(groups[id], f)
		}
	}
	var mu sync.Mutex
	err := eachCell(groups, func(id cell.ID, keys []uint64) error {
		slices.Sort(keys)
		most := make([]int, len(keys))
		for i, f := range keys {
			most[i] = limits[f]
		}
		var found [][]entity.PUID
		if err := ask(ctx, id, func(tx storage.Tx) (err error) {
			found, err = tx.RecordsByKey(ctx, keys, most)
			return err
		}); err != nil {
			return fmt.Errorf("read records: %w", err)
		}
		mu.Lock()
		defer mu.Unlock()
		for i, f := range keys {
			carriers[f] = union(carriers[f], found[i])
		}
		return nil
	})
	return carriers, err
}

// leadersOf finds the leaders for the contents of records, concurrently with writers.
func (v reading) leadersOf(ctx context.Context, nodes []*node) (map[uint64]entity.PUID, error) {
	leaders := map[uint64]entity.PUID{}
	limits := map[uint64]int{}
	for _, n := range nodes {
		if e := n.equal(); e != 0 {
			limits[e] = 1
			if first, there := leaders[e]; !there || n.PUID < first {
				leaders[e] = n.PUID
			}
		}
	}
	for len(limits) > 0 {
		found, err := v.blockOf(ctx, v.ask, limits)
		if err != nil {
			return nil, err
		}
		var all []entity.PUID
		for _, list := range found {
			all = append(all, list...)
		}
		all = slices.DeleteFunc(all, func(p entity.PUID) bool { _, err := v.home(p); return err != nil })
		if err := v.load(ctx, all); err != nil {
			return nil, err
		}
		for e, list := range found {
			i := slices.IndexFunc(list, func(p entity.PUID) bool { return v.nodes[p].equal() == e })
			if i < 0 && len(list) >= limits[e] {
				limits[e] *= 4
				continue
			}
			if i >= 0 {
				leaders[e] = min(leaders[e], list[i])
			}
			delete(limits, e)
		}
	}
	return leaders, nil
}

// unlimited is the limit for records of a blocking key of identical records.
const unlimited = math.MaxInt32
