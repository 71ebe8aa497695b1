// SPDX-License-Identifier: Apache-2.0

// Package dedupe groups the rows of files that are one thing, or links the rows of two files, without an installation:
// the rows go into one cell in a temporary directory, are resolved at once, and come out with what the resolver made of
// them. One cell numbers its records in their order, so what is found is in the order of the input.
//
//	Open ─► Add(file)... ─► Finish ─► Row(i): cluster, size, weight     then a second reading of the files writes them
//	     └► Add(first), Pairs(second)                                   pairs of rows of two files
//
// Clusters are numbered by the first row of each, and records are observed at one fixed time, so that the same input
// gives the same result. Close removes the directory.
package dedupe
