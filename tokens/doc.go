// SPDX-License-Identifier: Apache-2.0

// Package tokens stores the API tokens, sessions and blocked principals of an installation, and returns the principal of
// each token and session.
//
// They are one definition in the authority of the cell map: the SHA-256 of each token, its name, roles and expiry.
// Every process keeps a copy in memory that is at most a second old: checking a token needs no query, and a revoked
// token ends within a second in every process.
//
//	no token yet ──► every caller is the operator
//	     │ Create
//	     ▼
//	closed, for good ──► a caller is the principal of a token, or refused
//
// A person in a browser exchanges a token for a session, which ends with it, or gets one from an identity provider; a
// session gives a command line a code for a token of its own:
//
//	token, or person ── SignIn, Admit ──► session ── Code, Redeem ──► token of 12 hours
//
// Block stops a principal in every process, even if its credentials are stored elsewhere: a person of an identity
// provider, a JWT or a certificate.
//
// Several tokens may have one name: Rotate adds a second secret to the same principal.
//
// Use it through DB.Tokens of package locus.
package tokens
