// SPDX-License-Identifier: Apache-2.0

// Package httpapi serves Locus over HTTP: it is the only place that knows status codes.
//
//	request
//	  │  id, headers of every answer, panics        guard.go     421 403 414 431 400
//	  │  Host list, target, headers, query,
//	  │  cross-site, draining
//	  │  Request-Timeout of the client              deadline.go  400
//	  ▼
//	router (net/http), one table of routes          routes.go route.go   404 405
//	  │  the table also makes /openapi.json          openapi.go
//	  ▼
//	query, body                                     query.go write.go
//	  ▼
//	admission: a lane per class, 64 waiting,        admit.go     503 overloaded
//	  │  250 ms; health has no lane
//	  ▼
//	handler: strict JSON, 10 s                      records.go entities.go explain.go health.go cells.go
//	  │                                             rollups.go groups.go changes.go decode.go cursor.go page.go
//	  │  or a stream of lines, until it is done     stream.go growth.go
//	  │  or of events, until somebody leaves        feed.go
//	  ▼
//	locus.Service ──► answer, or problem+json       errors.go: one table from errors to codes
//
// A refusal says with its outcome whether it may have been done all the same. What is accepted comes
// back byte for byte.
//
// There is one description of a route, in the table: its path, parameters, body, answer and handler.
// The router, the check that a query has no other parameters, and the OpenAPI document (made with
// huma's model of it) read the same line, so they cannot drift apart. Documents are decoded by hand
// from strictjson's values: a batch of 1,000 records costs less than the 10 us a record that this
// layer may take, and no reflection decides what an unknown name means.
package httpapi
