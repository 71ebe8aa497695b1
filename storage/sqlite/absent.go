// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/locus-db/locus/cell"
)

// absent knows which keys a cell does not have, so that a large first import does not look each key up before it
// inserts it: the pages of so many keys do not fit into the cache, and would be read twice. It is a Bloom filter of all
// keys of the table, and begins when the table is empty; a cell that is opened with keys never gets one. Only the
// owner of the write connection uses it. Keys of a transaction that is rolled back stay in it, which costs a look-up.
type absent struct {
	bits []uint64
	keys int
	off  bool // the table has keys that are not in bits, or too many
}

const (
	// absentFrom is how many keys must be allocated at once for a filter to begin: smaller groups gain nothing.
	absentFrom = 1000
	// absentBits are 2 MiB. With absentMost keys one in a hundred is looked up although it is absent.
	absentBits, absentMost = 1 << 24, 1_500_000
)

// places calls fn with the word and the bit of each of the four places of a key, whose digest is random.
func (*absent) places(k *cell.Key, fn func(word int, bit uint64)) {
	for i := 0; i < len(k.Digest); i += 4 {
		at := binary.LittleEndian.Uint32(k.Digest[i:]) % absentBits
		fn(int(at/64), 1<<(at%64))
	}
}

// lacks reports whether a key is certainly not in the table.
func (a *absent) lacks(k *cell.Key) (lacks bool) {
	if a.bits != nil {
		a.places(k, func(word int, bit uint64) { lacks = lacks || a.bits[word]&bit == 0 })
	}
	return lacks
}

// add adds keys that are inserted.
func (a *absent) add(keys []cell.Row) {
	if a.bits == nil {
		return
	}
	if a.keys += len(keys); a.keys > absentMost {
		a.stop()
		return
	}
	for i := range keys {
		a.places(&keys[i].Key, func(word int, bit uint64) { a.bits[word] |= bit })
	}
}

// stop is called before keys are inserted that add is not called for.
func (a *absent) stop() { a.bits, a.off = nil, true }

// stored is Lookup, which it does not call for keys that are certainly absent.
func (t *tx) stored(ctx context.Context, keys []cell.Key) ([]int64, error) {
	a := &t.cell.absent
	if a.bits == nil && !a.off && len(keys) >= absentFrom {
		if err := t.query(ctx, "SELECT EXISTS (SELECT 1 FROM locus_key)", func(r row) error {
			a.off = r.int(0) != 0
			return nil
		}); err != nil {
			return nil, fmt.Errorf("look for keys: %w", err)
		}
		if !a.off {
			a.bits = make([]uint64, absentBits/64)
		}
	}
	if a.bits == nil {
		return t.Lookup(ctx, keys)
	}
	var at []int
	var some []cell.Key
	for i := range keys {
		if !a.lacks(&keys[i]) {
			at, some = append(at, i), append(some, keys[i])
		}
	}
	puids := make([]int64, len(keys))
	found, err := t.Lookup(ctx, some)
	for n, puid := range found {
		puids[at[n]] = puid
	}
	return puids, err
}
