// SPDX-License-Identifier: Apache-2.0

// Package changelog is the ordered log of the changes in a cell.
//
//	seq   1         2           3         4            5           6
//	      put ────► created ──► put ────► changed ───► deleted ──► changed
//	      record 7  entity A    record 9  A: 7 → 7, 9  record 9    A: 7, 9 → 7
//	      └──────── facts: committed with the record ──┘
//	                └────────── consequences: committed with the entity
//
// A change is written in the transaction that makes it, so the log contains every committed change and no change
// that was rolled back. Numbers increase and are never reused; gaps are normal. There is no order between the
// logs of two cells.
//
// A change names the members before and after it by puid and version, and copies none of the records' content. An
// entity is a pure function of its members, so a reader of all changes can reconstruct every entity that ever
// existed, and a record can be erased without rewriting the log.
//
// Source: "Aggregate of changes", whose aggregates follow such a log by before and after.
package changelog
