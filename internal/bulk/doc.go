// SPDX-License-Identifier: Apache-2.0

// Package bulk recognises what the columns of an untrusted file mean, and reads it row by row in constant memory. It
// reads CSV, JSON lines and JSON, plain or compressed, by itself; Parquet and workbooks through package tabular, and
// tables of databases through package sqltable.
//
//	file ─► Recognise ──────────► Plan ─► Open ─► Reader.Next ─► Row        sent to the server
//	        inside its folder     format                      ├► *RowError  goes to Rejects, reading goes on
//	        gzip, zstd by magic   columns                     └► *FileError reading ends
//	        200 : 1 at most       Questions
//
// A rejected row does not end the reading. Its error carries the line, the byte, a code, a pointer, the reason, and the
// row itself in a form that can be read again after correction. A fault of the file as a whole (encoding, header,
// compression) ends the reading.
//
// encoding/csv is not used: it does not limit fields, accepts NUL, turns CR LF inside quotes into LF, and fails at a
// stray quote. Here a row has at most 1 MiB and 4,096 columns, accepted values are kept byte for byte, and a faulty row
// costs only that row.
package bulk
