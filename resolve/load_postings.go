// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// loadPosting is a posting of the record with a number.
type loadPosting struct {
	key uint64
	rec uint32
	is  keyFlags
}

func (p loadPosting) append(b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(b, p.key), p.rec), byte(p.is))
}

func (loadPosting) read(b []byte) loadPosting {
	return loadPosting{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:]), keyFlags(b[12])}
}

// loadShard is the postings whose keys have the same first byte.
type loadShard []loadPosting

// loadBlock is the records that carry a key.
type loadBlock []loadPosting

func (k loadBlock) stopKey() bool { return k[0].is&isStop != 0 || stopKey(k[0].key, len(k)) }

// emitPostings collects the postings of the record with a number, also those of a follower, because the leaders are not
// known yet. It is safe for concurrent use.
func (l *loader) emitPostings(rec uint32, n *node) error {
	for _, f := range l.lostBy[n.PUID] {
		if !n.carries(f) {
			l.mu.Lock()
			l.lost = append(l.lost, derived.Posting{Key: f, PUID: n.PUID})
			l.mu.Unlock()
		}
	}
	for _, f := range n.norm.BlockingKeys() {
		p := loadPosting{key: f.Hash, rec: rec}
		if f.Identifies() {
			p.is = identifies
		}
		if err := l.shards.add(int(f.Hash>>56), p); err != nil {
			return err
		}
	}
	return nil
}

// blocks calls fn for the records of each key, ordered by key.
func (s loadShard) blocks(fn func(loadBlock)) {
	for from := 0; from < len(s); {
		to := from + 1
		for to < len(s) && s[to].key == s[from].key {
			to++
		}
		fn(loadBlock(s[from:to]))
		from = to
	}
}

// eachShard calls fn for all shards, several at a time.
func (l *loader) eachShard(ctx context.Context, fn func(i int, s loadShard) error) error {
	return l.abreast(len(l.shards.all), func(i int) error {
		s, err := l.shard(ctx, i)
		if err != nil {
			return err
		}
		return fn(i, s)
	})
}

// shard reads a shard.
func (l *loader) shard(ctx context.Context, i int) (loadShard, error) {
	l.moves()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return l.shards.rows(i)
}

// lead sorts the postings of all records, finds the leaders of identical records, and drops the postings of their
// followers.
func (l *loader) lead(ctx context.Context) error {
	if l.part != nil { // done by choose
		return nil
	}
	follows := make([]bool, len(l.puids)) // identical records are in one shard
	if err := l.eachShard(ctx, func(i int, s loadShard) error {
		slices.SortFunc(s, func(a, b loadPosting) int {
			if a.key == b.key {
				return cmp.Compare(a.rec, b.rec)
			}
			return cmp.Compare(a.key, b.key)
		})
		s.blocks(func(k loadBlock) {
			if match.IsEqual(k[0].key) {
				for _, p := range k[1:] {
					follows[p.rec] = true
				}
			}
		})
		return l.shards.set(i, s)
	}); err != nil {
		return err
	}
	return l.eachShard(ctx, func(i int, s loadShard) error {
		var lost []derived.Posting
		kept := slices.DeleteFunc(s, func(p loadPosting) bool {
			drop := follows[p.rec] && !match.IsEqual(p.key)
			if drop && l.stale {
				lost = append(lost, derived.Posting{Key: p.key, PUID: l.puids[p.rec]})
			}
			return drop
		})
		pairs := 0
		kept.blocks(func(k loadBlock) { pairs += k.pairs() })
		l.mu.Lock()
		l.lost, l.postings, l.pairs = append(l.lost, lost...), l.postings+len(kept), l.pairs+pairs
		l.mu.Unlock()
		if len(kept) == len(s) { // DeleteFunc keeps the length of s
			return nil
		}
		return l.shards.set(i, kept)
	})
}

// post writes the postings. What the comparison needs is counted and ordered at the same time, which reads only
// temporary files.
func (l *loader) post(ctx context.Context) error {
	prepared := make(chan error, 1)
	go func() { prepared <- cmp.Or(l.count(ctx), l.place(ctx)) }()
	return errors.Join(l.writePostings(ctx), <-prepared)
}

// writePostings writes the postings. Parts that are written concurrently are far apart, mostly in different cells, and
// each is written in key order.
func (l *loader) writePostings(ctx context.Context) error {
	if l.stale {
		for part := range slices.Chunk(l.lost, l.loads.rows) {
			groups := map[cell.ID]*postings{}
			for _, p := range part {
				g := l.postingsAt(groups, p.Key)
				g.remove = append(g.remove, p)
			}
			if err := l.postGroups(ctx, groups); err != nil {
				return err
			}
		}
	}
	l.lost = nil
	const abreast = 16
	shards := len(l.shards.all) / abreast
	return l.abreast(abreast, func(i int) error {
		groups, rows := map[cell.ID]*postings{}, 0
		flush := func() error {
			defer clear(groups)
			if err := l.postGroups(ctx, groups); err != nil {
				return err
			}
			err := l.done(ctx, LoadPost, rows, l.postings)
			rows = 0
			return err
		}
		for shard := i * shards; shard < (i+1)*shards; shard++ {
			s, err := l.shard(ctx, shard)
			if err != nil {
				return err
			}
			for _, p := range s {
				if p.is&isStored != 0 {
					continue
				}
				g := l.postingsAt(groups, p.key)
				g.add = append(g.add, derived.Posting{Key: p.key, PUID: l.puids[p.rec]})
				if rows++; rows >= l.loads.rows {
					if err := flush(); err != nil {
						return err
					}
				}
			}
		}
		return flush()
	})
}

func (l *loader) postingsAt(groups map[cell.ID]*postings, key uint64) *postings {
	id := l.keyCell(key)
	if groups[id] == nil {
		groups[id] = &postings{}
	}
	return groups[id]
}

func (l *loader) postGroups(ctx context.Context, groups map[cell.ID]*postings) error {
	return eachCell(groups, func(id cell.ID, g *postings) error {
		return l.Resolver.write(ctx, id, func(tx storage.Tx) error {
			if err := l.dir.Gate(ctx, tx, l.opts.Cells.Map(), id); err != nil {
				return err
			}
			if err := tx.Post(ctx, g.add, g.remove); err != nil {
				return fmt.Errorf("post blocking keys: %w", err)
			}
			return nil
		})
	})
}

// count counts the names of identifiers that more than a few records carry.
func (l *loader) count(ctx context.Context) error {
	var asked []loadBlock
	size := 0
	var mu sync.Mutex
	names := func() error {
		set := map[uint32]struct{}{}
		for _, k := range asked {
			for _, p := range k {
				set[p.rec] = struct{}{}
			}
		}
		numbers, found, err := l.compared(slices.Sorted(maps.Keys(set)))
		if err != nil {
			return fmt.Errorf("count names: %w", err)
		}
		read := make(map[uint32]*match.Record, len(numbers))
		for i, rec := range numbers {
			read[rec] = found[i].norm
		}
		parallel(len(asked), func(i int) {
			records := make([]*match.Record, 0, len(asked[i]))
			for _, p := range asked[i] {
				if norm := read[p.rec]; norm != nil {
					records = append(records, norm)
				}
			}
			different := match.DifferentNames(records)
			mu.Lock()
			defer mu.Unlock()
			l.names[asked[i][0].key] = different
		})
		asked, size = nil, 0
		return nil
	}
	for i := range l.shards.all {
		s, err := l.shard(ctx, i)
		if err != nil {
			return err
		}
		s.blocks(func(k loadBlock) {
			switch {
			case k[0].is&identifies == 0:
			case k.stopKey():
				l.names[k[0].key] = match.Crowd
			case len(k) > match.PhoneNames:
				asked, size = append(asked, k), size+len(k)
			}
		})
		if size >= l.loads.nodes {
			if err := names(); err != nil {
				return err
			}
		}
	}
	return names()
}
