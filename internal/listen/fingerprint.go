// SPDX-License-Identifier: Apache-2.0

package listen

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"strings"
	"time"
)

// fetchFor is how long a server may take to show its certificate.
const fetchFor = 10 * time.Second

// Fingerprint returns the SHA-256 of a certificate as sha256:HEX.
func Fingerprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// ParseFingerprint returns a fingerprint in the form of Fingerprint. It may be in capitals, and its bytes may be
// separated by colons, as openssl prints them.
func ParseFingerprint(text string) (string, error) {
	sum, found := strings.CutPrefix(strings.ToLower(text), "sha256:")
	raw, err := hex.DecodeString(strings.ReplaceAll(sum, ":", ""))
	if !found || err != nil || len(raw) != sha256.Size {
		return "", fmt.Errorf("%.80q is no fingerprint: want sha256: and 64 hexadecimal digits", text)
	}
	return "sha256:" + hex.EncodeToString(raw), nil
}

// FetchAuthority returns the authority of a server in PEM, if it has the fingerprint and has signed the server's
// certificate for its host name. Nothing is sent to the server but a greeting. address is HOST:PORT.
func FetchAuthority(ctx context.Context, address, host, fingerprint string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchFor)
	defer cancel()
	dialer := &tls.Dialer{Config: &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}} //nolint:gosec // verified below, by the fingerprint
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	chain := conn.(*tls.Conn).ConnectionState().PeerCertificates //nolint:forcetypeassert // the dialer says so
	roots := x509.NewCertPool()
	var authority *x509.Certificate
	for _, c := range chain[1:] {
		if c.IsCA && Fingerprint(c) == fingerprint {
			authority = c
			roots.AddCert(c)
		}
	}
	if authority == nil {
		return nil, fmt.Errorf("the server at %s does not have the authority %s: either the fingerprint is that of another server, or something between here and there poses as it", address, fingerprint)
	}
	intermediates := x509.NewCertPool()
	for _, c := range chain[1:] {
		intermediates.AddCert(c)
	}
	if _, err := chain[0].Verify(x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: intermediates}); err != nil {
		return nil, fmt.Errorf("the certificate of the server at %s: %w", address, err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Raw}), nil
}
