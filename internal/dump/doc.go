// SPDX-License-Identifier: Apache-2.0

// Package dump writes an installation to a file and restores it elsewhere, into any number of cells of any backend.
// Entity ids stay; puids do not, because they name a cell.
//
//	cells ── a snapshot of each, opened between two batches ──► lines of JSON, sorted by type, in zstd
//	lines ──► rules ──► records with birth ids and versions ──► deleted records, births ──► decisions ──► counters
//
// Entities are a function of the records, their births and the decisions, so they are not in the file. The last line
// has a hash of them, and Restore compares it with what it has made.
package dump
