// SPDX-License-Identifier: Apache-2.0

// Package audit defines the audit log: what an entry says, how entries are chained, and how a log is verified.
//
//	chain 1   start <- begun <- ended <- begun      each entry has the hash of the one before
//	                              |
//	                              v
//	chain 2                     start <- begun ...  each start has the hash of the newest entry
//
// A process writes a chain of its own, so that none waits for another. An entry "begun" is durable before the work begins;
// "ended" gives its outcome, and its absence means that the process died during the work.
//
// Verify finds entries that were changed, removed or exchanged, and, where a later chain or a copied head names it, the
// end of a chain that was cut off. It proves nothing against someone who can rewrite the whole database, unless heads are
// kept elsewhere too.
//
// An entry holds no values of attributes; keys of records are in it as keyed hashes only.
package audit
