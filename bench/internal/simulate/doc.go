// SPDX-License-Identifier: Apache-2.0

// Package simulate simulates the growth of an installation from its first cells to the planned number, with
// billions of records, in a second: how full and even the cells become, how many cells a lookup visits, what room
// is left, and what the same growth would have cost without Locus. It is pure: the same options give the same
// report.
//
// # How billions are simulated
//
// No records are created. Exact quantities are computed, random ones are drawn from their distribution, and
// decisions of code are made by calling that code for a sample:
//
//	when a generation begins      computed: the current cells hold as much as planned, and arrivals grow by
//	                              a fixed factor a year
//	the fullest, emptiest cell    drawn: hashing gives a cell a Poisson number of records, and the largest
//	                              of C such numbers is the quantile at the C-th root of one random number
//	cells that are looked at      counted: protocol.Walk, the protocol itself, runs for a sample of keys, each of a
//	                              generation chosen by how many records it took; filters lie for 1 of 256 keys
//	where puids and ids live      asked: the real map, and each of its former versions, for a sample of puids
//	                              and ids; a wrong cell is counted
//	keys with two puids           played: the literal scheme of the source text, key by key, for a sample of
//	                              those that arrive while servers learn of a generation
//	rows that are moved           asked: jump hash and key ranges, before and after, for a sample of keys
//
// A sample has [SampleSize] members, so a share of one half is known to one part in a hundred, and one of 0.4 % to
// one in ten.
//
// # What it is compared with
//
// The literal scheme follows the source text to the letter: look the key up from the newest generation down, and
// insert it there if none has it, without gate or seal. Two servers, one of which does not know the newest
// generation yet, give one key two puids: the old one inserts below, where the new one has already looked. Servers
// that pause between lookup and insertion do the same; those cases come on top.
//
// Rehashing is growing without generations: the same records are spread evenly over the new number of cells each
// time. Jump hash and splitting key ranges both move the minimum possible, which for doubling is half of all rows,
// each time.
package simulate
