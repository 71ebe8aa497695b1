// SPDX-License-Identifier: Apache-2.0

// Command ids compares package locality with other ID generators, and prints the comparison as Markdown tables.
//
//	go -C bench run ./ids                                       some minutes
//	go -C bench run ./ids -go go1.27.1                          the same twice: also with that Go, whose library has uuids
//	go -C bench run ./ids -count 10 -go go1.27.1 -save ids.txt  what docs/performance.md prints
//	go -C bench run ./ids -from ids.txt                         the tables again
//
// Package bench/internal/compare describes the method and the first table, which holds the goals. With several
// goroutines, all of them use one generator unless it says local. The second table holds all peers, including those
// that are faster than Locus because their IDs contain no time, and those that are slow because their IDs allow
// only so many per millisecond. Single benchmarks: go -C bench test -bench Parse ./ids.
package main

import "os"

func main() { os.Exit(suite.Main()) }
