// SPDX-License-Identifier: Apache-2.0

// Package compare measures Locus and its peers in one test binary and prints what came out as
// Markdown tables: what bench/ids and bench/route have in common. Such a program names its
// benchmarks, peers and goals in a [Suite] and hands it to [Main]; its benchmarks call [Run].
//
// # How it measures
//
// The benchmarks stand in the program's tests: Locus and its peers in one binary, pinned by go.mod.
// The program builds it, starts it -invocations times, and reads what it prints.
//
// Times of a shared machine are not stable: an hour later all of them may be half as long again.
// What stays is how two of them relate that were measured side by side. So the program takes the
// median of each benchmark's -count measurements, divides by that of the peer of the same
// invocation, and prints the median of these ratios with the least and the greatest of them. A
// ratio whose range crosses 1 says that nobody is faster.
//
// Where others use the machine at the same time, -busy compares what the process has had of the
// processors, with several goroutines of all of them, instead of what a clock shows. Both are measured in
// any case; -from shows either.
//
// # The tables
//
// The first holds the goals:
//
//	what        the work, with the number of goroutines if several do it at a time
//	against     a peer; of several the one to which our ratio is least
//	theirs      nanoseconds of one operation, or the unit that stands there: the median of all invocations
//	ours        the same of Locus, with its range where nobody else does it
//	allocs      our allocations in one operation
//	ratio       theirs / ours, with the range over the invocations; for a floor ours / floor
//	goal        what the ratio should reach, or ours should not exceed, and the allocations if they are limited
//
// The second holds everybody, those who are faster too.
package compare
