// SPDX-License-Identifier: Apache-2.0

// Package client calls a Locus server: a method for each operation of the HTTP interface, and a queue that counts hits,
// each exactly once.
//
//	Operation ──► request ──► 429, 503, no connection: again       ──► value, pages, lines, events, *Error
//	                          lost, unknown: again, if repeatable
//
//	Add ──► queue ──► batch n of this producer ──► POST /v1/hits ──► each caller its results
//	          ▲            │ no answer, or 503: again, under the same number
//	        gathers        └──────────────────────────────────────────────┘
//
// Types and methods are generated from the OpenAPI document. The error of an operation is an *Error with a stable code
// (see CodeOf) if the server refused it. A request is repeated for Options.Patience, with growing pauses and not before
// Retry-After, if that is safe. Methods All... return the items of all pages, FollowChanges a feed that resumes.
//
// Callers of Add share requests: while one is in flight, the hits of all other callers gather and go out together in
// the next one. A single caller does not wait for others, and an idle client sends nothing.
//
// A client is a producer with a random 128-bit ID, and numbers its batches. A batch without an answer is sent
// again with the same number, and the server stores the last number together with the counts: a lost reply, a
// server restart or a broken connection counts nothing twice, and loses nothing that was acknowledged. Hits that
// were not answered when the process ends are lost.
//
// The results of Add are those of package counter: nil is durable, errors.Is matches counter.ErrTooOld and the others,
// and counter.ErrCommitUnknown is the only error after which a hit may have been counted.
package client
