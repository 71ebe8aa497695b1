// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// readPut reads the records in the redo sets.
func (p *partial) readPut(ctx context.Context, entries []loadEntry) error {
	puids := make([]entity.PUID, len(entries))
	for i, e := range entries {
		puids[i] = e.puid
	}
	if err := p.take(ctx, puids, isRenewed|isUnsettled); err != nil {
		return err
	}
	for _, e := range entries {
		if _, lives := p.of[e.puid]; !lives {
			p.loader.gone = append(p.loader.gone, e)
			p.gone[e.puid] = struct{}{}
		}
		for _, f := range p.lostBy[e.puid] { // keep has left out the ones that it has again
			p.lost = append(p.lost, derived.Posting{Key: f, PUID: e.puid})
			if err := p.keys.add(int(f>>56), partKey{f, e.puid, isLost}); err != nil {
				return err
			}
		}
	}
	p.lostBy = nil
	return nil
}

// take reads records, several cells at a time, and keeps live ones that have not been read yet. It collects the keys of
// renewed records.
func (p *partial) take(ctx context.Context, puids []entity.PUID, is standing) error {
	unread := slices.DeleteFunc(unique(slices.Clone(puids)), func(q entity.PUID) bool { return p.of[q].slot != 0 })
	if err := p.eachHome(unread, p.loads.page, func(id cell.ID, page []entity.PUID) error {
		var records []*entity.Record
		if err := p.Resolver.read(ctx, id, func(tx storage.Tx) (err error) {
			records, err = tx.Records(ctx, page)
			return err
		}); err != nil {
			return fmt.Errorf("cell %v: read records: %w", id, err)
		}
		nodes := make([]*node, 0, len(page))
		for _, rec := range records {
			if rec == nil || rec.Deleted() {
				continue
			}
			n := &node{Record: rec, kind: p.Rules().Kind(rec.Kind)}
			if n.kind == nil {
				return fmt.Errorf("%w: there is a kind %s", errOldRules, rec.Kind)
			}
			if is&isRenewed != 0 {
				n.norm = n.kind.normalise(rec)
			}
			nodes = append(nodes, n)
		}
		return p.keepAll(nodes, is)
	}); err != nil {
		return err
	}
	return p.flush()
}

// eachHome calls fn with up to size records of one cell, for several cells at once.
func (p *partial) eachHome(puids []entity.PUID, size int, fn func(id cell.ID, page []entity.PUID) error) error {
	groups := map[cell.ID][]entity.PUID{}
	for _, q := range puids {
		id, err := p.home(q)
		if err != nil {
			return err
		}
		groups[id] = append(groups[id], q)
	}
	ids := slices.SortedFunc(maps.Keys(groups), cell.ID.Compare)
	return p.abreast(len(ids), func(i int) error {
		for page := range slices.Chunk(groups[ids[i]], size) {
			if err := fn(ids[i], page); err != nil {
				return err
			}
		}
		return nil
	})
}

// keepAll keeps records.
func (p *partial) keepAll(nodes []*node, is standing) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var piece loadPiece
	for _, n := range nodes {
		piece.add(n)
	}
	if err := p.keep(&piece); err != nil {
		return err
	}
	for _, n := range nodes {
		p.versions = append(p.versions, uint32(min(n.Version, math.MaxUint32))) //nolint:gosec // a higher one stays in the redo set
		p.of[n.PUID] = chosen{uint32(len(p.versions)), is}                      //nolint:gosec // number refuses more
		if err := p.collect(n, is); err != nil {
			return err
		}
	}
	if p.slots == nil {
		p.tell(LoadProgress{LoadRead, len(p.versions), max(p.records, len(p.versions)+1)})
	}
	return nil
}

// collect collects the keys of a renewed record.
func (p *partial) collect(n *node, is standing) error {
	if is&isRenewed == 0 {
		return nil
	}
	if lost := p.lostBy[n.PUID]; len(lost) > 0 {
		p.lostBy[n.PUID] = slices.DeleteFunc(slices.Clone(lost), n.carries)
	}
	for _, f := range n.norm.BlockingKeys() {
		row := partKey{key: f.Hash, puid: n.PUID}
		if f.Identifies() {
			row.is |= identifies
		}
		if is&isUnsettled == 0 {
			row.is |= isStored
		}
		if err := p.keys.add(int(f.Hash>>56), row); err != nil {
			return err
		}
	}
	return nil
}

// renewAll marks records as renewed, unless they already are.
func (p *partial) renewAll(ctx context.Context, puids []entity.PUID, is standing) error {
	var slots []uint32
	var unread []entity.PUID
	for _, q := range unique(puids) {
		switch c := p.of[q]; {
		case c.is&isRenewed != 0:
		case c.slot == 0:
			unread = append(unread, q)
		default:
			slots = append(slots, c.slot-1)
			p.of[q] = chosen{c.slot, c.is | is}
		}
	}
	slices.Sort(slots)
	for part := range slices.Chunk(slots, p.loads.nodes) {
		nodes, err := p.decode(part, true)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if err := p.collect(n, is); err != nil {
				return err
			}
		}
	}
	return p.take(ctx, unread, is)
}
