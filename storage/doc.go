// SPDX-License-Identifier: Apache-2.0

// Package storage is the contract between the libraries and the databases that cells are stored in, and opens the
// cells of an installation by URL.
//
// Each library declares a Store, the rows that it reads and writes. Tx, a transaction of one cell, has all of them, so
// that they commit together:
//
//	cell.Store  entity.Store  changelog.Store  lease.Store  rollup.Store  counter.Store  derived.Store  audit.Store
//	     └───────────┴───────────────┴──────┬───────┴─────────────┴─────────────┴─────────────┴─────────────┘
//	                                    storage.Tx  ◄── storage.Cell: Update, Exclusive, View, Read
//	                                        ▲
//	                       storage/sqlite ──┴── storage/postgres
//
// A backend registers its URL schemes when it is imported, like a driver of database/sql:
//
//	import _ "github.com/locus-db/locus/storage/sqlite"   // sqlite:DIR, or just DIR
//	import _ "github.com/locus-db/locus/storage/postgres" // postgres://HOST/NAME
//	import _ "github.com/locus-db/locus/storage/all"      // both
//
// Most callers need only that import: locus.Open takes the URL. Package storagetest has the conformance suite of a
// Cell. Documents is a document database that an installation uses beside its cells.
package storage
