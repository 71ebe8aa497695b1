// SPDX-License-Identifier: Apache-2.0

// Package library tests Locus as programs embed it: through locus.Open and the handles, over SQLite, PostgreSQL and
// standbys, in one process and in several.
package library
