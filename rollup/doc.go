// SPDX-License-Identifier: Apache-2.0

// Package rollup maintains live counts and sums by group. At every watermark they equal a recomputation from the
// data.
//
//	a writer's transaction            one transaction of a follower
//	┌───────────────────────┐        ┌────────────────────────────────────┐
//	│ the entity or record  │        │ is the lease still mine?           │
//	│ the change, with its  │──log──►│ is the watermark as I found it?    │──► readers: groups, and the
//	│ image before and after│        │ rows += Expand(is) - Expand(was)   │    watermark they are true at
//	└───────────────────────┘        │ watermark := last change           │
//	                                 └────────────────────────────────────┘
//
// A [Definition] selects entities or records of one kind by conditions, groups them by up to three attributes,
// optionally divides each group by a dimension, and lists measures. [Definition.Expand] returns the groups that
// one image falls into. It is pure: a rollup is the sum of Expand over all images, and a change adds the
// difference between two. All stored state commutes: sums of whole numbers, and for min, max, top and distinct
// the number of occurrences of each value, so that removing a value leaves the next one known.
//
// # Followers
//
// A [Follower] maintains the rollups of one cell. Step reads the changelog after the watermark of each
// generation, computes the effect on its groups, and commits both the groups and the new watermark in one
// transaction. The transaction compares the lease and the watermark with what the work was based on, so a
// follower that was paused, duplicated or left without a commit result either commits the next batch or nothing.
// The lease only saves work; its token fences builds of a follower that lost the lease.
//
// # Generations
//
// Rows belong to a [Generation], whose number is never reused. A rebuild or a changed definition creates a new
// generation beside the old one, so updates continue and no reader sees a mix of both:
//
//	Define   the catalogue names a next generation
//	Build    building: the log is kept from here on, and changes carry images; one snapshot is counted,
//	         and the watermark is the snapshot's place in the log
//	Step     following: both generations are updated
//	Freeze   in each cell the old one is frozen once the next one has caught up with it
//	CutOver  the catalogue makes the next one serve: readers that switch to it do not go back in time
//	Erase    the old one is no longer named: its rows are deleted, and images that no generation needs stop
//
// # Groups elsewhere
//
// A rollup with store: mongodb keeps its groups [Elsewhere]; the log and the generation's watermark W stay in the cell.
// Each group has its own watermark w and contains its changes up to w. A Step lets Elsewhere advance the groups that
// its changes touch, with a [CatchUp], and then a transaction advances W.
//
// A reader reads the groups and then the log, and adds to each group the changes after its w. All of them are then true
// at one position, the end of the log, regardless of concurrent writes. No change touched a group with w < W in
// between; a group with w > W already contains the changes up to w. Package documents keeps them in a database that
// writes one document at a time.
//
// # Guarantees
//
// The groups of a readable generation equal the recomputation from the cell's data at the watermark ([Verify]
// compares the two at any time), and the watermark of the serving generation never goes back. A generation that
// cannot continue, for example because it has too many groups, stays true at its watermark and records the
// reason.
//
// This relies on a log in commit order (package changelog), on atomic transactions that read one snapshot, and on
// a catalogue that only moves forward. Clocks and the lease only decide which process works and when.
//
// A [Store] keeps rollups in any database.
//
// Source: "Aggregate of changes", with its tags and locations of animals. There the result is saved before the
// watermark, and a lock separates a rebuild from updates; here one transaction writes both, and a rebuild needs
// no lock.
package rollup
