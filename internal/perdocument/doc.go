// SPDX-License-Identifier: Apache-2.0

// Package perdocument counts hits in a database that writes one document atomically and not several. Its [Database]
// is a counter.Database for any counter.Recorder; storage/mongodb has one.
//
//	a group of hits        update                                 another update
//	┌──────────────┐      ┌──────────────────────────────────┐   ┌───────────────────┐
//	│ day 1 of x ──┼─────►│ day 1 of x: += n, batch k counted│   │ summary of k:     │
//	│ day 2 of x ──┼─────►│ day 2 of x: += n, batch k counted│──►│ counted in 3 days │
//	│ day 1 of y ──┼─────►│ day 1 of y: conflict, tried again│   └───────────────────┘
//	└──────────────┘      └──────────────────────────────────┘     days may forget k
//
// Each day of a metric is written atomically, but an update of several days is not ([PartialWriteError]). Some days of
// a batch may be counted and others not, and the result reports this for each hit. Days that conflicted with another
// writer are retried without those already written. Only hits that need unreadable data ([UnreadError]) are refused.
//
// # Once
//
// The dedup record of a batch is stored in each of its days, atomically with its counts, and afterwards in a summary,
// which allows the days to forget it. To find out whether a batch was counted, read in this order: the days, because a
// day forgets its record only after the summary was written; then the summary, because it is only dropped after the
// dedup horizon has risen; then the dedup horizon.
//
// # Guarantees
//
// Those of package counter hold for each hit. A batch of several days is not counted atomically, and several days are
// not read from one snapshot.
//
// A [Store] keeps the documents.
package perdocument
