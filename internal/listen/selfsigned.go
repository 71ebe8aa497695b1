// SPDX-License-Identifier: Apache-2.0

package listen

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Lifetimes of self-signed certificates. The authority lives long, because clients store its fingerprint.
const (
	ownLife   = 90 * 24 * time.Hour
	ownRenew  = 30 * 24 * time.Hour // before the end
	ownCALife = 20 * 365 * 24 * time.Hour
)

// OpenOwn returns a certificate for some names and addresses, signed by an authority of its own. Both are files in a
// directory, which is created if it is missing; the certificate is renewed 30 days before its end, and when the names
// change. fingerprint is the SHA-256 of the authority's certificate, ca the file with it.
func OpenOwn(dir string, names []string, logger *slog.Logger) (c *Certificate, fingerprint, ca string, err error) {
	o := &own{dir: dir, now: time.Now}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			name = ip.String()
		}
		o.names = append(o.names, strings.ToLower(name))
	}
	slices.Sort(o.names)
	o.names = slices.Compact(o.names)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", "", fmt.Errorf("certificate: %w", err)
	}
	if err := o.authority(); err != nil {
		return nil, "", "", err
	}
	if err := o.renew(); err != nil {
		return nil, "", "", err
	}
	if c, err = Open(o.file("cert.pem"), o.file("key.pem"), logger); err != nil {
		return nil, "", "", err
	}
	o.now, c.renew = func() time.Time { return c.now() }, o.renew
	return c, Fingerprint(o.ca), o.file("ca.pem"), nil
}

// own is a self-signed certificate.
type own struct {
	dir   string
	names []string
	now   func() time.Time
	ca    *x509.Certificate
	key   crypto.Signer
}

func (o *own) file(name string) string { return filepath.Join(o.dir, name) }

// authority reads the authority, or creates it.
func (o *own) authority() error {
	pair, err := tls.LoadX509KeyPair(o.file("ca.pem"), o.file("ca.key"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return o.makeAuthority()
	case err != nil:
		return fmt.Errorf("authority %s: %w", o.file("ca.pem"), err)
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return fmt.Errorf("authority %s: its key cannot sign", o.file("ca.pem"))
	}
	o.ca, o.key = pair.Leaf, key
	return nil
}

func (o *own) makeAuthority() error {
	now := o.now()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "Locus, authority of one installation"}, NotBefore: now.Add(-time.Hour),
		NotAfter: now.Add(ownCALife),
		IsCA:     true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key, err := o.sign(template, nil, nil, "ca.pem", "ca.key")
	o.ca, o.key = template, key
	return err
}

// renew creates a certificate unless there is one for the names that is valid for long enough.
func (o *own) renew() error {
	pair, err := tls.LoadX509KeyPair(o.file("cert.pem"), o.file("key.pem"))
	if err == nil && len(pair.Certificate) == 2 && pair.Leaf.NotAfter.Sub(o.now()) > ownRenew &&
		slices.Equal(o.names, namesOf(pair.Leaf)) && pair.Leaf.CheckSignatureFrom(o.ca) == nil {
		return nil
	}
	now := o.now()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "Locus"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(ownLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range o.names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	_, err = o.sign(template, o.ca, o.key, "cert.pem", "key.pem")
	return err
}

func namesOf(c *x509.Certificate) []string {
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	slices.Sort(names)
	return names
}

// sign creates a key and signs a certificate for it, self-signed without a parent. The template becomes the
// certificate, which is stored with its parent: see FetchAuthority. The key is stored first, so that a certificate
// always finds its key; a pair that does not match leaves the old one in use.
func (o *own) sign(template, parent *x509.Certificate, by crypto.Signer,
	certFile, keyFile string) (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	chain := [][]byte{nil}
	if parent == nil {
		parent, by = template, key
	} else {
		chain = append(chain, parent.Raw)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 126))
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	template.SerialNumber = serial
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}
	*template, chain[0] = *made, der
	return key, errors.Join(o.replace(keyFile, "PRIVATE KEY", private), o.replace(certFile, "CERTIFICATE", chain...))
}

// replace writes a file of PEM in one step.
func (o *own) replace(name, kind string, ders ...[]byte) error {
	file, err := os.CreateTemp(o.dir, name+".*") // mode 0600
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	for _, der := range ders {
		err = errors.Join(err, pem.Encode(file, &pem.Block{Type: kind, Bytes: der}))
	}
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), o.file(name))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("certificate: %w", err), os.Remove(file.Name()))
	}
	return nil
}
