// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/match"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// loadPosting is a posting of the record with a number.
type loadPosting struct {
	key        uint64
	rec        uint32
	identifies bool
}

// loadBlock is the records that carry a key.
type loadBlock []loadPosting

func (k loadBlock) stopKey() bool { return len(k) > match.BlockLimit(k[0].key) }

// emit gives a record its number and collects its postings, those of a follower too: the leaders are not known yet.
func (l *loader) emit(n *node) {
	rec := uint32(len(l.puids)) //nolint:gosec // read refuses more
	l.puids, l.versions = append(l.puids, n.PUID), append(l.versions, n.Version)
	for _, f := range l.lostBy[n.PUID] {
		if !n.carries(f) {
			l.lost = append(l.lost, derived.Posting{Key: f, PUID: n.PUID})
		}
	}
	for _, f := range n.norm.BlockingKeys() {
		s := &l.shards[f.Hash>>56]
		*s = append(*s, loadPosting{f.Hash, rec, f.Identifies()})
	}
}

// blocks calls fn for the records of each key, ordered by key.
func (l *loader) blocks(fn func(loadBlock)) {
	for i := range l.shards {
		s := l.shards[i]
		for from := 0; from < len(s); {
			to := from + 1
			for to < len(s) && s[to].key == s[from].key {
				to++
			}
			fn(s[from:to])
			from = to
		}
	}
}

// lead sorts the postings, finds the leaders of identical records, and drops the postings of their followers.
func (l *loader) lead(context.Context) error {
	parallel(len(l.shards), func(i int) {
		slices.SortFunc(l.shards[i], func(a, b loadPosting) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.rec, b.rec)) })
	})
	l.follows = make([]uint32, len(l.puids))
	l.blocks(func(k loadBlock) {
		if match.IsEqual(k[0].key) {
			for _, p := range k[1:] {
				l.follows[p.rec] = k[0].rec + 1
			}
		}
	})
	for i := range l.shards {
		l.shards[i] = slices.DeleteFunc(l.shards[i], func(p loadPosting) bool {
			drop := l.follows[p.rec] != 0 && !match.IsEqual(p.key)
			if drop && l.stale {
				l.lost = append(l.lost, derived.Posting{Key: p.key, PUID: l.puids[p.rec]})
			}
			return drop
		})
		l.postings += len(l.shards[i])
	}
	return nil
}

// post writes the postings in the order of their keys.
func (l *loader) post(ctx context.Context) error {
	groups, rows, done := map[cell.ID]*postings{}, 0, 0
	at := func(key uint64) *postings {
		id := l.keyCell(key)
		if groups[id] == nil {
			groups[id] = &postings{}
		}
		rows++
		return groups[id]
	}
	flush := func() error {
		err := eachCell(groups, func(id cell.ID, g *postings) error {
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
		done += rows
		clear(groups)
		rows = 0
		l.tell(LoadProgress{LoadPost, min(done, l.postings), l.postings})
		return err
	}
	if l.stale {
		for _, p := range l.lost {
			g := at(p.Key)
			g.remove = append(g.remove, p)
		}
	}
	l.lost = nil
	for i := range l.shards {
		for _, p := range l.shards[i] {
			g := at(p.key)
			if g.add = append(g.add, derived.Posting{Key: p.key, PUID: l.puids[p.rec]}); rows >= l.loads.rows {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// count finds the stop keys, and counts the names for the identifiers that more than a few records carry.
func (l *loader) count(ctx context.Context) error {
	var err error
	var asked []loadBlock
	size := 0
	names := func() {
		read, e := l.nodes(ctx, numbers(asked))
		if err = errors.Join(err, e); e != nil {
			return
		}
		for _, k := range asked {
			records := make([]*match.Record, len(k))
			for i, p := range k {
				records[i] = read[p.rec].norm
			}
			l.names[k[0].key] = match.DifferentNames(records)
		}
		asked, size = nil, 0
	}
	l.blocks(func(k loadBlock) {
		stop := k.stopKey()
		if stop {
			l.stops[k[0].key] = struct{}{}
		}
		switch {
		case err != nil || !k[0].identifies || len(k) <= match.PhoneNames:
		case stop:
			l.names[k[0].key] = match.Crowd
		default:
			if asked, size = append(asked, k), size+len(k); size >= l.loads.nodes {
				names()
			}
		}
	})
	if names(); err != nil {
		return fmt.Errorf("count names: %w", err)
	}
	return nil
}

// numbers returns the records of blocks, ordered.
func numbers(blocks []loadBlock) []uint32 {
	set := map[uint32]struct{}{}
	for _, k := range blocks {
		for _, p := range k {
			set[p.rec] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(set))
}
