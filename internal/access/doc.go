// SPDX-License-Identifier: Apache-2.0

// Package access has who may do what: permissions, roles, rules of routes, principals, and the form of tokens. It reads
// no store and knows no HTTP.
//
//	token ──► principal ──► roles ──► permissions ──► rule of a route
//
// A role is a fixed set of permissions; roles add up. A rule whose zero value is kept refuses every caller, so that a
// route without a rule serves none.
package access
