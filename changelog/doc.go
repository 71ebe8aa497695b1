// SPDX-License-Identifier: Apache-2.0

// Package changelog is what happened in a cell, in order.
//
//	seq   1         2           3         4            5           6
//	      put ────► created ──► put ────► changed ───► deleted ──► changed
//	      record 7  entity A    record 9  A: 7 → 7, 9  record 9    A: 7, 9 → 7
//	      └──────── facts: committed with the record ──┘
//	                └────────── consequences: committed with the entity
//
// A change is written in the transaction that makes it, so the log is true: nothing is in it that
// was rolled back, and nothing that was committed is missing. Numbers rise and are never given
// twice; gaps are normal. Between the logs of two cells there is no order.
//
// A change names the members before and after, by puid and version, and copies nothing that the
// records say. An entity is a pure function of its members, so whoever reads all changes knows
// every entity that ever was; and a record can be erased without rewriting the log.
//
// Source: "Aggregate of changes", whose aggregates follow such a log by before and after.
package changelog
