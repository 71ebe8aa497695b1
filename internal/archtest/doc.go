// SPDX-License-Identifier: Apache-2.0

// Package archtest holds the picture of the module - which package may import which - and its
// tests hold the module to it. A new package starts in Picture; an arrow that is not there fails
// the build with the name of the arrow and the file to change.
//
//	cmd/locus ─► internal/cli ─┬─► internal/httpapi ─► console
//	                           ├─► locus (Service)
//	                           └─► storage/all ─► storage/sqlite
//
//	locus ─► resolve ─┬─► match                 pure: text in, bits out
//	                  ├─► cell ─► locality      where things live, and their ids
//	                  └─► changelog ─► entity ─► locality
//
// The library packages (Libraries) take the standard library, a few pure modules and each other.
// Laws say the same once more, by module instead of by package: one driver, one place. They are
// written apart from Picture so that a careless line in the one is caught by the other.
//
// The tests also read every file: the licence line, the formatting, the package documentation with
// its figure, an example with its output, and no path of somebody's machine.
package archtest
