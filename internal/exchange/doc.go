// SPDX-License-Identifier: Apache-2.0

// Package exchange writes and reads tables in the formats that other programs take: CSV, JSON lines and Parquet.
//
//	rows ─► Writer ─► CSV      a header, then a line a row; a column of lists is NAME[], its values joined by " | "
//	                  JSONL    an object a line; columns without a value are left out
//	                  Parquet  optional columns, lists as LIST of strings; what CreateOptions.Metadata has, in the footer
//	       ─► Sorter           puts rows in order in bounded memory, with runs on disk
//	       ─► File             a file that has its name only once it is complete
//
// A row has a list of values for each column, nil for none. Text is written byte for byte, so that what is written can
// be read again without loss: SplitList reverses JoinList, and package bulk reads the CSV and the JSON lines.
package exchange
