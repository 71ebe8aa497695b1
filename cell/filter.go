// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/FastFilter/xorfilter"
	"github.com/cespare/xxhash/v2"
)

// errFilter says that a filter was damaged, or written by a later program: it is made
// again, or done without.
var errFilter = errors.New("cell: unreadable filter")

// filter proves of keys that a cell lacks them. It is made of the ring values of all rows
// of a sealed cell, and errs on one side only: of the keys that the cell
// lacks, it does not prove 4 in 1000. A key takes 9 bits: a binary fuse filter.
//
// As bytes, little endian, it is
//
//	"locusf1\n" | ring values 8 | seed 8 | segment length 4 | segments 4 | fingerprints | XXH64 of all before 8
//
// It is stored, so it never changes but for another first line.
type filter struct {
	rings uint64
	// fuse is nil if there are no rings.
	fuse *xorfilter.BinaryFuse8
}

const (
	filterMagic = "locusf1\n"
	// filterHead is the length of what stands before the fingerprints.
	filterHead = len(filterMagic) + 8 + 8 + 4 + 4
	filterSum  = 8
)

// newFilter makes a filter of distinct ring values, which it may reorder.
func newFilter(rings []uint64) (*filter, error) {
	f := &filter{rings: uint64(len(rings))}
	if len(rings) == 0 {
		return f, nil
	}
	var err error
	if f.fuse, err = xorfilter.PopulateBinaryFuse8(rings); err != nil {
		return nil, fmt.Errorf("make a filter of %d keys: %w", f.rings, err)
	}
	return f, nil
}

// lacks reports whether it is proved that the cell lacks a key.
func (f *filter) lacks(k Key) bool {
	return f.fuse == nil || !f.fuse.Contains(uint64(k.Ring))
}

// marshal writes the filter.
func (f *filter) marshal() []byte {
	fuse := f.fuse
	if fuse == nil {
		fuse = &xorfilter.BinaryFuse8{}
	}
	b := make([]byte, 0, filterHead+len(fuse.Fingerprints)+filterSum)
	b = append(b, filterMagic...)
	b = binary.LittleEndian.AppendUint64(b, f.rings)
	b = binary.LittleEndian.AppendUint64(b, fuse.Seed)
	b = binary.LittleEndian.AppendUint32(b, fuse.SegmentLength)
	b = binary.LittleEndian.AppendUint32(b, fuse.SegmentCount)
	b = append(b, fuse.Fingerprints...)
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}

// parseFilter reads what marshal wrote, and keeps b. The error is errFilter.
func parseFilter(b []byte) (*filter, error) {
	if len(b) < filterHead+filterSum || string(b[:len(filterMagic)]) != filterMagic {
		return nil, fmt.Errorf("%w: its %d bytes do not begin as those that this program writes", errFilter, len(b))
	}
	body := b[:len(b)-filterSum]
	if binary.LittleEndian.Uint64(b[len(body):]) != xxhash.Sum64(body) {
		return nil, fmt.Errorf("%w: its sum is wrong", errFilter)
	}
	head, prints := body[len(filterMagic):filterHead], body[filterHead:]
	f := &filter{rings: binary.LittleEndian.Uint64(head)}
	length, count := binary.LittleEndian.Uint32(head[16:]), binary.LittleEndian.Uint32(head[20:])
	// Every place that a key can lead to must be there.
	if whole := (uint64(count) + 2) * uint64(length); f.rings > 0 && (length == 0 || count == 0 || length&(length-1) != 0 || whole != uint64(len(prints))) {
		return nil, fmt.Errorf("%w: %d segments of %d do not make %d fingerprints", errFilter, count, length, len(prints))
	}
	if f.rings > 0 {
		f.fuse = &xorfilter.BinaryFuse8{
			Seed: binary.LittleEndian.Uint64(head[8:]), SegmentLength: length, SegmentLengthMask: length - 1,
			SegmentCount: count, SegmentCountLength: count * length, Fingerprints: prints,
		}
	}
	return f, nil
}

// size is how many bytes the filter takes in memory.
func (f *filter) size() int {
	if f.fuse == nil {
		return filterHead
	}
	return filterHead + len(f.fuse.Fingerprints)
}
