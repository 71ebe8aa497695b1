// SPDX-License-Identifier: Apache-2.0

// Package pgtable writes exported rows to a table of a PostgreSQL database, and brings the table up to date later.
//
//	Parse ─► Connect ─► Begin(Spec) ─► State{Watermark, ...} ─► Write(Load)
//	            the table is new, or one that an export with the same Spec made; any other one is refused
//
// Table locus_export, in the same schema, has a row for each table: what was exported to it, and the watermark of the
// rows. Write changes the rows and the watermark in one transaction. A killed export leaves the table as it was,
// readers see the former rows until the commit, and of two concurrent exports the one that commits last fails.
//
// Texts are written as they are, lists as text[], times and numbers of Locus as timestamptz, uuid and bigint. Columns,
// indexes, views and grants that others add to the table stay.
package pgtable
