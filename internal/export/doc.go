// SPDX-License-Identifier: Apache-2.0

// Package export turns what an installation holds into the rows of a table: its records, its entities, the links
// between them, and people's decisions; all of them, or what has changed since a watermark.
//
//	Open ─► Table{Columns, Watermark, Rows}
//	          Watermark is read before the first row: Open with Since at this watermark returns the rows that the table lacks
//	          Rows reads cell by cell, page by page, and ends with an error if a cell cannot be read
//
// Records are exported in the form of imports, so an export can be ingested elsewhere.
package export
