// SPDX-License-Identifier: Apache-2.0

// Package mongodb stores in MongoDB the data for which single-document writes suffice: counters, groups of rollups, and
// a mirror of the entities. Cells remain SQL databases.
//
//	Open ── Database ─┬─ Metrics   perdocument.Store  metric_name, metric, counter_day, counter_batch
//	                  ├─ Groups    documents.Store    rollup_group
//	                  └─ Mirror    mirror.Target      any collection, sharded on _id
//
//	counter.Recorder ─► update(fn) ─► what fn reads, once ─► what fn leaves, kept here
//	                                                          ├─ metrics            insert
//	                                                          ├─ days that begin    insert, all at once
//	                                                          ├─ days compared      {_id, v: as read}, each alone
//	                                                          ├─ days added to      {_id} $inc, in bulks
//	                                                          └─ summaries          {_id, v: as read}
//
// The package relies only on single documents: a write changes one document or none, and a filter on what was read
// makes the write a compare-and-set. So it works on any deployment, including sharded clusters, and uses no
// transactions. Uniqueness comes from _id alone. Updates do not upsert: a missing document is inserted, and a
// duplicate key means that another process was first. Sums are computed in Go. Names of metrics, groups and
// attributes are values; every field name is fixed or consists of digits.
//
// # Durability
//
// Everything is written with w: majority and j: true, and read from the primary with read concern majority. A URI
// that asks for less is refused. So is a deployment that is neither a replica set nor a mongos, because only those
// recognise a retried write whose reply was lost (ErrPreflight of package cell). The type of deployment comes from
// the server's reply to hello.
//
// An error wraps cell.ErrUnavailable if nothing was done and a retry may succeed. It wraps cell.ErrCommitUnknown
// if the outcome is unknown: the reply was lost, the primary stepped down, or the majority did not confirm in time.
//
// # Counters
//
// A day of a metric is one document, which is read and compacted as a whole. A transaction of package counter reads
// its documents at different times; its changes are written after its function has returned, day by day.
// perdocument.Store states what that means and why a batch still counts exactly once.
//
// On a sharded cluster a document that cannot be read is distinguished from one that does not exist: hits that need
// the former are refused, all others are counted; see away.
//
// # Owner
//
// The collection locus records the identity of the database (Identity) and the installation it belongs to (Claim).
//
// Source: "MongoDB Schema Design at Scale", which describes this hierarchical document. There it is upserted, and a
// write that is sent twice may count twice.
package mongodb
