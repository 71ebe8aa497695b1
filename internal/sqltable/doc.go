// SPDX-License-Identifier: Apache-2.0

// Package sqltable reads a table or a query of a database in one read-only snapshot, row by row as texts.
//
//	postgres://host/db  ┐          ┌ --table: pages by the primary key, each row with its position
//	sqlite:FILE         ├─► Open ──┤
//	mysql://host/db     ┘          └ --query, or no primary key: one result, read as far as needed
//
// Values have the text that package tabular gives to files: dates and times in ISO form, times with a zone in UTC,
// arrays as several values. Columns of bytes have none. Passwords come from the environment or from files of the
// database's own clients and appear in no name and no error.
package sqltable
