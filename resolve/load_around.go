// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// partEdge is an edge of records that have no numbers yet.
type partEdge derived.Edge

func (e partEdge) append(b []byte) []byte {
	for _, n := range [...]uint64{uint64(e.A), uint64(e.B), uint64(e.Vector)} { //nolint:gosec // read reads it back
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return binary.LittleEndian.AppendUint16(b, uint16(e.Weight)) //nolint:gosec // as above
}

func (partEdge) read(b []byte) partEdge {
	n := binary.LittleEndian.Uint64
	return partEdge{entity.PUID(n(b)), entity.PUID(n(b[8:])), match.Vector(n(b[16:])), match.Weight(binary.LittleEndian.Uint16(b[24:]))} //nolint:gosec // written by append
}

// walk reads the edges of all chosen records, and chooses all records of the components that these were in.
func (p *partial) walk(ctx context.Context) error {
	next := slices.AppendSeq(slices.Collect(maps.Keys(p.of)), maps.Keys(p.gone))
	for len(next) > 0 {
		from := unique(next)
		next = nil
		if err := p.eachHome(from, p.loads.rows, func(id cell.ID, page []entity.PUID) error {
			var edges []derived.Edge
			if err := p.Resolver.read(ctx, id, func(tx storage.Tx) (err error) {
				edges, err = tx.Edges(ctx, page)
				return err
			}); err != nil {
				return fmt.Errorf("cell %v: read edges: %w", id, err)
			}
			rows := make([]partEdge, len(edges))
			for i, e := range edges {
				rows[i] = partEdge(e)
			}
			if err := p.edges.add(int(uint64(page[0])%uint64(len(p.edges.all))), rows...); err != nil {
				return err
			}
			p.mu.Lock()
			next = p.follow(next, page, edges)
			p.mu.Unlock()
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// follow chooses the records that edges and decisions of the given records lead to, and adds the new ones to next.
func (p *partial) follow(next, from []entity.PUID, edges []derived.Edge) []entity.PUID {
	reach := func(q entity.PUID) {
		_, known := p.of[q]
		if _, gone := p.gone[q]; !known && !gone {
			p.of[q] = chosen{}
			next = append(next, q)
		}
	}
	for _, e := range edges {
		if _, gone := p.gone[e.A]; e.Weight >= match.Threshold || gone || p.of[e.A].is&isRenewed != 0 {
			reach(e.B)
		}
	}
	for _, q := range from {
		for _, d := range p.decided[q] {
			if d.Pair() {
				reach(d.B)
			}
		}
	}
	return next
}

// number numbers the chosen records in the order of their puids.
func (p *partial) number(entries []loadEntry) error {
	l := p.loader
	if len(p.of) > math.MaxUint32-1 {
		return fmt.Errorf("%w: more than %d records share its blocking keys", ErrLoad, uint32(math.MaxUint32-1))
	}
	l.puids = slices.Sorted(maps.Keys(p.of))
	n := len(l.puids)
	l.births, l.redo = make([]locality.ID, n), make([]uint32, n)
	p.slots, p.renewed, p.linked, p.touched = make([]uint32, n), make([]bool, n), make([]bool, n), make([]bool, n)
	for i, q := range l.puids {
		c := p.of[q]
		p.slots[i], p.renewed[i] = c.slot, c.is&isRenewed != 0
		p.of[q] = chosen{uint32(i), c.is} //nolint:gosec // as above
	}
	for _, id := range l.inOrder() {
		_, last := l.opts.Cells.Map().PuidRange(id)
		from := 0
		if k := len(l.ranges); k > 0 {
			from = l.ranges[k-1].to
		}
		to, found := slices.BinarySearch(l.puids, entity.PUID(last))
		if found {
			to++
		}
		l.ranges = append(l.ranges, loadRange{id, from, to})
	}
	l.divide()
	for _, e := range entries {
		if c, lives := p.of[e.puid]; lives {
			l.redo[c.slot] = uint32(min(e.version, math.MaxUint32)) //nolint:gosec // a higher one stays in the redo set
		}
	}
	for i := range p.keys.all {
		rows, err := p.keys.rows(i)
		if err != nil {
			return err
		}
		s := make(loadShard, len(rows))
		for j, row := range rows {
			s[j] = loadPosting{row.key, p.of[row.puid].slot, row.is}
			if row.is&isStored == 0 {
				l.postings++
			}
		}
		s.blocks(func(k loadBlock) { l.pairs += k.pairs() })
		if err := l.shards.set(i, s); err != nil {
			return err
		}
	}
	p.of = nil
	return nil
}

// renews reports whether an edge to a record is computed again, or removed with it.
func (p *partial) renews(q entity.PUID) bool {
	_, gone := p.gone[q]
	i, known := slices.BinarySearch(p.puids, q)
	return gone || known && p.renewed[i]
}

// keepEdges adds the stored edges that do not change, once all others are computed, and finds the records whose
// components may change.
func (p *partial) keepEdges() error {
	l := p.loader
	for i := range p.edges.all {
		rows, err := p.edges.rows(i)
		if err != nil {
			return err
		}
		for _, e := range rows {
			a, known := slices.BinarySearch(p.puids, e.A)
			b, there := slices.BinarySearch(p.puids, e.B)
			strong := e.Weight >= match.Threshold
			switch renewed := p.renews(e.A) || p.renews(e.B); {
			case renewed && known:
				p.linked[a], p.touched[a] = true, p.touched[a] || strong
			case renewed || !there:
			default:
				row := loadEdge{uint32(a), uint32(b), e.Vector, e.Weight} //nolint:gosec // number refuses more
				if strong {
					l.join(row.a, row.b)
				}
				if err := l.edges.add(l.partOf(row.a), row); err != nil {
					return err
				}
			}
			if there && strong && p.renews(e.A) {
				p.touched[b] = true // also if a crash has removed the row of the other side
			}
		}
	}
	for i, renewed := range p.renewed {
		p.linked[i], p.touched[i] = p.linked[i] || renewed, p.touched[i] || renewed
	}
	for q, decisions := range p.decided {
		if !p.renews(q) {
			continue
		}
		for _, d := range decisions {
			if i, there := slices.BinarySearch(p.puids, d.B); there && d.Pair() {
				p.touched[i] = true
			}
		}
	}
	return nil
}

// readOf returns the numbers whose records were read, in the order of their slots, and these slots.
func (p *partial) readOf(numbers []uint32) (read, slots []uint32) {
	read = slices.DeleteFunc(slices.Clone(numbers), func(rec uint32) bool { return p.slots[rec] == 0 })
	slices.SortFunc(read, func(a, b uint32) int { return cmp.Compare(p.slots[a], p.slots[b]) })
	slots = make([]uint32, len(read))
	for i, rec := range read {
		slots[i] = p.slots[rec] - 1
	}
	return read, slots
}

// linkedFrom returns the records from one number to another whose edges are written.
func (p *partial) linkedFrom(from, to int) (puids []entity.PUID) {
	for i := from; i < to; i++ {
		if p.linked[i] {
			puids = append(puids, p.puids[i])
		}
	}
	return puids
}

// affect prepares the writing of a partial load.
func (l *loader) affect(ctx context.Context) error {
	if l.part == nil {
		return nil
	}
	return l.part.affect(ctx)
}

// affect finds the components to be written, reads their records that were not compared, and enters all of them in the
// redo sets: once edges and entities are written, a killed load could not find them again.
func (p *partial) affect(ctx context.Context) error {
	l := p.loader
	p.writes = make([]bool, len(l.puids))
	for i, touched := range p.touched {
		if touched {
			p.writes[l.groups[i]] = true
		}
	}
	l.leads = slices.DeleteFunc(l.leads, func(rec uint32) bool { return !p.writes[rec] })
	var unread []entity.PUID
	l.records = 0
	for i, q := range l.puids {
		if p.writes[l.groups[i]] {
			if l.records++; p.slots[i] == 0 {
				unread = append(unread, q)
			}
		}
	}
	p.of = map[entity.PUID]chosen{}
	if err := p.take(ctx, unread, 0); err != nil {
		return err
	}
	for q, c := range p.of {
		i, _ := slices.BinarySearch(l.puids, q)
		p.slots[i] = c.slot
	}
	p.of = nil
	return l.abreast(len(l.ranges), func(i int) error {
		var entries []derived.Redo
		flush := func() error {
			defer func() { entries = entries[:0] }()
			if len(entries) == 0 {
				return nil
			}
			return l.Resolver.write(ctx, l.ranges[i].cell, func(tx storage.Tx) error {
				_, err := tx.PutRedo(ctx, entries)
				return err
			})
		}
		for rec := l.ranges[i].from; rec < l.ranges[i].to; rec++ {
			if l.redo[rec] != 0 || p.slots[rec] == 0 || !p.writes[l.groups[rec]] {
				continue
			}
			l.redo[rec] = p.versions[p.slots[rec]-1]
			if entries = append(entries, derived.Redo{PUID: l.puids[rec], Version: int64(l.redo[rec])}); len(entries) == l.loads.rows {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return flush()
	})
}
