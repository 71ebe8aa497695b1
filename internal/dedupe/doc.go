// SPDX-License-Identifier: Apache-2.0

// Package dedupe groups the rows of files that are one thing, or links the rows of two files, without an installation:
// the rows go into one cell in a temporary directory, and come out with what the resolver made of them.
//
//	Open ─► Add(file)... ─► Finish ─► Row(i): cluster, size, weight     then a second reading of the files writes them
//	     └► Add(first), Pairs(second)                                   pairs of rows of two files
//
// Clusters are numbered by the first row of each, and records are observed at one fixed time, so that the same input
// gives the same result. Close removes the directory.
package dedupe
