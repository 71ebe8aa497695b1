// SPDX-License-Identifier: Apache-2.0

// Package client counts hits on a Locus server over HTTP, each exactly once.
//
//	Add ──► queue ──► batch n of this producer ──► POST /v1/hits ──► each caller its results
//	          ▲            │ no answer, or 503: again, under the same number
//	        gathers        └──────────────────────────────────────────────┘
//
// Callers share requests: while one is under way, the hits of all others gather and go out together with the
// next one. A single caller waits for nobody, and nothing runs while there is nothing to send.
//
// A client is a producer of its own, 128 random bits, and numbers its batches. What the server does not answer
// is sent again under its number, and the server remembers the last number beside the counts: so a lost answer,
// a restart of the server and a broken connection count nothing twice, and lose nothing that was acknowledged.
// What a process had not been answered when it ended is lost.
//
// The results are those of package counter: nil is durable, errors.Is tells counter.ErrTooOld and the others,
// counter.ErrUnconfirmed is the only one after which a hit may have been counted.
package client
