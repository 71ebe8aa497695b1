// SPDX-License-Identifier: Apache-2.0

package locality

import (
	"errors"
	"fmt"
	"slices"
)

var (
	// ErrSegmentOver means that the time of a segment has passed: the caller must refresh the map that the segment came
	// from. No ID was minted.
	ErrSegmentOver = errors.New("locality: the segment's time is over: refresh the cell map and ask it for the segment again")
	// ErrSegment means that a segment contains no position or no time.
	ErrSegment = errors.New("locality: segment is empty")
)

// Segment is a part of the ring during a period of time: positions Lo to Hi-1, milliseconds since 1970 From to Until-1.
// A Hi of 2^32 is the end of the ring; From and Until of 0 are open.
type Segment struct {
	Lo    uint32
	Hi    uint64
	From  int64
	Until int64
}

// Contains reports whether the position and time of id lie in s.
func (s Segment) Contains(id ID) bool {
	w, z := uint64(id.Position()), id.Millis()
	return uint64(s.Lo) <= w && w < s.Hi && s.From <= z && (s.Until == 0 || z < s.Until)
}

func (s Segment) check() error {
	if uint64(s.Lo) >= s.Hi || s.Hi > cycle {
		return fmt.Errorf("%w: positions %d to %d", ErrSegment, s.Lo, s.Hi)
	}
	if s.From < 0 || s.From > maxMillis || s.Until < 0 || s.Until != 0 && s.From >= s.Until {
		return fmt.Errorf("%w: times %d to %d", ErrSegment, s.From, s.Until)
	}
	return nil
}

// NewIn mints an ID inside s: its position is in one of the coarsest aligned blocks of 16^k positions that fit into s,
// and its time is now, or s.From if that is later. The error is ErrSegment, or ErrSegmentOver at s.Until.
//
// IDs of one millisecond never repeat, whatever segments were requested: if the positions of a millisecond are used up,
// the time of the ID runs ahead of the clock. After a segment whose From lies in the future, all later IDs of NewIn and
// Near have at least that time, since this time never goes back.
func (g *Generator) NewIn(s Segment) (ID, error) {
	if err := s.check(); err != nil {
		return ID{}, err
	}
	ms := g.lockSide()
	defer g.side.Unlock()
	return g.nearLane().in(s, s.blocks(), ms)
}

// FillIn fills ids with IDs inside s, as NewIn does, reading the clock once for up to 4096 of them. After an error all
// of ids are Nil().
func (g *Generator) FillIn(s Segment, ids []ID) error {
	if err := s.check(); err != nil {
		clear(ids)
		return err
	}
	for run := range slices.Chunk(ids, fillRun) {
		if err := g.fillIn(s, run); err != nil {
			clear(ids)
			return err
		}
	}
	return nil
}

func (g *Generator) fillIn(s Segment, ids []ID) (err error) {
	ms := g.lockSide()
	defer g.side.Unlock()
	l, b := g.nearLane(), s.blocks()
	for i := range ids {
		if ids[i], err = l.in(s, b, ms); err != nil {
			return err
		}
	}
	return nil
}

// Near mints an ID that shares the first 20 bits of parent. It lives in the parent's cell if the number of cells is a
// power of two up to 2^20, and for any other number C except with a probability below C/2^20. That holds among IDs of
// one generation of cells; NewIn holds for any map.
func (g *Generator) Near(parent ID) ID {
	const digits = 5
	b := blocks{first: uint64(parent.Position() >> 12), n: 1, digits: digits}
	ms := g.lockSide()
	defer g.side.Unlock()
	id, _ := g.nearLane().in(Segment{}, b, ms) // open in time, so never over
	return id
}

// blocks are n adjacent aligned blocks of the ring: the positions whose leading hex digits, as a number, are first to
// first+n-1.
type blocks struct {
	first, n uint64
	digits   uint
}

// blocks returns the coarsest aligned blocks that fit into s: at most 30, because 31 would include 16 that form a block
// of the next coarser size. They cover all of s if cell counts are powers of two, otherwise at least a third of it.
func (s Segment) blocks() blocks {
	for digits := uint(0); ; digits++ {
		shift := 32 - 4*digits
		first, end := (uint64(s.Lo)+1<<shift-1)>>shift, s.Hi>>shift
		if first < end {
			return blocks{first: first, n: end - first, digits: digits}
		}
	}
}

// steps returns the least m >= 1 such that the counter c, advanced m steps, has its position in one of the blocks. The
// leading hex digits of a position are the trailing ones of its counter, so a block fixes c + m*stride modulo
// 16^digits, and stride has an inverse there: no search is needed.
func (b blocks) steps(c uint32) uint64 {
	size := uint64(1) << (4 * b.digits)
	least := uint64(cycle)
	for p := b.first; p < b.first+b.n; p++ {
		residue := reverseDigits(uint32(p << (32 - 4*b.digits)))
		m := uint64((residue-c)*strideInverse) & (size - 1)
		if m == 0 {
			m = size
		}
		least = min(least, m)
	}
	return least
}
