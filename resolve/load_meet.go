// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
)

// lead finds the leaders of identical records, and chooses again those that become or cease to be leaders.
func (p *partial) lead(ctx context.Context) error {
	var mu sync.Mutex
	var lead, follow, followers []entity.PUID
	if err := p.eachShard(ctx, func(blocks []partBlock) (rows []partKey, err error) {
		limits := map[uint64]int{}
		for _, k := range blocks {
			if rows = append(rows, k...); match.IsEqual(k[0].key) {
				limits[k[0].key] = 1 + len(k)
			}
		}
		settled, _, err := p.stored(ctx, limits)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, k := range blocks {
			if !match.IsEqual(k[0].key) {
				continue
			}
			before, after, ceased := entity.PUID(0), k.leader(settled[k[0].key]), false
			if s := settled[k[0].key]; len(s) > 0 {
				before = s[0]
			}
			for _, row := range k {
				if row.is&isLost != 0 {
					ceased = true
				} else if row.puid != after {
					followers = append(followers, row.puid)
				}
			}
			switch {
			case before == 0:
			case before != after:
				follow = append(follow, before)
			case ceased:
				lead = append(lead, before)
			}
		}
		return rows, nil
	}); err != nil {
		return err
	}
	for _, q := range followers {
		p.of[q] = chosen{p.of[q].slot, p.of[q].is | isFollower}
	}
	if err := p.renewAll(ctx, lead, isRenewed|isUnsettled); err != nil {
		return err
	}
	return p.renewAll(ctx, follow, isRenewed|isUnsettled|isFollower)
}

// counting is an identifier that may have another weight than before.
type counting struct {
	settled []entity.PUID
	unsure  int // other records that have or had it
}

// draw renews the records of keys that may have become or ceased to be stop keys, and of identifiers whose weight may
// have changed.
func (p *partial) draw(ctx context.Context) error {
	var mu sync.Mutex
	var drawn, around []entity.PUID
	var asked []counting
	if err := p.eachShard(ctx, func(blocks []partBlock) (rows []partKey, err error) {
		limits := map[uint64]int{}
		for _, k := range blocks {
			if key := k[0].key; !match.IsEqual(key) {
				limits[key] = match.BlockLimit(key) + 1 + len(k)
			}
		}
		stored, _, err := p.stored(ctx, limits)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, k := range blocks {
			key := k[0].key
			if match.IsEqual(key) {
				rows = append(rows, k...)
				continue
			}
			settled, lost, former, is := stored[key], 0, 0, keyFlags(0)
			from := len(rows)
			for _, row := range k {
				switch is |= row.is & identifies; {
				case row.is&isLost != 0:
					rows, lost, former = append(rows, row), lost+1, former+1
				case p.of[row.puid].is&isFollower != 0:
					p.lost, lost = append(p.lost, derived.Posting{Key: key, PUID: row.puid}), lost+1
				default:
					rows = append(rows, row)
				}
			}
			ever := len(settled) + len(k)
			switch {
			case stopKey(key, ever-lost):
				if is |= isStop; !stopKey(key, len(settled)) {
					drawn = append(drawn, settled...)
				}
			case stopKey(key, ever), former == len(k) && ever > match.PhoneNames: // it may be an identifier
				drawn = append(drawn, settled...)
			case is&identifies != 0 && ever > match.PhoneNames:
				asked = append(asked, counting{settled, len(k)})
			}
			for i := range rows[from:] {
				rows[from+i].is |= is
			}
			switch {
			case is&isStop != 0:
			case former > 0 && lost == len(k):
				around = append(around, settled...) // a crash may have left edges of these records
			case lost < len(k):
				for _, q := range settled {
					rows = append(rows, partKey{key, q, is | isStored})
				}
			}
		}
		return rows, nil
	}); err != nil {
		return err
	}
	for _, q := range around { // walk reads their edges
		if _, is := p.of[q]; !is {
			p.of[q] = chosen{}
		}
	}
	more, err := p.renamed(ctx, asked)
	if err != nil {
		return err
	}
	return p.renewAll(ctx, append(drawn, more...), isRenewed)
}

// renamed returns the settled records of identifiers whose weight may have changed.
func (p *partial) renamed(ctx context.Context, asked []counting) (drawn []entity.PUID, err error) {
	for part := range slices.Chunk(asked, max(p.loads.nodes/match.MaxBlockSize, 1)) {
		var puids []entity.PUID
		for _, a := range part {
			puids = append(puids, a.settled...)
		}
		if err := p.take(ctx, puids, 0); err != nil {
			return nil, err
		}
		var slots []uint32
		for _, q := range unique(puids) {
			if slot := p.of[q].slot; slot != 0 {
				slots = append(slots, slot-1)
			}
		}
		slices.Sort(slots)
		nodes, err := p.decode(slots, true)
		if err != nil {
			return nil, err
		}
		of := make(map[entity.PUID]*match.Record, len(nodes))
		for _, n := range nodes {
			of[n.PUID] = n.norm
		}
		for _, a := range part {
			var records []*match.Record
			for _, q := range a.settled {
				if n := of[q]; n != nil {
					records = append(records, n)
				}
			}
			if least := match.DifferentNames(records); !match.SameWeight(least, least+a.unsure) {
				drawn = append(drawn, a.settled...)
			}
		}
	}
	return drawn, nil
}

// meet reads the records that are compared with renewed ones. Records that draw added may have keys that it has not
// looked at, but the number of records with these keys is unchanged.
func (p *partial) meet(ctx context.Context) error {
	var mu sync.Mutex
	var met []entity.PUID
	if err := p.eachShard(ctx, func(blocks []partBlock) (rows []partKey, err error) {
		limits := map[uint64]int{}
		for i, k := range blocks {
			k = k.merged()
			blocks[i] = k
			if match.IsEqual(k[0].key) {
				limits[k[0].key] = 1 + len(k)
			} else if !k.seen() {
				limits[k[0].key] = match.BlockLimit(k[0].key) + 1 + len(k)
			}
		}
		stored, more, err := p.stored(ctx, limits)
		if err != nil {
			return nil, err
		}
		all := map[uint64]int{}
		for _, k := range blocks {
			if key := k[0].key; match.IsEqual(key) && more[key] && p.of[k.leader(stored[key])].is&isRenewed != 0 {
				all[key] = unlimited
			}
		}
		followers, _, err := p.stored(ctx, all)
		if err != nil {
			return nil, err
		}
		var some []entity.PUID
		for _, k := range blocks {
			key := k[0].key
			settled, is := stored[key], k[0].is&(identifies|isStop)|isStored
			if match.IsEqual(key) {
				if leader := k.leader(settled); p.of[leader].is&isRenewed == 0 {
					settled = []entity.PUID{leader}
				} else if all[key] != 0 {
					settled = followers[key]
				}
			} else if stopKey(key, len(settled)) {
				is, settled = is|isStop, nil
			}
			k = slices.DeleteFunc(k, func(row partKey) bool { return row.is&isLost != 0 })
			if len(k) == 0 {
				continue
			}
			for _, q := range settled {
				k = append(k, partKey{key, q, is})
			}
			k[0].is |= is &^ isStored
			for _, row := range k.merged() {
				if rows = append(rows, row); is&isStop == 0 {
					some = append(some, row.puid)
				}
			}
		}
		mu.Lock()
		met = append(met, unique(some)...)
		mu.Unlock()
		return rows, nil
	}); err != nil {
		return err
	}
	return p.take(ctx, met, 0)
}

// merged returns the block with one row for each record, in their order.
func (k partBlock) merged() partBlock {
	slices.SortFunc(k, func(a, b partKey) int { return cmp.Compare(a.puid, b.puid) })
	kept, is := k[:1], k[0].is&(identifies|isStop)
	for _, row := range k[1:] {
		if is |= row.is & (identifies | isStop); row.puid == kept[len(kept)-1].puid {
			kept[len(kept)-1].is |= row.is
		} else {
			kept = append(kept, row)
		}
	}
	for i := range kept {
		kept[i].is |= is
	}
	return kept
}

// seen reports whether draw has read the records of the key: unsettled ones have it.
func (k partBlock) seen() bool {
	return slices.ContainsFunc(k, func(row partKey) bool { return row.is&(isStored|isLost) == 0 })
}

// leader returns the leader of identical records, 0 if there is none.
func (k partBlock) leader(settled []entity.PUID) (leader entity.PUID) {
	if len(settled) > 0 {
		leader = settled[0]
	}
	for _, row := range k {
		if row.is&isLost == 0 && (leader == 0 || row.puid < leader) {
			leader = row.puid
		}
	}
	return leader
}
