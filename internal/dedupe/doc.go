// SPDX-License-Identifier: Apache-2.0

// Package dedupe groups the rows of files that are one thing, or links the rows of two files, without an installation:
// the rows are stored in one cell in a temporary directory, resolved in one load, and written with the results. One
// cell numbers its records in order, so the results are in the order of the input.
//
//	Open ─► Add(file)... ─► Finish ─► Row(i): cluster, size, weight     then a second reading of the files writes them
//	     └► Add(first), Pairs(second)                                   pairs of rows of two files
//
// Clusters are numbered by the first row of each, and records are observed at one fixed time, so that the same input
// gives the same result. Close removes the directory.
package dedupe
