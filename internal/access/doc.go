// SPDX-License-Identifier: Apache-2.0

// Package access defines permissions, roles, rules of routes, principals and the format of tokens. It reads no store
// and does not depend on HTTP.
//
//	token ──► principal ──► roles ──► permissions ──► rule of a route
//
// A role is a fixed set of permissions; roles add up. The zero rule refuses every caller, so a route without a
// rule is closed.
package access
