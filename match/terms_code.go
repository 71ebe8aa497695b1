// SPDX-License-Identifier: Apache-2.0

package match

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// ErrTermFrequencies means that bytes are not a term-frequency table, or are a table of a newer Locus.
var ErrTermFrequencies = errors.New("match: no term-frequency table")

// An encoded term-frequency table is the magic with the format version, the hash, and, compressed with zstd, the number
// of records and the three tables. A table is its length followed by rows ordered by hash: the difference to the
// previous hash, and the count. Numbers are varints.
var termsMagic = []byte("locus-pack/2\n")

const (
	termsHead = len("locus-pack/2\n") + 8
	// termsMost bounds the decompressed size of a term-frequency table.
	termsMost = 1 << 28
)

var (
	termsEncoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
		if err != nil {
			panic(err) // invalid options
		}
		return e
	})
	termsDecoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(termsMost))
		if err != nil {
			panic(err) // invalid options
		}
		return d
	})
)

// MarshalBinary encodes the term-frequency table. Equal term-frequency tables give equal bytes.
func (p *TermFrequencies) MarshalBinary() ([]byte, error) {
	raw := binary.AppendUvarint(nil, uint64(p.records))
	for _, counts := range []map[uint64]uint32{p.tokens, p.chains, p.phones} {
		raw = binary.AppendUvarint(raw, uint64(len(counts)))
		last := uint64(0)
		for _, h := range slices.Sorted(maps.Keys(counts)) {
			raw = binary.AppendUvarint(raw, h-last)
			raw = binary.AppendUvarint(raw, uint64(counts[h]))
			last = h
		}
	}
	head := binary.LittleEndian.AppendUint64(slices.Clone(termsMagic), p.hash)
	return termsEncoder().EncodeAll(raw, head), nil
}

// UnmarshalBinary decodes the output of MarshalBinary. For any other input it returns ErrTermFrequencies, and the table
// must not be used.
func (p *TermFrequencies) UnmarshalBinary(b []byte) error {
	if len(b) < termsHead || !bytes.HasPrefix(b, termsMagic) {
		return ErrTermFrequencies
	}
	raw, err := termsDecoder().DecodeAll(b[termsHead:], nil)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTermFrequencies, err)
	}
	r := termsReader{raw}
	*p = TermFrequencies{records: int(r.number(math.MaxInt32))}
	p.tokens = r.counts(2)
	p.chains = r.counts(chainPlaces + 1)
	p.phones = r.counts(PhoneNames + 1)
	p.finish()
	if r.left == nil || len(r.left) > 0 || p.hash != binary.LittleEndian.Uint64(b[len(termsMagic):]) {
		return fmt.Errorf("%w: its bytes are damaged", ErrTermFrequencies)
	}
	return nil
}

// termsReader reads numbers; left is nil after an error.
type termsReader struct{ left []byte }

func (r *termsReader) number(most uint64) uint64 {
	n, size := binary.Uvarint(r.left)
	if size <= 0 || n > most {
		r.left = nil
		return 0
	}
	r.left = r.left[size:]
	return n
}

// counts reads a table whose counts are at least least.
func (r *termsReader) counts(least uint64) map[uint64]uint32 {
	n := r.number(uint64(len(r.left)) / 2)
	counts := make(map[uint64]uint32, n)
	last := uint64(0)
	for i := range n {
		step, count := r.number(math.MaxUint64), r.number(math.MaxUint32)
		if r.left == nil || count < least || i > 0 && (step == 0 || last+step < last) {
			r.left = nil
			break
		}
		last += step
		counts[last] = uint32(count)
	}
	return counts
}
