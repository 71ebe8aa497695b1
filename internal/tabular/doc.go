// SPDX-License-Identifier: Apache-2.0

// Package tabular reads files whose cells have types, Parquet and XLSX, row by row as named texts.
//
//	Parquet ─► OpenParquet ─► Table.Next ──► cells: column, text       columns are JSON paths: city, location.city,
//	           one row group at a time                                 phones (a list), contacts[].email
//	XLSX ────► OpenWorkbook ─► Sheets ─► Grid.Next ─► texts            the caller knows which row is the header
//
// Texts are as a person would write them: dates and times in ISO form, decimals with all their digits, booleans as true
// and false. A null has no cell, and each value of a list has one.
//
// The files are untrusted. An *Error describes the fault and its row; the parquet library panics on some damaged files,
// which also becomes an *Error.
package tabular
