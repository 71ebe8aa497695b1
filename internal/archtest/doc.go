// SPDX-License-Identifier: Apache-2.0

// Package archtest contains the import picture of the module, that is, which package may import which, and the
// tests that enforce it. A new package must first be added to Picture; an import that is missing there fails the
// tests with the name of the import and the file to change.
//
//	cmd/locus ─► internal/cli ─┬─► internal/httpapi ─► internal/console
//	                           ├─► locus (DB)
//	                           └─► storage/all ─► storage/sqlite
//
//	locus ─► nouns ─► internal/engine ─► resolve ─┬─► match                 pure: text in, weights out
//	                                              ├─► cell ─► locality      where things live, and their ids
//	                                              └─► changelog ─► entity ─► locality
//
// The library packages (Libraries) import the standard library, a few pure modules and each other. Laws state the
// same rules again by module instead of by package: one driver, one place. They are separate from Picture so that a
// careless line in one is caught by the other.
//
// Within the packages of the House, references between files point down as well: a circle of files is reported with
// their names. The references among these packages and the libraries that they stand on are counted (MaxReferences).
//
// The tests also check every file: licence line, formatting, package documentation with its figure, an example with
// its output, and no machine-specific paths.
package archtest
