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
// # The key directory
//
// The puid of a key stands in the directory of one cell: the one that took the key, of
// the generation that was current then. Directories are layers, as the runs of a
// log-structured merge tree are, and each is a database of its own:
//
//	current ──►  g2  open     takes new keys
//	             g1  sealed   holds all that it will ever hold, and has a filter of it
//	floor ────►  g0  sealed
//	                 retired  its puids were copied upwards, nobody asks it
//
// A [Directory] looks a key up from the current generation down, and puts it into the
// current one if it is nowhere. Without more, two writers that know different maps would
// both miss the key and both put it, each in its own generation, and no index could see
// that. So a step is one transaction of one cell, and there are these rules:
//
//   - Whoever puts a key has sealed its cell in every older generation, and has read it
//     after that. The seal waits for the writers in flight and shuts out the others.
//   - A put succeeds only in an open cell. It looks at the cell's [Head] in its own
//     transaction, under a lock that sealing conflicts with.
//   - "Not found" counts only if the newest cell that was read was open: else there is a
//     newer one. Who meets a sealed cell there reads the map anew and begins again.
//   - A cell that cannot be asked is an error, never "not found".
//
// Then a key has one puid. Say it has two, in g1 and in g2. Who put the second had
// sealed the cell in g1 and found nothing there, and after a seal nothing is put: so the
// first was not there before, nor came later. In one cell the primary key forbids it.
// And what a look-up answers was true while it ran: the open cell that lacked the key
// says that no newer one had it at that moment, and the older rows that were read are
// those of that moment, since a key that comes into a newer generation seals the older
// first.
//
// No clock and no map need be right for that. A server that sleeps through an
// activation wakes up with an old map, is refused, and learns the new one. There is no
// time without writes either: new cells are open before the old ones are sealed, because
// whoever comes first seals what he needs sealed. [Grow] seals the rest, and makes
// filters of the sealed cells, by which a new key costs one question and not one a
// generation. [Compact] copies old puids upwards and retires whole generations.
//
// A [Walk] is one key on that way; it, [Activation] and [Compaction] are values that say
// what they want and are told what came of it. So the code of production also runs in a
// model that tries every interleaving of three processes, three generations and a key,
// and in a simulator of servers that are killed, cells that are down, replies and seals
// that are lost. Each rule has a planted bug that leaves it out, and that the model finds.
//
// The hash of keys, the salt of digests and the width of ranges are part of the
// stored format and never change. Source: "Scaling out Postgres, Part 2: Routing"
// (2012), which has the rings and the generations; the rounding, the chain of
// multiples, the inversion and Until are Locus's.
package cell
