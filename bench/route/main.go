// SPDX-License-Identifier: Apache-2.0

// Command route compares how package cell finds the cell of an address with other ways to do so,
// and prints the comparison as Markdown tables.
//
//	go -C bench run ./route                              some minutes
//	go -C bench run ./route -count 10 -save route.txt    what docs/performance.md prints
//	go -C bench run ./route -from route.txt              the tables again
//
// Package bench/internal/compare says how it measures and what stands in the first table, which holds
// the goals. Single benchmarks: go -C bench test -bench Puid ./route.
//
// # What is compared
//
// What a caller pays who has an address and wants to know the database, not equal work. Hash rings
// place any key on any number of nodes, and move data when that number changes. Tables and caches
// hold what was looked up once. Locus reads an address that the record was born with, and no two
// generations of cells disagree about it; in return a count of cells is a multiple of the one
// before.
//
// The map has eleven generations, 16 cells that became 16,384 by doubling: 32,752 in all. Rings have
// 1,024 nodes, to their advantage: most grow slower with more.
package main

import "os"

func main() { os.Exit(suite.Main()) }
