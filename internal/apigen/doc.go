// SPDX-License-Identifier: Apache-2.0

// Package apigen writes the types and methods of the Go, Python and TypeScript clients from the OpenAPI document of the
// server.
//
//	internal/httpapi/testdata/openapi.json ─► Read ─► API ─┬─► Go          client/schemas.go, client/operations.go
//	                                                       ├─► Python      clients/python/locus/
//	                                                       └─► TypeScript  clients/typescript/
//
// The files are in the repository; a test compares them with the document. Requests, retries, pages and streams are
// written by hand, in each language.
package apigen
