// SPDX-License-Identifier: Apache-2.0

// Package locality mints, prints and parses Locality UUIDs: 128-bit IDs that are minted without coordination, and whose
// first 32 bits determine where a thing lives.
//
//	users, err := locality.NewGenerator(nil) // one per table, for the life of the process
//	...
//	user := users.New()                // 5f8d21a0-1c3e-b7a2-91f4-019ae1b1d2c3
//	address := users.Near(user)        // another id, in the same shard
//	user, err = locality.Parse(text)   // strict; ParseLenient takes what people paste
//
// An [ID] is an array of 16 bytes and a value: compare it with ==, use it as a map key, convert it to and from the
// types of other libraries, uuid.UUID(id). It is encoded as text in JSON, flags and database/sql ([NullID] is an
// optional ID), as a UUID for the MongoDB driver, and, with package localitypgx, as uuid for PostgreSQL. The package
// imports only the standard library.
//
// # One generator per table
//
// Create a [Generator] for each table or collection. The IDs of one generator cycle through all shards, more evenly
// than random ones. But every second ID of it reaches only half of the shards, and every sixteenth ONE of 16: that is
// what a table gets if orders and their lines alternate on one generator. [New], the package function, is for programs
// with one table. Where one generator must serve several tables, give it [Scatter].
//
// The busiest of N equal shards, in units of the mean, if a table gets
//
//	                                N = 16       64          1000       of random ids
//	a burst of N ids                1.0          2.0         3.1        3.1  4.0  5.6
//	a burst of 10 N ids             1.00         1.10        1.27       1.60 1.82 2.17
//	N ids of 50 generators          3.2          4.1         4.9        3.1  4.0  5.5
//	every 2nd id of one: uses       8 shards     32          504        all
//	every 16th id of one: uses      1 shard      4           63         all
//
// # Order: spread or gathered
//
// [Options].Order selects between spread and gathered; it is fixed when the generator is created.
//
//	             first 32 bits of successive ids
//	Variable     325706f7 8d1353b8 d8ee9079 24baed2a   go round the shards: writes spread evenly
//	Scatter      bed7fe0f b1432df9 6c99c222 1d103e81   like random, whatever part a table gets
//	Sequential   f5166776 f5166777 f5166778 f5166779   lie side by side, ten minutes (UTC) in one
//	                                                   place that all processes know: all writes
//	                                                   of these minutes go to one shard, by design
//
// Independently of the order, an ID can be placed near another one:
//
//   - [Generator.Near] mints an ID in the shard of a parent, for any power of two of shards up to 2^20. For C shards,
//     not a power of two, it fails with a probability below C/2^20.
//   - [Generator.NewIn] mints inside a [Segment], a part of the ring of all positions during a period of time: it
//     works for any division of the ring. Package cell makes segments of its cells.
//   - [Generator.NewInPast] does so for a period that is over.
//
// # Layout of an ID
//
//	20be0ffc-314a-bd53-7a50-013a65ca76d2
//	wwwwwwww-xxxx-byyy-yyyy-zzzzzzzzzzzz
//
//	byte  0       4     6           10                15
//	      ┌───────┬─────┬─┬─────────┬─────────────────┐
//	      │   w   │  x  │b│    y    │        z        │
//	bits  └──32───┴─16──┴4┴───28────┴───────48────────┘
//
//	w  position on the ring, made from a counter       ID.Position, ID.Counter
//	x  process number, modulo 65536                    ID.PID
//	b  version: the digit b, or 8                      ID.Version
//	y  node: what tells processes apart                ID.Node
//	z  UTC milliseconds since 1970                     ID.Time, ID.Millis
//
// N equal shards divide the ring: the shard of an ID is uint64(id.Position())*N>>32.
//
// In Variable order the counter steps by 198491317 modulo 2^32, and w is the counter with its eight hex digits
// reversed, so that the digits that change most come first. The step is odd: all 2^32 counters come before one repeats,
// and 16^k successive IDs hit each prefix of k digits exactly once. In Sequential order IDs count up from the first
// four bytes of an MD5 of the time, truncated to ten minutes. In Scatter order w is a keyed permutation of a counter
// that steps by one.
//
// Version b is not a version of RFC 9562, and validators that require one reject it; the parsers of common languages
// accept it. [Version8] mints UUIDs of version 8 instead, with 26 bits of node.
//
// The format is that of Groupon's Locality UUID by Peter Bakkum and Michael Craig (2012,
// github.com/groupon/locality-uuid.java). The reference class shifts the counter's top digit with its sign, so IDs that
// it minted from the upper half of its counters have an f as 7th digit; this package follows the documented order.
// Decoding is the same.
//
// # Speed
//
// New costs a reading of the monotonic clock and a step of an atomic counter, and takes no lock. [Generator.Fill] and
// [Generator.Append] pay for both once for up to 4096 IDs. If several processors mint at once, they contend for the
// counter: [Options].Lease lets each of them take many counters at a time, and a [Local] does so for one goroutine.
// None of these allocates; [ID.AppendText] and [Parse] do not either, nor does [ID.String] if the text does not leave
// the function.
//
// # Why IDs do not repeat
//
// A lane is one counter with one identity, x and y. A generator has a main lane, and others for Near and NewIn, for
// each past period, and for [Generator.NewAt]. The time of a lane never goes back, and its counter does not repeat
// within a millisecond: the side lanes advance their time before that. So two IDs of a lane differ in counter or time,
// and IDs of two lanes in identity: y is drawn at random, or it is a number that the caller guarantees to be unique.
//
//	expected pairs of lanes that draw the same y, one process number assumed
//	1,000 lanes      0.0019        and then counter and millisecond must meet too
//	10,000 lanes     0.19
//	100,000 lanes    3e-4          with [RandomPID]
//
// A new identity is drawn when the process number changes, as in a fork, when the wall clock falls back by more than 10
// s, and when it runs ahead of the monotonic clock by more than 1 s, as in a copied machine that wakes up; the wall
// clock is read every 10 ms. After a smaller step back, time continues at half speed until the clock has caught up.
// Each new identity is an [Event].
//
// # Limits
//
//   - IDs are not secrets: they contain their time, and two of one lane in Variable order show how many lie between
//     them, see [ID.Steps].
//   - They do not sort by time, and give no strict order across processes.
//   - No check of the clock is complete: if a running machine is copied and the copy's wall clock is not set when it
//     resumes, the copy continues like the original. Call [Reseed] in the hook that runs after a snapshot.
//   - With a [FixedNode] a restart, or a clock that went back by more than 10 s, is safe only if the new counter and
//     the old one do not meet in one millisecond; in Sequential order, where counters begin alike, it depends on the
//     clock alone.
//   - With a [HardwareNode] containers often have the same address and process number.
//   - A goroutine that is stopped in the middle of New, while others mint exactly 2^32 IDs, could repeat one of
//     theirs if all of it falls into one millisecond.
package locality
