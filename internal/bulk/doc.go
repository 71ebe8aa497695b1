// SPDX-License-Identifier: Apache-2.0

// Package bulk reads files of records that nobody vouches for: CSV and JSON lines, plain or
// compressed, row by row in constant memory.
//
//	file ─► Open ───────────────► CSV  ─┐
//	        inside its folder     JSONL ─┴─► Reader.Next ─► Row        goes on to the server
//	        gzip, zstd by magic                          └► *RowError  goes to Rejects, reading goes on
//	        200 : 1 at most                              └► *FileError nothing more can be read
//
// A row that cannot be accepted is an answer, not the end: its error carries the line, the byte,
// a code, a pointer, the reason and the row itself in the form that Open reads again once it has
// been corrected. What is wrong with the file as a whole (its encoding, its header, its
// compression) ends the reading.
//
// encoding/csv is not used: it has no limit for a field, takes NUL, turns CR LF inside quotes into
// LF and gives up at a stray quote. A row is at most 1 MiB and 256 columns here, what is accepted
// is kept byte for byte, and a faulty row costs that row only.
package bulk
