// SPDX-License-Identifier: Apache-2.0

// Package listentest has an authority for tests that signs the certificates of clients.
package listentest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates.
type Authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// New returns an authority of its own.
func New(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t}
	made := a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "Authority of a test"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	a.cert, a.key = made.Leaf, made.PrivateKey.(*ecdsa.PrivateKey) //nolint:forcetypeassert // made below
	return a
}

// File returns a file with the certificate of the authority.
func (a *Authority) File() string {
	a.t.Helper()
	name := filepath.Join(a.t.TempDir(), "authority.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return name
}

// Client is the content of a client's certificate.
type Client struct {
	CommonName, DNS, URI string
	Ends                 time.Time // an hour from now if zero
}

// Issue returns a certificate of a client.
func (a *Authority) Issue(c Client) tls.Certificate {
	a.t.Helper()
	if c.Ends.IsZero() {
		c.Ends = time.Now().Add(time.Hour)
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: c.CommonName}, NotAfter: c.Ends,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if c.DNS != "" {
		template.DNSNames = []string{c.DNS}
	}
	if c.URI != "" {
		u, err := url.Parse(c.URI)
		if err != nil {
			a.t.Fatal(err)
		}
		template.URIs = []*url.URL{u}
	}
	return a.sign(template)
}

// sign signs a certificate for a new key, which signs itself while there is no authority.
func (a *Authority) sign(template *x509.Certificate) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by = template, key
	}
	template.SerialNumber, template.NotBefore = big.NewInt(time.Now().UnixNano()), template.NotAfter.Add(-24*time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		a.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}
