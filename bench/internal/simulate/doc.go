// SPDX-License-Identifier: Apache-2.0

// Package simulate plays the growth of an installation from its first cells to as many as are planned,
// with billions of records, in a second: how full and even the cells become, how far a key has to be
// looked for, what room is left, and what the same growth would have cost without Locus. It is pure: the
// same options give the same report.
//
// # How billions are played
//
// No record is made. What arithmetic says exactly is computed, what chance decides is drawn from its
// distribution, and what code decides is asked of that code, for a sample:
//
//	when a generation begins      computed: the current cells hold as much as planned, and arrivals grow by
//	                              a fixed factor a year
//	the fullest, emptiest cell    drawn: hashing gives a cell a Poisson number of records, and the largest
//	                              of C such numbers is the quantile at the C-th root of one random number
//	cells that are looked at      counted: cell.Walk, the protocol itself, runs for a sample of keys, each of a
//	                              generation chosen by how many records it took; filters lie for 1 of 256 keys
//	where puids and ids live      asked: the real map, and each of its former versions, for a sample of puids
//	                              and ids; a wrong cell is counted
//	keys with two puids           played: the literal scheme of the source text, key by key, for a sample of
//	                              those that arrive while servers learn of a generation
//	rows that are moved           asked: jump hash and key ranges, before and after, for a sample of keys
//
// A sample has [SampleSize] members, so a share of one half is known to one part in a hundred, and
// one of 0.4 % to one in ten.
//
// # Beside what
//
// The literal scheme is the source text taken at its word: look the key up from the newest generation
// down, insert it there if it was in none, without gate or seal. Two servers, one of which does not know
// the newest generation yet, give one key two puids: the old one inserts below, where the new one has
// looked already. Servers that pause between look-up and insertion do the same; they come on top.
//
// Rehashing is growing without generations: the same records, spread evenly over the new number of cells
// each time. Jump hash and cutting key ranges both move the least that is possible, which for doubling is
// half of all rows, each time.
package simulate
