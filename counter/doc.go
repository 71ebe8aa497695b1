// SPDX-License-Identifier: Apache-2.0

// Package counter counts hits by minute, hour and day. The cost of a hit does not depend on the time of day or
// the number of metrics.
//
//	callers             combiner of a cell            one transaction of the cell
//	Hit ──┐          ┌───────────────────────┐     ┌──────────────────────────────────┐
//	Add ──┼─ check ─►│ batches queue while   │────►│ keys:  was it counted before?    │
//	Add ──┘  place   │ a group is committed  │     │ Hours  [m00 m01 … m59]    += n   │
//	 ▲               └───────────────────────┘     │ Days   [h00 q00-q03 … day …] += n│
//	 └──── answer, after the commit ◄──────────────│ keys:  counted now               │
//	                                               └──────────────────────────────────┘
//
// A [Recorder] takes hits. It validates them, looks up the cell of each metric, and hands them to the cell's
// combiner, which commits all hits that arrive at about the same time in one transaction (group commit). The hits
// of one metric in one minute become a single number, which is added to two rows.
//
// # Buckets
//
// A [Bucket] is a row of fixed size: the 60 minutes of an hour, or a day with its 24 hours and 96 quarters of an
// hour, from which the hours and days of every time zone can be built. Its [BucketKey] is the time and the metric's
// number. A bucket is never searched and never grows, so the cost of a hit does not depend on what was counted
// before. A gauge has buckets of a quarter of an hour, where each minute has its lowest and highest reading, their
// sum, their number, and the last one.
//
// At midnight all metrics would create new buckets at once. Buckets are therefore prepared earlier at random: the
// first hit of a metric in a minute may prepare the next bucket, with a probability that grows as the time left
// shrinks. Correctness does not depend on this, because a hit creates the buckets that it needs.
//
// # Once
//
// A hit that is resent because no reply arrived would count twice. A [Batch] with a [Key], or with the next number of a
// [Producer], counts once: each cell records, in the transaction that counts, which hits of the batch it has counted. A
// repeat is answered from that record, and hits refused the first time can still be counted. Records are forgotten
// after [Window]. Before a cell forgets, it raises the dedup horizon, and refuses hits below it that must count once;
// such hits therefore need explicit times. Since the dedup horizon decides and not a clock, a batch counts at most once
// however late it arrives.
//
// A metric's row, with its name and kind, is written with its first day. If a day must be created and the row is
// missing, the cell was restored from a backup: nothing is counted, and the directory is asked where the metric
// is now.
//
// # Compacted days
//
// [Recorder.Maintain] compacts a day some time after its end, to a hundredth of its size if little was counted. A
// later hit goes to new open buckets beside the [CompactedDay], at the usual cost, and is merged into it by the next
// run: a day is always the sum of its closed and open parts. So counting continues during compaction, and several
// processes may compact. Details older than their [Retention] are dropped: first minutes, then hours; days are
// kept.
//
// A reader reads everything that it needs from a cell in one View. In every answer a day equals the sum of its hours
// and of its minutes.
//
// # Guarantees
//
// An acknowledged hit is durable, and included in all sums atomically. A hit with a key is counted exactly once
// if it was acknowledged and at most once otherwise. Sums are whole numbers; a hit that would exceed 2^63 - 1 is
// refused. A read includes every hit acknowledged before it.
//
// This relies on transactions that are serialised wherever [Store] says that no other transaction changes what
// was read. [Cells] decides where metrics are stored. A database whose updates are not all or nothing has a [Writer] of
// its own: package perdocument.
//
// Source: "MongoDB Schema Design at Scale", whose documents per metric and day hold hits by minute and hour, are
// prepared at random for the next day, and are hierarchical because a document is searched from its start. Here
// the prepared rows are smaller, and nothing is searched.
package counter
