// SPDX-License-Identifier: Apache-2.0

package celltest

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"github.com/locus-db/locus/cell"
)

// rows are the rows of a key directory in order: an immutable tree whose changed nodes are copied, so that a snapshot
// is a root. It is a treap: a node is heavier than the nodes below it, and weights are hashes, which keeps the tree
// balanced.
type rows struct {
	cell.Row
	left, right *rows
}

// compare orders keys by ring position, then by digest.
func compare(a, b cell.Key) int {
	return cmp.Or(cmp.Compare(a.Ring, b.Ring), bytes.Compare(a.Digest[:], b.Digest[:]))
}

func weight(k cell.Key) uint64 {
	h := uint64(k.Ring) ^ binary.LittleEndian.Uint64(k.Digest[:8]) ^ binary.LittleEndian.Uint64(k.Digest[8:])*3
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// get returns the puid of a key, or Nothing.
func (r *rows) get(k cell.Key) int64 {
	for r != nil {
		switch c := compare(k, r.Key); {
		case c == 0:
			return r.PUID
		case c < 0:
			r = r.left
		default:
			r = r.right
		}
	}
	return cell.Nothing
}

// put returns the rows with row added or replaced.
func (r *rows) put(row cell.Row) *rows {
	if r == nil {
		return &rows{Row: row}
	}
	n := *r
	switch c := compare(row.Key, r.Key); {
	case c == 0:
		n.Row = row
	case c < 0:
		n.left = r.left.put(row)
		if l := n.left; weight(l.Key) > weight(n.Key) {
			n.left, l.right = l.right, &n
			return l
		}
	default:
		n.right = r.right.put(row)
		if h := n.right; weight(h.Key) > weight(n.Key) {
			n.right, h.left = h.left, &n
			return h
		}
	}
	return &n
}

func (r *rows) dropFirst() *rows {
	if r.left == nil {
		return r.right
	}
	n := *r
	n.left = r.left.dropFirst()
	return &n
}

// ascend yields the rows after a key, all if it is nil, until yield returns false.
func (r *rows) ascend(after *cell.Key, yield func(cell.Row) bool) bool {
	if r == nil {
		return true
	}
	if after != nil && compare(r.Key, *after) <= 0 {
		return r.right.ascend(after, yield)
	}
	return r.left.ascend(after, yield) && yield(r.Row) && r.right.ascend(nil, yield)
}
