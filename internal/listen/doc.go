// SPDX-License-Identifier: Apache-2.0

// Package listen decides where a server may listen and which proxies it trusts, and encrypts connections with a
// certificate that is read again when its files change.
//
//	address   TLS       tokens   what happens
//	loopback  external  none     refused: create a token first, because the proxy is reached by other machines
//	loopback  any       any      serves
//	other     any       some     serves
//	other     any       none     refused: create a token first
//	other     none      any      refused: name a certificate, or a proxy
//	any       any       none     with Insecure: serves, open to the network
//	any       any       some     with Insecure: refused, because the two contradict each other
//
// TLS may end in a proxy. Proxies lists these machines, and finds the client behind a request.
package listen
