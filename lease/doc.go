// SPDX-License-Identifier: Apache-2.0

// Package lease lets one of several processes do a piece of work at a time: a row in a
// database that all of them share says who.
//
//	free ── Take ──► held by A ── Give ──► free
//	                   │   ▲
//	   beats every TTL/3   └─ B waits: sets Wanted, so that A gives it back soon
//	                   │
//	                   └─ no beat for TTL of B's clock ──► taken over by B, whose token is the fence
//
// The owner shows that it lives by counting a beat up. Whoever waits watches the beat by
// its own clock, and takes the lease over when it has stood still for TTL: no two clocks
// are ever compared.
//
// TTL stands in the row, and its owner says it: twice as long after each time that the lease was taken over, since
// an owner that is slow looks like one that is gone, and a little less after each sign of life. So owners that are alive soon keep the lease, however slow
// everything is, and one that is gone is replaced within [MaxTTL] times Options.TTL. An owner that has nothing to do
// may ask for more patience, and give fewer signs.
//
// # Work for the owner
//
// A process that has something done under the lease need not have the lease: Ask leaves a line
// with the owner and gets a number, and what it asked for is done once Lease.Done has come
// so far. The owner finds the line whenever it reads or writes the lease. An owner that is gone
// leaves the lines to the next one.
//
// # What it does not do
//
// A process that was stopped for long may wake up and write in the belief that it still
// has the lease. So every owner has a token, higher than all before; where work is done
// under the lease, each write carries the token, and each place remembers the lowest
// that it still takes. Whoever takes a lease over raises that fence everywhere first,
// and only then works: what the former owner writes after that is refused, what it wrote
// before is there to be seen. One who gave the lease back writes nothing more, so after
// that no fence has to be raised.
//
// A [Store] keeps the row in a transaction of whatever database; package leasetest has
// the suite that every implementation passes. A [Holder] is one process's side.
package lease
