// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/match"
)

// partial is a load into an installation whose records are mostly resolved. It chooses the records that the load works
// on:
//
//	redo sets ─► records, renewed ─► keys ─┬─ leaders, stop keys, names ─► records that are renewed as well
//	                                       └─ stored postings ─► records that share them
//	                                                    stored edges ─► the components of all of these
//
// Edges of renewed records are computed again; edges between other records stay. Unsettled records are those in the
// redo sets and those that lead or follow others because of them. A redo entry does not record how far the work got
// before a crash, so stored rows of unsettled records cannot be trusted: as in a repair, everything that may have
// changed is treated as changed.
type partial struct {
	*loader
	mu       sync.Mutex // guards all but keys and edges while several cells are read
	of       map[entity.PUID]chosen
	keys     *buckets[partKey]  // by the first byte of the key
	edges    *buckets[partEdge] // stored ones
	gone     map[entity.PUID]struct{}
	versions []uint32 // of the records that were read, by slot

	// By the numbers of records.
	slots   []uint32 // where each is in the spill, plus one; 0 if it was not read
	renewed []bool
	linked  []bool // has an edge to a renewed record, or had one
	touched []bool // its component may have changed
	writes  []bool // its component is written; by the earliest record
}

// chosen is the state of a record in a partial load.
type chosen struct {
	slot uint32 // as in partial.slots; later its number
	is   standing
}

type standing uint8

const (
	isRenewed   standing = 1 << iota
	isUnsettled          // its stored postings prove nothing
	isFollower
)

// partKey is a posting of a record that has no number yet.
type partKey struct {
	key  uint64
	puid entity.PUID
	is   keyFlags
}

// keyFlags is the state of a posting.
type keyFlags uint8

const (
	identifies keyFlags = 1 << iota
	isStored            // it need not be written
	isLost              // a former version had it
	isStop              // its key is a stop key, though not all of its records are known
)

func (p partKey) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, p.key), uint64(p.puid)) //nolint:gosec // read reads it back
	return append(b, byte(p.is))
}

func (partKey) read(b []byte) partKey {
	return partKey{binary.LittleEndian.Uint64(b), entity.PUID(binary.LittleEndian.Uint64(b[8:])), keyFlags(b[16])} //nolint:gosec // written by append
}

// choose chooses the records of a load, given the redo sets.
func (l *loader) choose(ctx context.Context, entries []loadEntry) (err error) {
	p := &partial{loader: l, of: map[entity.PUID]chosen{}, gone: map[entity.PUID]struct{}{}}
	l.part, l.records = p, len(entries)
	if p.keys, err = newBuckets[partKey](256, l.loads.chunk); err != nil {
		return err
	}
	defer p.keys.close()
	if p.edges, err = newBuckets[partEdge](64, l.loads.chunk); err != nil {
		return err
	}
	if err := p.readPut(ctx, entries); err != nil {
		return fmt.Errorf("read what was put: %w", err)
	}
	for _, step := range []func(context.Context) error{p.lead, p.draw, p.meet, p.walk} {
		if err := step(ctx); err != nil {
			return err
		}
		if err := l.renew(ctx); err != nil {
			return err
		}
	}
	if err := p.number(entries); err != nil {
		return err
	}
	l.tell(LoadProgress{LoadRead, l.records, l.records})
	return nil
}

// close removes the file of the edges.
func (p *partial) close() {
	if p != nil {
		p.edges.close()
	}
}

// partBlock holds the rows of a key, ordered by record.
type partBlock []partKey

// eachShard calls fn for the keys with the same first byte, several bytes at a time, and keeps the rows that it
// returns.
func (p *partial) eachShard(ctx context.Context, fn func(blocks []partBlock) ([]partKey, error)) error {
	return p.abreast(len(p.keys.all), func(i int) error {
		p.moves()
		rows, err := p.keys.rows(i)
		if err = cmp.Or(ctx.Err(), err); err != nil || len(rows) == 0 {
			return err
		}
		slices.SortFunc(rows, func(a, b partKey) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.puid, b.puid), cmp.Compare(a.is, b.is))
		})
		var blocks []partBlock
		for from, to := 0, 1; from < len(rows); to++ {
			if to == len(rows) || rows[to].key != rows[from].key {
				blocks = append(blocks, partBlock(rows[from:to:to]))
				from = to
			}
		}
		kept, err := fn(blocks)
		if err != nil {
			return err
		}
		return p.keys.set(i, kept)
	})
}

// stored reads the postings of keys, some thousands at a time, up to the limit of each. It returns those of settled
// records, and whether there may be more.
func (p *partial) stored(ctx context.Context, limits map[uint64]int) (settled map[uint64][]entity.PUID, more map[uint64]bool, err error) {
	settled, more = make(map[uint64][]entity.PUID, len(limits)), map[uint64]bool{}
	b := newBatch(p.Resolver, nil, nil, nil)
	for keys := range slices.Chunk(slices.Sorted(maps.Keys(limits)), p.loads.page) {
		some := make(map[uint64]int, len(keys))
		for _, f := range keys {
			some[f] = limits[f]
		}
		found, err := b.blockOf(ctx, p.Resolver.read, some)
		if err != nil {
			return nil, nil, err
		}
		for f, puids := range found {
			more[f] = len(puids) >= limits[f]
			settled[f] = slices.DeleteFunc(puids, p.unsettled)
		}
	}
	return settled, more, nil
}

func (p *partial) unsettled(q entity.PUID) bool {
	_, gone := p.gone[q]
	return gone || p.of[q].is&isUnsettled != 0
}

// stopKey reports whether a key is one for so many records.
func stopKey(key uint64, records int) bool { return records > match.BlockLimit(key) }
