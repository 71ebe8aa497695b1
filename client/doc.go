// SPDX-License-Identifier: Apache-2.0

// Package client counts hits on a Locus server over HTTP, each exactly once, and matches records without storing them
// (Client.Match). The rest is about hits.
//
//	Add ──► queue ──► batch n of this producer ──► POST /v1/hits ──► each caller its results
//	          ▲            │ no answer, or 503: again, under the same number
//	        gathers        └──────────────────────────────────────────────┘
//
// Callers share requests: while one is in flight, the hits of all other callers gather and go out together in the
// next one. A single caller does not wait for others, and an idle client sends nothing.
//
// A client is a producer with a random 128-bit ID, and numbers its batches. A batch without an answer is sent
// again with the same number, and the server stores the last number together with the counts: a lost reply, a
// server restart or a broken connection counts nothing twice, and loses nothing that was acknowledged. Hits that
// were not answered when the process ends are lost.
//
// The results are those of package counter: nil is durable, errors.Is matches counter.ErrTooOld and the others,
// and counter.ErrCommitUnknown is the only error after which a hit may have been counted.
package client
