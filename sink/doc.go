// SPDX-License-Identifier: Apache-2.0

// Package sink delivers the current state of every entity ID of an installation to other systems, and from then on the
// state of each ID that may have changed.
//
//	installation                      owner of the lease sink/NAME                       target
//	cell g0-0: log ─► read ─► ids ─┐  ┌─ lane 0: take an id, read its state, give it ─►  Deliver: id, rev, op,
//	cell g0-1: log ─► read ─► ids ─┼─►│  lane 1: a rev, deliver it, acknowledge      ─►  kind, records, view
//	cells: all ids, page by page ──┘  └─ lane 15                                     ─►
//	          ▲                             │
//	          └── position of each cell ◄───┘ passes a change once all ids that it touched are acknowledged
//
// An [Event] is a function of the state of an ID ([mirror.State]), not of a change. So an event may be delivered twice
// or late, and a sink that lags skips to the present: changes that touch an ID while it waits are one event.
//
// # Ordering
//
// No position in a log orders redirects (see package mirror), so the runner orders the states of an ID itself. An ID
// always goes to the same lane. The lane reads the state after taking the ID and delivers it before it takes that ID
// again. Every event gets a rev: the token of the lease times 2^40, plus a counter. Tokens increase with every owner
// and every start. Therefore a consumer that keeps the highest rev of each ID, and drops events with lower ones, ends
// with the current states: the events of one owner are in order, and everything that a former owner read too early is
// read again by the current one, which starts from a stored position.
//
// # At least once
//
// The position is stored after the events that it covers were accepted. Where the target stores it in the transaction
// of the events ([Sink.Position]), nothing is repeated. Otherwise a [Store] keeps it, and events after it are repeated
// by the next owner under higher revs.
//
// # Fill
//
// The ends of all logs are noted, then all IDs of each cell are read in order, page by page, and then its log is
// followed from the noted position. If a log has been trimmed beyond the position, or a cell was restored from a
// backup, everything is filled again. An application may keep changes for a sink that lags, up to a limit: see package
// sinks.
//
// # Parts
//
// A [Sink] is a target; packages below this one implement it, and package sinktest certifies an implementation. A
// [Runner] runs a sink in one process; any number of processes may run the same one, and the lease decides which of
// them works. The application provides its [Store] and its lease: one row each, in a database that these processes
// share.
package sink
