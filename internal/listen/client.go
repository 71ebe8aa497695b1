// SPDX-License-Identifier: Apache-2.0

package listen

import (
	"crypto/tls"
	"crypto/x509"
	"time"
)

// Client returns the name in the certificate of a client that was verified, and until when it is valid: the first URI
// of its subject alternative names, or else the first DNS name. The common name is not looked at, because authorities
// do not check it. The name is "" without a certificate, without such a name, and after the certificate has ended on a
// connection that is still open.
func Client(state *tls.ConnectionState, now time.Time) (name string, until time.Time) {
	if state == nil || len(state.VerifiedChains) == 0 {
		return "", time.Time{}
	}
	leaf := state.VerifiedChains[0][0]
	if !now.Before(leaf.NotAfter) {
		return "", time.Time{}
	}
	return nameOf(leaf), leaf.NotAfter
}

func nameOf(c *x509.Certificate) string {
	switch {
	case len(c.URIs) > 0:
		return c.URIs[0].String()
	case len(c.DNSNames) > 0:
		return c.DNSNames[0]
	default:
		return ""
	}
}
