// SPDX-License-Identifier: Apache-2.0

// Package listen says where a server may listen, and encrypts connections with a certificate that is read again when
// its files change.
//
//	address   TLS   tokens   what happens
//	loopback  any   any      serves
//	other     yes   some     serves
//	other     yes   none     refused: create a token first
//	other     no    any      refused: name a certificate
//	any       any   none     with Insecure: serves, open to the network
//	any       any   some     with Insecure: refused, because the two contradict each other
package listen
