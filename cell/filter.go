// SPDX-License-Identifier: Apache-2.0

package cell

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/FastFilter/xorfilter"
	"github.com/cespare/xxhash/v2"
)

// errFilter means that a filter is damaged or was written by a later version: it is rebuilt or ignored.
var errFilter = errors.New("cell: unreadable filter")

// filter proves that a cell lacks a key. It is built from the ring values of all rows of a sealed cell. It errs on one
// side only: for 4 in 1000 absent keys it gives no proof. It is a binary fuse filter of 9 bits per key.
//
// The encoding, little endian, is
//
//	"locusf1\n" | ring values 8 | seed 8 | segment length 4 | segments 4 | fingerprints | XXH64 of all before 8
//
// It is stored: a change needs another first line.
type filter struct {
	rings uint64
	// fuse is nil if there are no rings.
	fuse *xorfilter.BinaryFuse8
}

const (
	filterMagic = "locusf1\n"
	// filterHead is the length of everything before the fingerprints.
	filterHead = len(filterMagic) + 8 + 8 + 4 + 4
	filterSum  = 8
)

// newFilter builds a filter of distinct ring values, which it may reorder.
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

// lacks reports whether the filter proves that the cell lacks a key.
func (f *filter) lacks(k Key) bool {
	return f.fuse == nil || !f.fuse.Contains(uint64(k.Ring))
}

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

// parseFilter decodes the output of marshal; the filter retains b. The error is errFilter.
func parseFilter(b []byte) (*filter, error) {
	if len(b) < filterHead+filterSum || string(b[:len(filterMagic)]) != filterMagic {
		return nil, fmt.Errorf("%w: unknown format (%d bytes)", errFilter, len(b))
	}
	body := b[:len(b)-filterSum]
	if binary.LittleEndian.Uint64(b[len(body):]) != xxhash.Sum64(body) {
		return nil, fmt.Errorf("%w: checksum mismatch", errFilter)
	}
	head, prints := body[len(filterMagic):filterHead], body[filterHead:]
	f := &filter{rings: binary.LittleEndian.Uint64(head)}
	length, count := binary.LittleEndian.Uint32(head[16:]), binary.LittleEndian.Uint32(head[20:])
	// Every index that a key can map to must exist.
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

func (f *filter) size() int {
	if f.fuse == nil {
		return filterHead
	}
	return filterHead + len(f.fuse.Fingerprints)
}
