// SPDX-License-Identifier: Apache-2.0

package cell

import "fmt"

// puidBits is the width of a cell's range of puids; it is part of the map's format and never changes.
const puidBits = 32

// Puid returns the cell whose range contains a puid, in constant time, without a database. The error is ErrNoCell: a
// puid of a generation that this map does not list is in none of its ranges, never in a wrong one.
func (m *Map) Puid(puid int64) (ID, error) {
	slot := slotOf(puid)
	finest, distance := m.invert(slot)
	if distance < uint64(len(m.gens)) {
		// The index is finest / stride. Because segments nest, a multiplication gives it faster.
		g := &m.gens[distance]
		if index := slot * g.cells >> 32; index*g.stride == finest {
			return ID{Gen: uint16(distance), Index: uint32(index)}, nil
		}
	}
	return ID{}, noCell(puid)
}

func noCell(puid int64) error { return fmt.Errorf("route puid %d: %w", puid, ErrNoCell) }

// slotOf numbers the 2^32 possible ranges from the lowest puids up.
func slotOf(puid int64) uint64 { return (uint64(puid) ^ 1<<63) >> puidBits }

// invert returns the cell of the finest generation that contains a slot, and the distance of the slot from the start of
// that cell. A cell's slot is its start, which is also the start of a finest cell, plus its generation; finest cells
// are wider than there are generations. So the distance is the generation, or the slot is unused. The remainder of slot
// * finest / 2^32 is how far the slot lies behind the exact start, in units of 1/finest; the start is rounded up, so
// the distance is the remainder rounded down.
func (m *Map) invert(slot uint64) (finest, distance uint64) {
	at := slot * m.finest
	return at >> 32, at % ring / m.finest
}

// PuidRange returns the range of a cell, lo to hi, 2^32 wide. lo itself is never allocated, so that neither 0 nor -2^63
// is a puid. It panics if the map does not list the cell.
func (m *Map) PuidRange(c ID) (lo, hi int64) {
	m.must(c)
	slot := m.gens[c.Gen].start(uint64(c.Index)) + uint64(c.Gen)
	lo = int64(slot<<puidBits ^ 1<<63)
	return lo, lo + 1<<puidBits - 1
}
