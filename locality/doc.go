// SPDX-License-Identifier: Apache-2.0

// Package locality mints, prints and parses Locality UUIDs: ids that are minted
// anywhere without coordination, whose first bits decide where a thing lives.
//
// # One generator per table
//
// Use a [Generator] of its own for each table or collection. The ids of one
// generator are spread evenly over any number of cells, but every second id of it
// reaches only half of them, and every sixteenth ONE of 16: what a table sees if
// an order and its lines take turns at one generator. The package function [New]
// is for programs with one table.
//
// # Format
//
//	20be0ffc-314a-bd53-7a50-013a65ca76d2
//	wwwwwwww-xxxx-byyy-yyyy-zzzzzzzzzzzz
//
//	byte  0       4     6           10                15
//	      ┌───────┬─────┬─┬─────────┬─────────────────┐
//	      │   w   │  x  │b│    y    │        z        │
//	bits  └──32───┴─16──┴4┴───28────┴───────48────────┘
//
//	w  position on the ring of cells, made from the counter
//	x  process number, modulo 65536
//	b  version: the digit b, which is no version of RFC 9562
//	y  node: what tells processes apart that share a number
//	z  UTC milliseconds since 1970
//
// In [Variable] order the counter steps by 198491317 modulo 2^32, and w is the
// counter with its eight hex digits turned around, so that the digits that change
// most stand first. The step is odd: all 2^32 counters come before one repeats,
// and 16^k successive ids hit each prefix of k digits exactly once. In
// [Sequential] order ids count up from a position that all generators of the world
// share for ten minutes.
//
// The format is that of Groupon's Locality UUID (version b). The reference class
// in Java shifts the counter's top digit with its sign, so ids it minted from the
// upper half of its counters carry an f as 7th digit; this package follows the
// documented order. Decoding is the same.
//
// # Why ids do not repeat
//
// A generator has two lanes, one for New and one for ids minted near something. A
// lane is one counter with one identity (x, y). Its time never goes back, and
// before its counter completes a cycle within one millisecond it moves that time
// on; so two of its ids differ in counter or time. Two lanes differ in identity:
// y is drawn at random, or is a number that the caller vouches for. The identity
// is drawn again when the process number changes, when the wall clock falls back
// by more than 10 s, and when it runs ahead of the monotonic clock by more than
// 1 s, as in a copied machine that wakes up. Smaller steps back are slept through
// at half speed.
//
// # Near
//
//	ring  0          Lo                 Hi                2^32
//	      ├──────────┼──────────────────┼───────────────────┤
//	                 │ ██ ██ ██ ██ ██   │   coarsest aligned blocks of 16^k
//	                      ▲                 positions: each fixes the last
//	        m steps ──────┘                 8-k digits of the counter
//
// [Generator.NewIn] mints inside a [Segment] of the ring, in constant time: an
// aligned block fixes the last digits of the counter, and the step has an inverse
// modulo every power of 16, so the number of steps to the next such counter is
// one multiplication. [Generator.Near] needs no segment: it keeps the first 20
// bits of a parent.
//
// # Limits
//
// Ids are not secrets: they show when they were minted, and two of one lane show
// how many lie between them. They give no strict order over processes. No check
// of the clock is complete: the copy of a running machine whose wall clock is not
// set after it wakes up continues as the original would. A fixed node after a
// clock that went back by more than 10 s relies on its new counter not meeting the
// old one in one millisecond.
package locality
