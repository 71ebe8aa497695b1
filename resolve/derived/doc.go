// SPDX-License-Identifier: Apache-2.0

// Package derived declares the rows that package resolve derives from the records of a cell, and the Store of these
// rows that a backend implements. It has no logic: resolve computes the rows, a backend stores them.
//
//	                stored in the cell of         read by
//	Posting         the blocking key's hash       blocking: which records share a key
//	Edge            each of its two records       clustering: what a record agrees with
//	Redo            the record                    the next lease holder: what a crash left undone
//	definition      the cell map's authority      every process: kinds and term frequencies
//
// All rows except definitions can be computed again from the records and the decisions, and resolve.Check does that.
// RowsName is part of the identity of a cell, because rows of another form cannot be read. RulesName is the version of
// the matcher.
//
// A [Store] is one part of storage.Tx, a transaction of a cell. Its conformance suite is package storagetest.
package derived
