// SPDX-License-Identifier: Apache-2.0

// Command ids compares package locality with other makers of ids, and prints the comparison as
// Markdown tables.
//
//	go -C bench run ./ids                                       some minutes
//	go -C bench run ./ids -go go1.27.1                          the same twice: also with that Go, whose library has uuids
//	go -C bench run ./ids -count 10 -go go1.27.1 -save ids.txt  what docs/performance.md prints
//	go -C bench run ./ids -from ids.txt                         the tables again
//
// Package bench/internal/compare says how it measures and what stands in the first table, which holds
// the goals; with several goroutines, all of them use one generator unless it says local. The second
// table holds everybody, also who is faster than Locus because an id of theirs holds no time, and who
// is slow because an id of theirs has room for so many a millisecond only. Single benchmarks:
// go -C bench test -bench Parse ./ids.
package main

import "os"

func main() { os.Exit(suite.Main()) }
