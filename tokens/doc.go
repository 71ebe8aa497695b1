// SPDX-License-Identifier: Apache-2.0

// Package tokens stores the API tokens of an installation, and says who a token is.
//
// The authority of the cell map holds them, as one definition: the SHA-256 of each token, its name, roles and expiry. Every
// process keeps a copy in memory, which is at most a second old: checking a token costs no query, and a revoked token
// ends within a second in every process.
//
//	no token yet ──► every caller is the operator
//	     │ Create
//	     ▼
//	closed, for good ──► a caller is the principal of a token, or refused
//
// Several tokens may have one name: Rotate adds a second secret to the same principal.
//
// Use it through DB.Tokens of package locus.
package tokens
