// SPDX-License-Identifier: Apache-2.0

// Package peer connects the processes that share the cells of an installation, so that writes reach the process that
// holds the lease in one round trip (see resolve.Peers).
//
// A process that listens makes a certificate and a password for its lifetime. Its address, which it stores in the lease
// while it holds it, is a URL that has both:
//
//	https://locus:PASSWORD@HOST:PORT/#sha256:FINGERPRINT
//
// So only processes that can read the databases can connect, they can check the certificate without an authority, and
// nothing has to be configured or kept secret apart from the databases. An outdated address leads to a process that
// refuses the password, or replies that it does not hold the lease: in both cases nothing was done.
//
// A call is a POST of HTTP/1.1 over TLS 1.3. Operations and results are JSON, errors are their text and the names of
// the errors that callers compare with.
package peer
