// SPDX-License-Identifier: Apache-2.0

// Package mcp offers an installation to agents as tools of the Model Context Protocol.
//
//	client ── JSON lines over stdio ── Server ── Call ── HTTP API, of a server or of this process
//
// Five tools read: search, get, why, match and review_suggest. Two write and exist only if they are allowed: remember
// puts a record of the source agent.NAME, and decide makes a decision by agent:NAME, unless that would overrule another
// author. Both can be reverted: the source names the records, the author the decisions.
//
// A result is one JSON object of at most MaxResult bytes; the rest follows with a cursor. Texts of records occur only
// as values of JSON fields, never as names of fields or in sentences of this package.
package mcp
