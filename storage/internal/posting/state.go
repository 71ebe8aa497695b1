// SPDX-License-Identifier: Apache-2.0

package posting

import (
	"encoding/binary"
	"errors"
	"slices"
)

// run is an entry of the list of runs.
type run struct {
	id      uint64
	level   int
	chunks  uint32
	parts   uint32 // of the index; a run of one chunk has none
	entries uint64
	gone    uint64 // entries of removed postings
	start   int64  // the first key
	end     int64  // the last key
	hash    uint64 // of the index, or of the only chunk; see chain
}

// state is the row of the state.
type state struct {
	next uint64 // the number of the next run; numbers are not given again
	runs []run  // oldest first
	tail []byte // a chunk
}

func (s *state) clone() *state {
	return &state{next: s.next, runs: slices.Clone(s.runs), tail: s.tail}
}

// The row of the state is, with numbers as varints unless said otherwise: a format byte; the number of the next run;
// the number of runs; for each its number, level, chunks, parts, entries, gone ones, first key, last key and hash in 8
// bytes each, little endian; and the tail. An empty row means that there are no postings.
const stateFormat = 1

var errState = errors.New("this is no list of runs")

func (s *state) marshal() []byte {
	b := append(make([]byte, 0, 16+40*len(s.runs)+len(s.tail)), stateFormat)
	b = binary.AppendUvarint(b, s.next)
	b = binary.AppendUvarint(b, uint64(len(s.runs)))
	for _, r := range s.runs {
		for _, n := range []uint64{r.id, uint64(r.level), uint64(r.chunks), uint64(r.parts), r.entries, r.gone} {
			b = binary.AppendUvarint(b, n)
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(r.start))
		b = binary.LittleEndian.AppendUint64(b, uint64(r.end))
		b = binary.LittleEndian.AppendUint64(b, r.hash)
	}
	return append(b, s.tail...)
}

func parseState(b []byte) (*state, error) {
	s := &state{next: 1, tail: packed(nil)}
	if len(b) == 0 {
		return s, nil
	}
	ok := b[0] == stateFormat
	b = b[1:]
	number := func(most uint64) uint64 {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > most {
			ok = false
			return 0
		}
		b = b[size:]
		return n
	}
	const most = 1 << 62
	s.next = number(maxRuns)
	for n := number(most); ok && n > 0; n-- {
		r := run{
			id: number(maxRuns), level: int(number(most)), chunks: uint32(number(maxChunks)),
			parts: uint32(number(maxChunks)), entries: number(most), gone: number(most),
		}
		if ok = ok && len(b) >= 24 && r.id < s.next && r.chunks > 0 && (r.chunks == 1) == (r.parts == 0); ok {
			r.start, r.end, r.hash = int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:])), binary.LittleEndian.Uint64(b[16:])
			b = b[24:]
			s.runs = append(s.runs, r)
		}
	}
	if !ok {
		return nil, errState
	}
	s.tail = b
	_, err := unpacked(b)
	return s, err
}

// An id of posting_chunk is the number of a run, a bit that tells parts from chunks, and the number of the row in its
// run. A new run every second would reach maxRuns after 68 years.
const (
	runShift  = 32
	partBit   = 1 << 31
	maxChunks = partBit - 1
	maxRuns   = 1<<31 - 1
)

func chunkID(run uint64, n uint32) int64 { return int64(run<<runShift | uint64(n)) }
func partID(run uint64, n uint32) int64  { return int64(run<<runShift | partBit | uint64(n)) }

// ids returns the rows of a run.
func (r run) ids() []int64 {
	ids := make([]int64, 0, r.chunks+r.parts)
	for n := range r.chunks {
		ids = append(ids, chunkID(r.id, n))
	}
	for n := range r.parts {
		ids = append(ids, partID(r.id, n))
	}
	return ids
}

// indexIDs returns the rows of the index of a run. The only chunk of a run is its index.
func (r run) indexIDs() []int64 {
	if r.parts == 0 {
		return []int64{chunkID(r.id, 0)}
	}
	ids := make([]int64, r.parts)
	for n := range r.parts {
		ids[n] = partID(r.id, n)
	}
	return ids
}
