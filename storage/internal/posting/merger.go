// SPDX-License-Identifier: Apache-2.0

package posting

import (
	"context"
	"errors"
)

var errOther = errors.New("the rows of a run are not those that were written")

// merger reads runs, from a chunk of each on, and a tail, in order. Of entries for one posting it returns the newest.
type merger struct {
	of      *Runs
	cursors []*cursor // oldest first
	mend    bool      // damaged chunks are left out
	block   int       // chunks that are read at a time
}

// cursor is the place in a run.
type cursor struct {
	run    run
	next   uint32 // the first chunk that is not read
	bodies [][]byte
	reader *reader
	done   bool
}

func newMerger(of *Runs, runs []run, from func(run) uint32, mend bool) *merger {
	m := &merger{of: of, mend: mend, block: rowsAtOnce}
	for _, r := range runs {
		m.cursors = append(m.cursors, &cursor{run: r, next: from(r), reader: &reader{}})
	}
	return m
}

// tail adds the entries of the tail, which are newer than those of all runs.
func (m *merger) tail(body []byte) {
	m.cursors = append(m.cursors, &cursor{reader: &reader{}, bodies: [][]byte{body}})
}

// fill reads the next chunks for cursors that have none left.
func (m *merger) fill(ctx context.Context, cursors []*cursor) error {
	var ids []int64
	for _, c := range cursors {
		for n := c.next; n < min(c.next+uint32(m.block), c.run.chunks); n++ { //nolint:gosec // a block is small
			ids = append(ids, chunkID(c.run.id, n))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var found map[int64][]byte
	var err error
	if m.mend {
		found, err = m.of.intact(ctx, ids)
	} else {
		found, err = m.of.chunks(ctx, ids)
	}
	if err != nil {
		return err
	}
	for _, c := range cursors {
		for to := min(c.next+uint32(m.block), c.run.chunks); c.next < to; c.next++ { //nolint:gosec // a block is small
			if body := found[chunkID(c.run.id, c.next)]; body != nil {
				c.bodies = append(c.bodies, body)
			}
		}
	}
	return nil
}

// step moves a cursor to its next entry.
func (m *merger) step(ctx context.Context, c *cursor) error {
	for !c.done && !c.reader.next() {
		switch {
		case c.reader.err != nil:
			return c.reader.err
		case len(c.bodies) > 0:
			c.reader, c.bodies = readChunk(c.bodies[0]), c.bodies[1:]
		case c.next < c.run.chunks:
			if err := m.fill(ctx, []*cursor{c}); err != nil {
				return err
			}
		default:
			c.done = true
		}
	}
	return nil
}

// remember takes the chunks of single-chunk runs from the cache, if they are there. It is called before begin.
func (m *merger) remember() {
	for _, c := range m.cursors {
		if only := m.of.cache.only(c.run); only != nil {
			c.bodies, c.next = [][]byte{only}, c.run.chunks
		}
	}
}

// begin reads the first entry of each run.
func (m *merger) begin(ctx context.Context) error {
	if err := m.fill(ctx, m.cursors); err != nil {
		return err
	}
	for _, c := range m.cursors {
		if err := m.step(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// next returns the next entry and reports whether there is one.
func (m *merger) next(ctx context.Context) (e entry, more bool, err error) {
	for _, c := range m.cursors { // a newer entry for the same posting replaces an older one
		if !c.done && (!more || c.reader.last.compare(e.place) <= 0) {
			e, more = c.reader.last, true
		}
	}
	for _, c := range m.cursors {
		if !c.done && c.reader.last.place == e.place {
			if err := m.step(ctx, c); err != nil {
				return e, false, err
			}
		}
	}
	return e, more, nil
}

// intact returns chunks without the missing and damaged ones.
func (r *Runs) intact(ctx context.Context, ids []int64) (map[int64][]byte, error) {
	rows, err := r.rows.Chunks(ctx, ids)
	found := make(map[int64][]byte, len(rows))
	for _, row := range rows {
		if row.damage(ChunkTable) == nil {
			found[row.ID] = row.Body
		}
	}
	return found, err
}
