// SPDX-License-Identifier: Apache-2.0

// Package mongodb keeps in MongoDB what needs one document at a time: counters, groups of rollups, and a
// mirror of the entities. Cells stay SQL databases.
//
//	Open ── Database ─┬─ Metrics   counter.Cells      metric_name, metric, counter_day, counter_batch
//	                  ├─ Groups    rollup.Documents   rollup_group
//	                  └─ Mirror    mirror.Target      any collection, sharded on _id
//
//	counter.Recorder ─► update(fn) ─► what fn reads, once ─► what fn leaves, kept here
//	                                                          ├─ metrics            insert
//	                                                          ├─ days that begin    insert, all at once
//	                                                          ├─ days compared      {_id, v: as read}, each alone
//	                                                          ├─ days added to      {_id} $inc, in bulks
//	                                                          └─ summaries          {_id, v: as read}
//
// Single documents are all that is relied upon: a write changes one or none, and a filter on what was read
// makes it compare and set. So it is right on any deployment, sharded clusters included, and asks for no
// transaction. Uniqueness comes from _id alone. Documents are updated without upsert: where one is missing it is
// inserted, and a duplicate key says that somebody else was first. What is added up is added up in Go. Names, of
// metrics, groups and attributes, stand in the place of values; every name of a field is fixed, or made of digits.
//
// # Durability
//
// Everything is written with w: majority and j: true, and read from the primary at read concern majority. A URI
// that says less is refused, and so is a deployment that is no replica set and no mongos, since a write whose
// answer was lost is only known again there (ErrPreflight of package cell). What it is says the server's answer
// to hello.
//
// An error wraps cell.ErrUnavailable if nothing was done and another time may do, and cell.ErrUnknownOutcome if
// nobody knows: the answer was lost, the primary stepped down, the majority did not confirm in time.
//
// # Counters
//
// A day of a metric is one document, which is read and packed as a whole. What a transaction of package
// counter has read it has read at different moments; what it leaves is written after its function has
// returned, day by day. counter.Apart says what that means and why a batch still counts once.
//
// On a sharded cluster what cannot be read is told from what is not there: the hits that need it are refused, and all
// others are counted, see away.
//
// # Owner
//
// The collection locus says which database it is (Identity) and to which installation it belongs (Claim).
//
// Source: "MongoDB Schema Design at Scale", whose hierarchical document this is. There it is upserted and may
// count twice what is sent twice.
package mongodb
