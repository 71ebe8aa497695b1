// SPDX-License-Identifier: Apache-2.0

// Package storage opens the cells of an installation, whatever databases they are in. A backend registers the scheme of its
// URLs when it is imported, as drivers of database/sql do:
//
//	import _ "github.com/locus-db/locus/storage/sqlite"   // sqlite:DIR, or just DIR
//	import _ "github.com/locus-db/locus/storage/postgres" // postgres://HOST/NAME
//	import _ "github.com/locus-db/locus/storage/all"      // both
//
// Most callers need no more of it than that import: locus.Open takes the URL.
package storage
