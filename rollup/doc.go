// SPDX-License-Identifier: Apache-2.0

// Package rollup keeps counts and sums of things by group, live, so that they equal their recomputation
// at all times.
//
//	a writer's transaction            one transaction of a follower
//	┌───────────────────────┐        ┌────────────────────────────────────┐
//	│ the thing             │        │ is the lease still mine?           │
//	│ the change, with its  │──log──►│ is the watermark as I found it?    │──► readers: groups, and the
//	│ image before and after│        │ rows += Expand(is) - Expand(was)   │    watermark they are true at
//	└───────────────────────┘        │ watermark := last change           │
//	                                 └────────────────────────────────────┘
//
// A [Definition] says what is counted: things of a kind that meet some conditions, grouped by up to three
// attributes, divided by a dimension, with measures. [Definition.Expand] says which groups a thing falls
// into. It is pure, so a rollup is the sum of Expand over all things, and a change adds the difference of
// two. What is kept commutes: sums of whole numbers, and for the smallest, the largest and the distinct
// values how many times each is there, so that one that goes away leaves the next one known.
//
// # Followers
//
// A [Follower] keeps the rollups of one cell. Step reads the log after the watermark of each generation,
// works out what the changes make of its groups, and commits that together with the new watermark. That
// transaction compares what the work was based on: whoever was stopped, doubled or left without an answer
// commits what comes next, or nothing. The lease saves work; its token keeps out of a build whoever has
// lost it.
//
// # Generations
//
// Rows belong to a [Generation], a number that is never given again. A rebuild or a changed definition is
// a new one beside the old, so that nothing stops and no reader sees a mix:
//
//	Define   the catalogue names a next generation
//	Build    filling: the log is kept from here on, and changes carry images; one snapshot is counted,
//	         the watermark is the snapshot's place in the log
//	Step     following: both generations go on
//	Yield    in each cell the old one stands still once the next one is not behind it
//	Promote  the catalogue has the next one serve: nobody who goes over to it goes back in time
//	Erase    the old one is named no more: its rows go, and images if nobody needs them
//
// # Documents
//
// The groups of a rollup that says store: mongodb are [Documents], of which nothing is whole but one; log and
// watermark W stay in the cell. Each document has a watermark w of its own: it is what the changes up to w make
// of its group. A Step reads those that its changes touch, adds to each what lies after its w, and writes
// it where w is what was read; once all are written, the transaction moves W.
//
//	killed between two     the next Step adds to each document what it lacks
//	doubled, or late       finds another w, and writes nothing: so every group that is touched is written,
//	                       and a document stays when its group is empty
//	late with a fill       writes into a Space of its own, which nobody reads
//
// A reader reads documents and then the log, and adds to each what lies after its w: all are true at one
// place, the end of the log, whatever was written meanwhile. What is behind W was touched by nothing
// since; what is ahead of W says by how much.
//
// # What it promises
//
// The groups of a generation that can be read equal the recomputation from what the cell held at the
// watermark ([Verify] compares the two at any time), and the watermark of what serves never goes back. A
// generation that cannot go on, since it has too many groups, say, stays true where it is and
// says why.
//
// It rests on the log, whose order is the order of commits (package changelog), on transactions that read
// one snapshot and write all or nothing, and on a catalogue that only moves forward. Clocks and the lease
// decide who works and when, nothing else.
//
// A [Store] keeps it all in whatever database; package rolluptest has the suite that every implementation
// passes.
//
// Source: "Aggregate of changes", with its tags and locations of animals. It saves a result and then the
// watermark, and has a lock keep the rebuild apart from the updates; here the two are one transaction, and
// the rebuild needs no lock.
package rollup
