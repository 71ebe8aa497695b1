// SPDX-License-Identifier: Apache-2.0

package posting

import (
	"encoding/binary"
	"errors"
	"slices"
	"sort"

	"github.com/FastFilter/xorfilter"
	"github.com/cespare/xxhash/v2"
)

// index lists the chunks of a run that may contain a key.
type index struct {
	firsts []place // of each chunk
	parts  []part
	only   []byte // the chunk of a run of one
}

// part is a filter of the keys in some chunks of a run.
type part struct {
	from int // the first chunk
	keys *xorfilter.BinaryFuse8
}

// partChunks is how many chunks a part of an index covers: 170 KB.
const partChunks = 1024

// within returns the chunks, from up to but not including to, that may have entries of a key starting at a record.
func (x *index) within(at place) (from, to int) {
	if x.only != nil {
		return 0, 1
	}
	to = sort.Search(len(x.firsts), func(i int) bool { return x.firsts[i].key > at.key })
	if to == 0 {
		return 0, 0
	}
	if x.firsts[to-1].key != at.key {
		p := sort.Search(len(x.parts), func(i int) bool { return x.parts[i].from >= to }) - 1
		if !x.parts[p].keys.Contains(uint64(at.key)) {
			return 0, 0
		}
	}
	return max(0, x.behind(at)-1), to
}

// behind returns the first chunk that begins behind a place.
func (x *index) behind(at place) int {
	return sort.Search(len(x.firsts), func(i int) bool { return x.firsts[i].compare(at) > 0 })
}

// A part is stored as, little endian, a format byte; the number of chunks in 4 bytes; the key and the record of the
// first entry of each in 8 bytes; and of the filter the seed in 8, segment length and segments in 4, and the
// fingerprints.
const (
	partFormat = 1
	partHead   = 1 + 4
	filterHead = 8 + 4 + 4
)

var errPart = errors.New("this is no part of an index")

func marshalPart(firsts []place, keys *xorfilter.BinaryFuse8) []byte {
	b := make([]byte, 0, partHead+16*len(firsts)+filterHead+len(keys.Fingerprints))
	b = append(b, partFormat)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(firsts))) //nolint:gosec // at most partChunks
	for _, f := range firsts {
		b = binary.LittleEndian.AppendUint64(b, uint64(f.key))
		b = binary.LittleEndian.AppendUint64(b, uint64(f.puid))
	}
	b = binary.LittleEndian.AppendUint64(b, keys.Seed)
	b = binary.LittleEndian.AppendUint32(b, keys.SegmentLength)
	b = binary.LittleEndian.AppendUint32(b, keys.SegmentCount)
	return append(b, keys.Fingerprints...)
}

// add appends a stored part to the index, which retains it.
func (x *index) add(b []byte) error {
	if len(b) < partHead || b[0] != partFormat {
		return errPart
	}
	n := int(binary.LittleEndian.Uint32(b[1:]))
	if n == 0 || n > partChunks || len(b) < partHead+16*n+filterHead {
		return errPart
	}
	part := part{from: len(x.firsts)}
	for i := range n {
		at := b[partHead+16*i:]
		x.firsts = append(x.firsts, place{int64(binary.LittleEndian.Uint64(at)), int64(binary.LittleEndian.Uint64(at[8:]))})
	}
	if !slices.IsSortedFunc(x.firsts[max(0, part.from-1):], place.compare) {
		return errPart
	}
	head, prints := b[partHead+16*n:], b[partHead+16*n+filterHead:]
	length, count := binary.LittleEndian.Uint32(head[8:]), binary.LittleEndian.Uint32(head[12:])
	// Every place that a key can lead to must exist.
	if length == 0 || count == 0 || length&(length-1) != 0 || (uint64(count)+2)*uint64(length) != uint64(len(prints)) {
		return errPart
	}
	part.keys = &xorfilter.BinaryFuse8{
		Seed: binary.LittleEndian.Uint64(head), SegmentLength: length, SegmentLengthMask: length - 1,
		SegmentCount: count, SegmentCountLength: count * length, Fingerprints: prints,
	}
	x.parts = append(x.parts, part)
	return nil
}

// chain returns the hash of a list of rows, given the hash of the rows before body.
func chain(before uint64, body []byte) uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], before)
	binary.LittleEndian.PutUint64(b[8:], xxhash.Sum64(body))
	return xxhash.Sum64(b[:])
}
