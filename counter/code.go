// SPDX-License-Identifier: Apache-2.0

package counter

import (
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A column of a compacted day is stored in whichever encoding compresses best:
//
//	1 byte   way
//	varint   length of what follows
//	the rest zstd, of
//	         small      varints of the numbers
//	         large      byte planes: their lowest bytes, their second ones, ...; each a frame of its own
//	         alike      byte planes of the zigzag differences to the previous number
const (
	small = iota
	large
	alike
	ways
)

// columnMost is an upper bound for an uncompressed column, in bytes.
const columnMost = dayMinutes * binary.MaxVarintLen64

var (
	compressor = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
			zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
		if err != nil {
			panic(err) // invalid options
		}
		return e
	})
	decompressor = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(columnMost))
		if err != nil {
			panic(err) // invalid options
		}
		return d
	})
)

// encode appends a column in the shortest encoding.
func encode(to []byte, column []int64) []byte {
	best, by := []byte(nil), byte(0)
	for way := range byte(ways) {
		if packed := encodeColumn(way, column); way == 0 || len(packed) < len(best) {
			best, by = packed, way
		}
	}
	to = binary.AppendUvarint(append(to, by), uint64(len(best)))
	return append(to, best...)
}

// encodeColumn compresses a column in one encoding.
func encodeColumn(way byte, column []int64) (packed []byte) {
	raw := make([]byte, 0, 2*len(column))
	if way == small {
		for _, v := range column {
			raw = binary.AppendUvarint(raw, uint64(v))
		}
		return compressor().EncodeAll(raw, nil)
	}
	all := uint64(0)
	for i := range column {
		all |= number(way, column, i)
	}
	for shift := 0; shift < 64 && all>>shift != 0; shift += 8 {
		raw = raw[:0]
		for i := range column {
			raw = append(raw, byte(number(way, column, i)>>shift))
		}
		packed = compressor().EncodeAll(raw, packed)
	}
	return packed
}

func number(way byte, column []int64, i int) uint64 {
	if way == large {
		return uint64(column[i])
	}
	step := column[i] // modulo 2^64
	if i > 0 {
		step -= column[i-1]
	}
	return uint64(step)<<1 ^ uint64(step>>63)
}

// decode reads a column of n numbers and returns the bytes after it.
func decode(from []byte, n int) (column []int64, rest []byte, ok bool) {
	if len(from) == 0 {
		return nil, nil, false
	}
	way := from[0]
	length, size := binary.Uvarint(from[1:])
	if size <= 0 || length > uint64(len(from)-1-size) {
		return nil, nil, false
	}
	packed, rest := from[1+size:][:length], from[1+size:][length:]
	raw, err := decompressor().DecodeAll(packed, nil)
	if err != nil {
		return nil, nil, false
	}
	column = make([]int64, n)
	return column, rest, decodeColumn(column, way, raw)
}

// decodeColumn is the inverse of spell, without the compression.
func decodeColumn(column []int64, way byte, raw []byte) bool {
	switch way {
	case small:
		for i := range column {
			v, size := binary.Uvarint(raw)
			if size <= 0 {
				return false
			}
			column[i], raw = int64(v), raw[size:]
		}
	case large, alike:
		for shift := 0; len(raw) >= len(column) && shift < 64; shift += 8 {
			for i := range column {
				column[i] |= int64(raw[i]) << shift
			}
			raw = raw[len(column):]
		}
	default:
		return false
	}
	if way == alike {
		before := int64(0)
		for i, v := range column {
			before += int64(uint64(v)>>1) ^ -(v & 1)
			column[i] = before
		}
	}
	return len(raw) == 0
}
