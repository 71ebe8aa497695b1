// SPDX-License-Identifier: Apache-2.0

// Package cell says where things live. A cell is one database; a [Map] lists the
// cells, and three kinds of address lead to one by arithmetic on it:
//
//	external key ─ hash ─► position on the ring ─► its segment's cell, newest generation first
//	puid         ─────────► slot on the ring of puids ─► the cell whose range holds it
//	entity id    ─ first 32 bits, time ─► its segment's cell in the generation of its time
//
// # Generations
//
// Cells are added as a generation, layered on the same ring. Nothing moves: old
// cells keep what they hold, new keys and ids go to the newest generation. Each
// count of cells is a multiple of the one before, so segments nest:
//
//	position   0            2^30           2^31           3*2^30         2^32
//	gen 0      ├──────────── g0-0 ─────────┼──────────── g0-1 ───────────┤
//	gen 1      ├─── g1-0 ───┼─── g1-1 ─────┼─── g1-2 ─────┼─── g1-3 ─────┤
//
//	segment of position h among C cells   floor(h * C / 2^32)
//	start of segment i                    ceil(i * 2^32 / C)
//
// A puid is a signed 64-bit number. A cell's range is 2^32 wide, and its place on
// the ring of puids is the start of its segment plus its generation:
//
//	slot       0    1                        2^30   +1        2^31   +1
//	           │g0-0│g1-0│   nobody's   ...  │none│g1-1│ ...  │g0-1│g1-2│ ...
//
// A start of an old segment is a start of every finer one, and those lie further
// apart than there are generations, so ranges never meet, however many generations
// come, and the slot alone gives generation and segment back: [Map.Puid] takes
// three multiplications and a division.
//
// # Why an old map is safe
//
// A range depends on no later generation, and a puid of a generation that a map
// does not know falls between its ranges: [ErrNoCell], never a wrong cell. An id
// carries the time that chooses its generation; a map speaks only of times before
// its Until, and a generation is only ever added to start at or after it
// ([Append]). So whoever routes an id at all routes it as everybody does, without
// looking at a clock.
//
// The hash of keys, the salt of digests and the width of ranges are part of the
// stored format and never change. Source: "Scaling out Postgres, Part 2: Routing"
// (2012), which has the rings and the generations; the rounding, the chain of
// multiples, the inversion and Until are Locus's.
package cell
