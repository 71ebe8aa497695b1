// SPDX-License-Identifier: Apache-2.0

// Package compare measures Locus and its peers in one test binary and prints the results as Markdown tables. It is
// the common part of bench/ids and bench/route. Such a program describes its benchmarks, peers and goals in a
// [Suite] and passes it to [Main]; its benchmarks call [Run].
//
// # How it measures
//
// The benchmarks are in the program's tests: Locus and its peers in one binary, pinned by go.mod. The program
// builds it, starts it -invocations times, and reads its output.
//
// Times on a shared machine are not stable: an hour later all of them may be half as long again. The relation of
// two that were measured side by side is stable. So the program takes the median of each benchmark's -count
// measurements, divides it by that of the peer in the same invocation, and prints the median of these ratios with
// their minimum and maximum. A ratio whose range includes 1 means that neither is faster.
//
// If other programs use the machine at the same time, -busy compares the processor time of the process, over all
// goroutines, instead of the elapsed time. Both are always measured; -from shows either.
//
// # The tables
//
// The first holds the goals:
//
//	what        the work, with the number of goroutines if several do it at a time
//	against     a peer; of several the one to which our ratio is least
//	theirs      nanoseconds of one operation, or the unit that stands there: the median of all invocations
//	ours        the same of Locus, with its range where no other tool does it
//	allocs      our allocations in one operation
//	ratio       theirs / ours, with the range over the invocations; for a floor ours / floor
//	goal        what the ratio should reach, or ours should not exceed, and the allocations if they are limited
//
// The second holds all peers, including faster ones.
package compare
