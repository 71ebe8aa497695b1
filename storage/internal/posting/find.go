// SPDX-License-Identifier: Apache-2.0

package posting

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
)

// ask is a query for the records of a key, starting at a record.
type ask struct {
	place
	limit int
}

// RecordsByKey returns the records of each key, ordered by puid, at most limits[i] of them.
func (r *Runs) RecordsByKey(ctx context.Context, keys []uint64, limits []int) ([][]entity.PUID, error) {
	asks := make([]ask, len(keys))
	for i, k := range keys {
		asks[i] = ask{place{int64(k), math.MinInt64}, min(limits[i], math.MaxInt32)}
	}
	return r.find(ctx, asks)
}

// has reports which postings there are.
func (r *Runs) has(ctx context.Context, postings []derived.Posting) ([]bool, error) {
	asks := make([]ask, len(postings))
	for i, p := range postings {
		asks[i] = ask{placeOf(p), 1}
	}
	found, err := r.find(ctx, asks)
	if err != nil {
		return nil, err
	}
	has := make([]bool, len(postings))
	for i, p := range postings {
		has[i] = len(found[i]) > 0 && found[i][0] == p.PUID
	}
	return has, nil
}

// page returns up to limit postings after the given one, or the first ones, in order of signed keys.
func (r *Runs) page(ctx context.Context, after *derived.Posting, limit int) (page []derived.Posting, err error) {
	err = r.again(ctx, nil, func(s *state) error {
		page = nil
		from := func(run) uint32 { return 0 }
		if after != nil {
			indexes, err := r.indexes(ctx, s.runs)
			if err != nil {
				return err
			}
			begin := map[uint64]uint32{}
			for i, of := range s.runs {
				begin[of.id] = uint32(max(0, indexes[i].behind(placeOf(*after))-1)) //nolint:gosec // a chunk
			}
			from = func(of run) uint32 { return begin[of.id] }
		}
		m := newMerger(r, s.runs, from, false)
		m.block = max(1, min(rowsAtOnce, 2*limit/fullChunk/max(1, len(s.runs))))
		m.tail(s.tail)
		if err := m.begin(ctx); err != nil {
			return err
		}
		for len(page) < limit {
			e, more, err := m.next(ctx)
			if err != nil || !more {
				return err
			}
			if !e.gone && (after == nil || e.compare(placeOf(*after)) > 0) {
				page = append(page, e.posting())
			}
		}
		return nil
	})
	return page, err
}

func (r *Runs) find(ctx context.Context, asks []ask) (found [][]entity.PUID, err error) {
	if len(asks) == 0 {
		return make([][]entity.PUID, 0), nil
	}
	err = r.again(ctx, asks, func(s *state) error {
		indexes, err := r.indexes(ctx, s.runs)
		if err != nil {
			return err
		}
		found, err = (&finder{runs: r, state: s, indexes: indexes}).find(ctx, asks)
		return err
	})
	return found, err
}

// finder processes queries with as few reads as possible, mostly one.
type finder struct {
	runs    *Runs
	state   *state
	indexes []*index
	bodies  map[int64][]byte // chunks that were read
	entries []entry          // of the ask that is merged
}

// span is the chunks of a run that may have entries that are asked for.
type span struct {
	run      int
	from, to int
}

// want is an ask that is not answered yet.
type want struct {
	ask
	i     int // of the ask
	spans []span
	width int // chunks of each run that are read
	most  int // entries of each run that are looked at
}

func (f *finder) find(ctx context.Context, asks []ask) ([][]entity.PUID, error) {
	found := make([][]entity.PUID, len(asks))
	for open := f.wants(asks); len(open) > 0; {
		if err := f.read(ctx, open); err != nil {
			return nil, err
		}
		left := open[:0]
		for _, w := range open {
			puids, done, err := f.merge(w)
			if err != nil {
				return nil, err
			}
			if found[w.i] = puids; !done {
				w.width, w.most = 4*w.width, 4*w.most
				left = append(left, w)
			}
		}
		open = left
	}
	return found, nil
}

// wants returns the rows that queries need of the runs whose index is known.
func (f *finder) wants(asks []ask) []want {
	open, spans := make([]want, 0, len(asks)), make([]span, 0, 2*len(asks))
	for i, a := range asks {
		if a.limit <= 0 {
			continue
		}
		first := len(spans)
		for n, x := range f.indexes {
			if x == nil {
				continue
			}
			if from, to := x.within(a.place); from < to {
				spans = append(spans, span{n, from, to})
			}
		}
		open = append(open, want{ask: a, i: i, width: 2 + a.limit/fullChunk, most: a.limit + fanout, spans: spans[first:]})
	}
	return open
}

// read reads the chunks that open asks want and that were not read yet.
func (f *finder) read(ctx context.Context, open []want) error {
	ids := f.missing(open)
	if len(ids) == 0 {
		return nil
	}
	bodies, err := f.runs.chunks(ctx, ids)
	if len(f.bodies) == 0 {
		f.bodies = bodies
	} else {
		maps.Copy(f.bodies, bodies)
	}
	return err
}

// missing returns the chunks that open asks want and that were not read yet.
func (f *finder) missing(open []want) (ids []int64) {
	for _, w := range open {
		for _, s := range w.spans {
			for n := s.from; n < min(s.to, s.from+w.width); n++ {
				if id := chunkID(f.state.runs[s.run].id, uint32(n)); f.indexes[s.run].only == nil && f.bodies[id] == nil { //nolint:gosec // a chunk
					ids = append(ids, id)
				}
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// list is the entries of one key in a run.
type list struct {
	at, to int  // in the entries of the finder
	more   bool // there may be more, which were not looked at
}

// merge returns the records of a query and reports whether they are complete.
func (f *finder) merge(w want) (puids []entity.PUID, done bool, err error) {
	var buffer [16]list
	lists := buffer[:0] // oldest first
	f.entries = f.entries[:0]
	for _, s := range w.spans {
		l := list{at: len(f.entries), more: s.to-s.from > w.width}
		for n := s.from; n < min(s.to, s.from+w.width); n++ {
			id := chunkID(f.state.runs[s.run].id, uint32(n)) //nolint:gosec // a chunk
			body := f.indexes[s.run].only
			if body == nil {
				body = f.bodies[id]
			}
			more, err := f.collect(w, body, w.most-(len(f.entries)-l.at))
			if err != nil {
				return nil, false, cell.Damaged(ChunkTable, id, err)
			}
			if l.more = l.more || more; more {
				break
			}
		}
		if l.to = len(f.entries); l.at < l.to || l.more {
			lists = append(lists, l)
		}
	}
	l := list{at: len(f.entries)}
	if _, err := f.collect(w, f.state.tail, math.MaxInt); err != nil {
		return nil, false, cell.Damaged(StateTable, 1, err)
	}
	if l.to = len(f.entries); l.at < l.to {
		lists = append(lists, l)
	}
	for len(puids) < w.limit {
		next := -1
		for i := range lists { // a newer entry for the same posting replaces an older one
			l := &lists[i]
			if l.at == l.to {
				if l.more {
					return nil, false, nil
				}
				continue
			}
			if next < 0 || f.entries[l.at].puid <= f.entries[next].puid {
				next = l.at
			}
		}
		if next < 0 {
			break
		}
		at := f.entries[next]
		if !at.gone {
			puids = append(puids, entity.PUID(at.puid))
		}
		for i := range lists {
			if l := &lists[i]; l.at < l.to && f.entries[l.at].puid == at.puid {
				l.at++
			}
		}
	}
	return puids, true, nil
}

// collect appends the entries of a chunk that are asked for, up to a number, and reports whether there may be more.
func (f *finder) collect(w want, body []byte, most int) (more bool, err error) {
	r := readChunk(body)
	for r.skip(w.key); r.next() && r.last.key <= w.key; {
		if r.last.key < w.key || r.last.puid < w.puid {
			continue
		}
		if most--; most < 0 {
			return true, nil
		}
		f.entries = append(f.entries, r.last)
	}
	return false, r.err
}
