// SPDX-License-Identifier: Apache-2.0

package posting

import (
	"fmt"

	"github.com/FastFilter/xorfilter"

	"github.com/locus-db/locus/resolve/derived"
)

// rowsAtOnce is how many chunks are written, or read by a merge, at a time.
const rowsAtOnce = 64

// writer writes the entries of a run, which it receives in order. run has the number and, if the run is continued, its
// current contents.
type writer struct {
	put func([]Row) error

	run    run
	chunk  chunk
	rows   []Row
	firsts []place  // of the chunks of the part
	keys   []uint64 // keys of the part, each once
	index  index
	built  bool // the index is of the whole run
}

func (w *writer) add(e entry) error {
	if len(w.chunk.body) == 0 {
		w.chunk.reset()
		w.built = w.run.chunks == 0
	}
	if len(w.chunk.body)+entrySize > chunkSize {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if len(w.chunk.body) == 1 {
		if len(w.firsts) == partChunks {
			if err := w.part(); err != nil {
				return err
			}
		}
		w.firsts = append(w.firsts, e.place)
	}
	if n := len(w.keys); n == 0 || w.keys[n-1] != uint64(e.key) {
		w.keys = append(w.keys, uint64(e.key))
	}
	w.chunk.add(e)
	if w.run.entries == 0 {
		w.run.start = e.key
	}
	w.run.entries++
	if e.gone {
		w.run.gone++
	}
	w.run.end = e.key
	return nil
}

// flush ends a chunk.
func (w *writer) flush() error {
	if w.run.chunks >= maxChunks {
		return fmt.Errorf("a run has %d chunks, which is all that it can have", w.run.chunks)
	}
	if err := w.row(chunkID(w.run.id, w.run.chunks), w.chunk.body); err != nil {
		return err
	}
	w.run.chunks++
	w.chunk.body = make([]byte, 0, chunkSize) // the row has the other
	w.chunk.reset()
	return nil
}

func (w *writer) row(id int64, body []byte) error {
	w.rows = append(w.rows, Row{ID: id, Body: body, Sum: SumOf(id, body)})
	if len(w.rows) < rowsAtOnce {
		return nil
	}
	return w.send()
}

func (w *writer) send() error {
	rows := w.rows
	w.rows = nil
	if len(rows) == 0 {
		return nil
	}
	return w.put(rows)
}

// part ends a part of the index. All its chunks are flushed.
func (w *writer) part() error {
	keys, err := xorfilter.PopulateBinaryFuse8(w.keys)
	if err != nil {
		return fmt.Errorf("make a filter of %d keys: %w", len(w.keys), err)
	}
	body := marshalPart(w.firsts, keys)
	if err := w.row(partID(w.run.id, w.run.parts), body); err != nil {
		return err
	}
	w.run.parts++
	w.run.hash = chain(w.run.hash, body)
	w.firsts, w.keys = w.firsts[:0], w.keys[:0]
	return w.index.add(body)
}

// close ends the run and returns its index, nil if not all of the index is in memory.
func (w *writer) close() (*index, error) {
	if len(w.chunk.body) > 1 {
		if w.run.chunks == 0 { // the only chunk
			w.index.only, w.run.hash = w.chunk.body, chain(0, w.chunk.body)
			w.firsts = nil
		}
		if err := w.flush(); err != nil {
			return nil, err
		}
	}
	if len(w.firsts) > 0 {
		if err := w.part(); err != nil {
			return nil, err
		}
	}
	if err := w.send(); err != nil || !w.built {
		return nil, err
	}
	built := w.index // a copy without the writer, whose buffers would otherwise stay in memory
	return &built, nil
}

// Convert writes the postings that next returns, page by page and in order of signed keys, as one run, and returns the
// row of the state.
func Convert(next func(after *derived.Posting) ([]derived.Posting, error), put func([]Row) error) (Row, error) {
	s, w := &state{next: 1, tail: packed(nil)}, &writer{put: put}
	for after := (*derived.Posting)(nil); ; {
		page, err := next(after)
		if err != nil {
			return Row{}, err
		}
		if len(page) == 0 {
			break
		}
		for _, p := range page {
			if err := w.add(entry{placeOf(p), false}); err != nil {
				return Row{}, err
			}
		}
		after = &page[len(page)-1]
	}
	if _, err := w.close(); err != nil {
		return Row{}, err
	}
	if w.run.chunks > 0 {
		w.run.level = levelOf(w.run.entries)
		s.runs = append(s.runs, w.run)
	}
	body := s.marshal()
	return Row{ID: 1, Body: body, Sum: SumOf(1, body)}, nil
}
