// SPDX-License-Identifier: Apache-2.0

// Package login lets people sign in through an identity provider that speaks OpenID Connect: authorization code with
// PKCE, state and nonce. It also checks the JWTs of services (Bearers). No other package implements these protocols.
//
//	Begin ──► address of the provider, and a sealed cookie ──► browser ──► provider
//	Finish ◄── code and state, and the cookie                ◄── browser ◄──┘
//	   └────► Person: name, author, roles of the groups
//
// The cookie has the values that the browser's return is checked against. It is sealed, so only a server of this
// installation can have made it, and is valid for ten minutes.
package login
