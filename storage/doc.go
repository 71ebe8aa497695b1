// SPDX-License-Identifier: Apache-2.0

// Package storage opens the cells of an installation, whatever databases they are in. A backend registers its URL
// schemes when it is imported, like a driver of database/sql:
//
//	import _ "github.com/locus-db/locus/storage/sqlite"   // sqlite:DIR, or just DIR
//	import _ "github.com/locus-db/locus/storage/postgres" // postgres://HOST/NAME
//	import _ "github.com/locus-db/locus/storage/all"      // both
//
// Most callers need only that import: locus.Open takes the URL.
package storage
