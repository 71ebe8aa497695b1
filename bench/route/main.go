// SPDX-License-Identifier: Apache-2.0

// Command route compares how package cell finds the cell of an address with other ways to do so, and prints the
// comparison as Markdown tables.
//
//	go -C bench run ./route                              some minutes
//	go -C bench run ./route -count 10 -save route.txt    what docs/performance.md prints
//	go -C bench run ./route -from route.txt              the tables again
//
// Package bench/internal/compare describes the method and the first table, which holds the goals. Single
// benchmarks: go -C bench test -bench Puid ./route.
//
// # What is compared
//
// The comparison is of the cost to a caller that has an address and needs the database; the work is not equal. Hash
// rings place any key on any number of nodes, and move data when that number changes. Tables and caches hold the
// results of earlier lookups. Locus reads an address that the record got at birth, and all generations of cells
// agree about it; in return, a count of cells must be a multiple of the one before.
//
// The map has eleven generations, doubling from 16 cells to 16,384: 32,752 in all. Rings have 1,024 nodes, to their
// advantage: most become slower with more.
package main

import "os"

func main() { os.Exit(suite.Main()) }
