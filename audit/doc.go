// SPDX-License-Identifier: Apache-2.0

// Package audit defines the audit log: what an entry says, how entries are chained, and how a log is verified.
//
//	chain 1   start <- begun <- ended <- begun      each entry has the hash of the one before
//	                              |
//	                              v
//	chain 2                     start <- begun ...  each start has the hash of the newest entry
//
// A process writes a chain of its own, so that none waits for another. An entry "begun" is durable before the work
// begins; "ended" gives its outcome, and its absence means that the process died during the work.
//
// Verify finds entries that were changed, removed or exchanged. A chain whose end was cut
// off is found if a later chain or a copied head names that end; a rewrite of the whole database is found only if heads
// are kept elsewhere.
//
// An entry contains no values of attributes, and the keys of records only as keyed hashes.
package audit
