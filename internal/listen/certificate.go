// SPDX-License-Identifier: Apache-2.0

package listen

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

const (
	// lookEvery is how often the files are looked at, when clients connect.
	lookEvery = 10 * time.Second
	// warnAhead is how long before its end a certificate is reported.
	warnAhead = 14 * 24 * time.Hour
)

// Certificate is a certificate and its key in PEM files, and the authorities of clients in another one, if there are
// some. It is safe for concurrent use.
type Certificate struct {
	certFile, keyFile string
	clientFile        string // "" if clients have no certificates
	logger            *slog.Logger
	now               func() time.Time
	renew             func() error // makes the files again if they are due; nil if the operator does

	mu     sync.Mutex
	pair   *tls.Certificate
	pool   *x509.CertPool // of the authorities of clients
	stamp  [3]stamp       // of the files when they were last read
	looked time.Time
	warned time.Time // when its end was last reported
}

// stamp identifies a version of a file: it changes when the file is replaced.
type stamp struct {
	modified time.Time
	size     int64
}

// Open reads a certificate with its chain, and its key. The error says which file is at fault; it never has their
// content.
func Open(certFile, keyFile string, logger *slog.Logger) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, logger: logger, now: time.Now}
	c.stamp, c.looked = c.stamps(), c.now()
	if err := c.read(); err != nil {
		return nil, err
	}
	return c, nil
}

// TrustClients reads the authorities whose certificates clients may present; a client without one is served all the
// same. It is called before the first connection.
func (c *Certificate) TrustClients(file string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clientFile, c.stamp = file, c.stamps()
	return c.read()
}

// read reads the files. After an error the files in use stay.
func (c *Certificate) read() error {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("certificate %s with key %s: %w", c.certFile, c.keyFile, err)
	}
	var pool *x509.CertPool
	if c.clientFile != "" {
		text, err := os.ReadFile(c.clientFile)
		if err != nil {
			return fmt.Errorf("authorities of clients: %w", err)
		}
		if pool = x509.NewCertPool(); !pool.AppendCertsFromPEM(text) {
			return fmt.Errorf("authorities of clients: %s has no certificate in PEM", c.clientFile)
		}
	}
	c.pair, c.pool, c.warned = &pair, pool, time.Time{}
	c.warn()
	return nil
}

// warn reports a certificate that ends soon, once a day.
func (c *Certificate) warn() {
	now, until := c.now(), c.pair.Leaf.NotAfter
	if until.Sub(now) < warnAhead && now.Sub(c.warned) >= 24*time.Hour {
		c.warned = now
		c.logger.Warn("certificate expires soon", "file", c.certFile, "until", until.UTC())
	}
}

func (c *Certificate) stamps() (s [3]stamp) {
	for i, name := range []string{c.certFile, c.keyFile, c.clientFile} {
		if info, err := os.Stat(name); err == nil {
			s[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return s
}

// Reload reads the files again. If they cannot be used, for example because only one of them is replaced yet, the old
// ones stay in use, and the next check tries again.
func (c *Certificate) Reload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reload()
}

func (c *Certificate) reload() error {
	c.looked = c.now()
	now := c.stamps()
	if err := c.read(); err != nil {
		c.logger.Warn("certificate unreadable, keeping the previous one", "err", err)
		return err
	}
	c.stamp = now
	return nil
}

// Until returns the end of the certificate in use.
func (c *Certificate) Until() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pair.Leaf.NotAfter
}

// look reads the files again if they have changed, makes a certificate that ends soon again if that is for this process
// to do, and reports one that is not.
func (c *Certificate) look() {
	if c.now().Sub(c.looked) < lookEvery {
		return
	}
	c.looked = c.now()
	if c.renew != nil {
		if err := c.renew(); err != nil {
			c.logger.Warn("certificate renewal failed", "err", err)
		}
	}
	if c.stamps() != c.stamp {
		_ = c.reload() // logged
	}
	c.warn()
}

// Config returns the configuration of a server: TLS 1.2 or newer, with the certificate and the authorities of the
// moment. A client may present a certificate of one of these; one of another authority ends the connection.
func (c *Certificate) Config() *tls.Config {
	base := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	base.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.look()
		of := &tls.Config{MinVersion: base.MinVersion, NextProtos: base.NextProtos, Certificates: []tls.Certificate{*c.pair}}
		if c.pool != nil {
			of.ClientCAs, of.ClientAuth = c.pool, tls.VerifyClientCertIfGiven
		}
		return of, nil
	}
	return base
}
