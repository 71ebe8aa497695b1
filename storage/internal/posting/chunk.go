// SPDX-License-Identifier: Apache-2.0

package posting

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
)

// place is the position of a posting in the order of a run. Keys are signed there, as in an integer column.
type place struct{ key, puid int64 }

func (a place) compare(b place) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.puid, b.puid))
}

func placeOf(p derived.Posting) place { return place{int64(p.Key), int64(p.PUID)} }

func (a place) posting() derived.Posting {
	return derived.Posting{Key: uint64(a.key), PUID: entity.PUID(a.puid)}
}

// entry states that a posting is present or gone.
type entry struct {
	place
	gone bool
}

// A chunk is a format byte and its entries in order. An entry is
//
//	a byte: (bytes of the key * 9 + bytes of the record) * 2, plus 1 if the posting is gone
//	the key minus the previous key, at first the lowest one, in 0 to 8 bytes, little endian, the last not 0
//	the record in the same way: minus the previous record and 1 if the key is the same, else zigzag
//
// chunkSize makes a row of a chunk fill a page of 2 KiB of SQLite, and a quarter of one of PostgreSQL.
const (
	chunkFormat = 1
	chunkSize   = 1960
	entrySize   = 1 + 8 + 8 // at most
	// fullChunk is the least number of entries in a full chunk.
	fullChunk = (chunkSize - 1 - entrySize) / entrySize
)

var errChunk = errors.New("these are no postings in order")

// chunk is a chunk that is written.
type chunk struct {
	body []byte
	last place
}

func (c *chunk) reset() { c.body, c.last = append(c.body[:0], chunkFormat), place{key: math.MinInt64} }

// add appends an entry after the last one.
func (c *chunk) add(e entry) {
	key := uint64(e.key) - uint64(c.last.key)
	puid := uint64(e.puid)<<1 ^ uint64(e.puid>>63)
	if key == 0 && len(c.body) > 1 {
		puid = uint64(e.puid) - uint64(c.last.puid) - 1
	}
	k, p := (bits.Len64(key)+7)/8, (bits.Len64(puid)+7)/8
	head := byte(k*9+p) * 2
	if e.gone {
		head++
	}
	c.body = append(c.body, head)
	c.body = binary.LittleEndian.AppendUint64(c.body, key)[:len(c.body)+k]
	c.body = binary.LittleEndian.AppendUint64(c.body, puid)[:len(c.body)+p]
	c.last = e.place
}

// reader reads the entries of a chunk.
type reader struct {
	rest []byte
	last entry
	some bool // an entry was read
	err  error
}

func readChunk(body []byte) *reader {
	r := &reader{last: entry{place: place{key: math.MinInt64}}}
	if len(body) == 0 || body[0] != chunkFormat {
		r.err = errChunk
		return r
	}
	r.rest = body[1:]
	return r
}

// next reads an entry into last and reports whether there was one.
func (r *reader) next() bool {
	if len(r.rest) == 0 || r.err != nil {
		return false
	}
	head := r.rest[0]
	k, p := int(sizes[head].key), int(sizes[head].puid)
	if k > 8 || len(r.rest) < 1+k+p {
		r.err = errChunk
		return false
	}
	key, puid := number(r.rest[1:], k), number(r.rest[1+k:], p)
	to := entry{place: place{key: int64(uint64(r.last.key) + key)}, gone: head&1 == 1}
	same := key == 0 && r.some
	if same {
		to.puid = int64(uint64(r.last.puid) + puid + 1)
	} else {
		to.puid = int64(puid>>1 ^ -(puid & 1))
	}
	if to.key < r.last.key || same && to.puid <= r.last.puid ||
		k > 0 && r.rest[k] == 0 || p > 0 && r.rest[k+p] == 0 {
		r.err = errChunk
		return false
	}
	r.rest, r.last, r.some = r.rest[1+k+p:], to, true
	return true
}

// skip advances to the first entry of a key, or of the next one, which next then reads. It decodes keys only.
func (r *reader) skip(key int64) {
	b, at := r.rest, r.last.key
	for len(b) >= 16+1 {
		k, p := int(sizes[b[0]].key), int(sizes[b[0]].puid)
		if k > 8 {
			break // next finds it
		}
		to := int64(uint64(at) + binary.LittleEndian.Uint64(b[1:])&(1<<(8*k)-1))
		if to >= key || to < at {
			break
		}
		b, at, r.some = b[1+k+p:], to, true
	}
	if r.some {
		r.rest, r.last = b, entry{place: place{at, math.MinInt64}}
	}
}

// sizes is the number of bytes of key and record, by the first byte of an entry.
var sizes = func() (all [256]struct{ key, puid uint8 }) {
	for i := range all {
		all[i].key, all[i].puid = uint8(i/2/9), uint8(i/2%9) //nolint:gosec // less than 15
	}
	return all
}()

// number decodes n bytes, little endian.
func number(b []byte, n int) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b) & (1<<(8*n) - 1)
	}
	v := uint64(0)
	for i := range n {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

// packed returns the chunk of entries.
func packed(entries []entry) []byte {
	var c chunk
	c.reset()
	for _, e := range entries {
		c.add(e)
	}
	return c.body
}

// unpacked returns the entries of a chunk.
func unpacked(body []byte) (entries []entry, err error) {
	r := readChunk(body)
	for r.next() {
		entries = append(entries, r.last)
	}
	return entries, r.err
}
