// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"

	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/listen"
)

// own returns a certificate that the server signs itself, nil in another mode. The fingerprint of its authority is for
// the banner.
func (s *serving) own(dir string, log *slog.Logger) (c *listen.Certificate, err error) {
	if s.mode() != listen.SelfSigned {
		return nil, nil
	}
	names := append([]string{"localhost", "127.0.0.1", "::1"}, s.names()...)
	if u, err := url.Parse(s.public); err == nil && u.Hostname() != "" {
		names = append(names, u.Hostname())
	}
	if c, s.fingerprint, s.authority, err = listen.OpenOwn(filepath.Join(dir, "tls"), names, log); err != nil {
		return nil, err
	}
	return c, s.trust(c)
}

// trust lets clients present certificates.
func (s *serving) trust(c *listen.Certificate) error {
	if s.people.clientCA == "" {
		return nil
	}
	if err := c.TrustClients(s.people.clientCA); err != nil {
		return usage("--tls-client-ca with certificates in PEM", "%v", err)
	}
	return nil
}

// encrypt replaces the listeners by some with TLS, unless it is off or ends elsewhere. A certificate of the server's
// own is made below the data directory. reread reads the files again.
func (s *serving) encrypt(listeners []net.Listener, c *listen.Certificate, dir string,
	options *httpapi.Options) (reread func(), err error) {
	if c == nil {
		c, err = s.own(dir, options.Logger)
	}
	if c == nil || err != nil {
		return func() {}, err
	}
	options.Metrics.WatchCertificate(c.Until)
	// with the server's own certificate, a browser that was told to trust it once could never return to HTTP
	options.HTTPSOnly = s.mode() == listen.Files
	for i, l := range listeners {
		listeners[i] = tls.NewListener(l, c.Config())
	}
	return func() { _ = c.Reload() }, nil // an error is logged
}
