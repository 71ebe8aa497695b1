// SPDX-License-Identifier: Apache-2.0

// Package lease elects one of several processes to do a piece of work, by a row in a database that they share.
//
//	free ── Take ──► held by A ── Give ──► free
//	                   │   ▲
//	   beats every TTL/3   └─ B waits: sets Wanted, so that A gives it back soon
//	                   │
//	                   └─ no beat for TTL of B's clock ──► taken over by B, whose token is the fence
//
// The owner renews the lease by incrementing a beat. A waiting process watches the beat by its own clock, and takes the
// lease over when it has not changed for TTL: clocks of different processes are never compared.
//
// TTL is stored in the row by the owner. It doubles each time the lease is taken over, since a slow owner looks like
// one that is gone, and shrinks a little with each renewal. So live owners soon keep the lease, however slow the system
// is, and an owner that is gone is replaced within [MaxTTL] times Options.TTL. An idle owner may set a longer TTL and
// renew less often (Pause).
//
// # Work for the owner
//
// A process can request work without holding the lease: Ask stores a line in the row and returns its number, and the
// work is done when Lease.Done has reached that number. The owner finds the line when it next reads or writes the
// lease. Lines of an owner that is gone pass to the next one.
//
// # What it does not do
//
// A process that was suspended for long may wake up and write although it has lost the lease. So every owner has a
// token, higher than all before; each write under the lease carries the token, and each place that is written to
// remembers the lowest token it accepts. A process that takes a lease over raises that fence everywhere before it
// works: later writes of the former owner are rejected, and earlier ones are visible. An owner that gave the lease back
// writes nothing more, so the fence need not be raised after that.
//
// A [Store] keeps the row in a transaction of any database. A [Holder] is the client of one process.
package lease
