// SPDX-License-Identifier: Apache-2.0

// Package cell maps addresses to databases. A cell is one database; a [Map] lists the cells. Three kinds of address
// lead to a cell by arithmetic on the map:
//
//	external key ─ hash ─► position on the ring ─► its segment's cell, newest generation first
//	puid         ─────────► slot on the ring of puids ─► the cell whose range holds it
//	entity id    ─ first 32 bits, time ─► its segment's cell in the generation of its time
//
// # Generations
//
// Cells are added as a generation, layered on the same ring. Nothing moves: old cells keep their rows, and new keys and
// IDs go to the newest generation. The number of cells in each generation is a multiple of the number in the one
// before, so segments nest:
//
//	position   0            2^30           2^31           3*2^30         2^32
//	gen 0      ├──────────── g0-0 ─────────┼──────────── g0-1 ───────────┤
//	gen 1      ├─── g1-0 ───┼─── g1-1 ─────┼─── g1-2 ─────┼─── g1-3 ─────┤
//
//	segment of position h among C cells   floor(h * C / 2^32)
//	start of segment i                    ceil(i * 2^32 / C)
//
// A puid is a signed 64-bit number. A cell owns a range of 2^32 puids. Its slot on the ring of puids is the start of
// its segment plus its generation:
//
//	slot       0    1                        2^30   +1        2^31   +1
//	           │g0-0│g1-0│   unused     ...  │none│g1-1│ ...  │g0-1│g1-2│ ...
//
// The start of an old segment is also the start of a segment in every finer generation, and segment starts are further
// apart than there are generations. So ranges never overlap, however many generations are added, and the slot alone
// determines generation and segment: [Map.Puid] takes three multiplications and one division.
//
// # Why an old map is safe
//
// A range does not depend on later generations. A puid of a generation that a map does not list falls between the map's
// ranges: the result is [ErrNoCell], never a wrong cell. An ID carries the time that selects its generation; a map only
// covers times before its Until, and a new generation always starts at or after the Until of the previous version
// ([Append]). So if a map routes an ID at all, every other version routes it to the same cell, and no clock is read.
//
// # The key directory
//
// The puid of a key is stored in the directory of one cell: the one that accepted the key, in the generation that was
// current then. Directories are layered like the runs of a log-structured merge tree, and each is a separate database:
//
//	current ──►  g2  open     takes new keys
//	             g1  sealed   immutable, with a filter of its keys
//	floor ────►  g0  sealed
//	                 retired  its puids were copied to newer cells; it is no longer read
//
// A [Directory] looks a key up from the current generation down, and puts it into the current one if no generation has
// it. Without further rules, two writers with different maps could both miss the key and both put it, each in its own
// generation, and no index could detect that. So each step is one transaction in one cell, and these rules apply:
//
//   - Before a writer puts a key, it has sealed the key's cell in every older generation and read that cell after
//     sealing it. Sealing waits for writers in flight and rejects later ones.
//   - A put succeeds only in an open cell. It reads the cell's [Head] in its own transaction, under a lock that
//     conflicts with sealing.
//   - "Not found" is valid only if the newest cell read was open. Otherwise there is a newer generation, and the walk
//     refreshes the map and starts again.
//   - A cell that cannot be reached is an error, never "not found".
//
// It follows that a key has one puid. Suppose it had two, in g1 and in g2. The writer of the second had sealed the cell
// in g1 and then found nothing there, and nothing is put after a seal: so the first was neither there before nor added
// later. Within one cell the primary key prevents duplicates. The result of a lookup was true at some moment while it
// ran: the open cell that lacked the key proves that no newer cell had it at that moment, and the older rows that were
// read are still valid at that moment, because a key enters a newer generation only after the older cells are sealed.
//
// None of this relies on a clock or on a current map. A server that sleeps through a rollout wakes up with an old
// map, is rejected, and refreshes it. Writes are never interrupted: new cells are open before old ones are sealed, and
// the first writer that needs an older cell sealed seals it itself. [Grow] seals the rest, and builds filters of the
// sealed cells, so that a new key costs one read instead of one per generation. [Compact] copies old puids to the
// current generation and retires whole generations.
//
// The steps of a lookup or put, of Grow and of Compact are decided by package internal/protocol, which has no database:
// a model explores every interleaving of them.
//
// The hash of keys, the salt of digests and the width of ranges are part of the stored format and never change. Source:
// "Scaling out Postgres, Part 2: Routing" (2012) for the rings and the generations; the rounding, the chain of
// multiples, the inversion and Until are original to Locus.
package cell
