// SPDX-License-Identifier: Apache-2.0

// Package httpapi serves Locus over HTTP. Only this package knows status codes.
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
//	  │  1 s; health has no lane
//	  ▼
//	handler: strict JSON, 10 s                      records.go entities.go explain.go health.go cells.go
//	  │                                             rollups.go groups.go changes.go decode.go cursor.go page.go
//	  │  or a stream of lines, until it is done     stream.go growth.go
//	  │  or of events, until the client leaves      feed.go
//	  │  or a page of the console                   console.go console_*.go
//	  ▼
//	locus.DB ──► answer, or problem+json            errors.go: one table from errors to codes
//
// The outcome of a refusal states whether the request may have been applied nevertheless. Accepted values are returned
// byte for byte.
//
// The route table holds the only description of a route: its path, parameters, body, answer and handler. The router,
// the check for unknown parameters, and the OpenAPI document (built with huma's model) all use it, so they cannot
// diverge. Bodies are decoded by hand from strictjson values: a batch of 1,000 records stays below this layer's budget
// of 10 us per record, and reflection does not decide the meaning of an unknown name.
package httpapi
