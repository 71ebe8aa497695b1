// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/locus-db/locus/internal/listen"
)

// dialSocket connects to the server that has a data directory open, nil if there is none.
func dialSocket(ctx context.Context, w where) *client {
	path := filepath.Join(w.place, listen.SocketName)
	dial := func(ctx context.Context) (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "unix", path) }
	conn, err := dial(ctx)
	if err != nil {
		return nil
	}
	_ = conn.Close()
	transport := &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		MaxIdleConnsPerHost: underWayMost,
	}
	return &client{
		base: &url.URL{Scheme: "http", Host: "localhost"}, job: w.String(),
		http:  &http.Client{Transport: transport, Timeout: 60 * time.Second},
		close: func() error { transport.CloseIdleConnections(); return nil },
	}
}

// dial returns a client of a server; it connects with the first request.
func dial(address string) (*client, error) {
	base, err := url.Parse(address)
	wrong := ""
	switch {
	case err != nil:
		wrong = "it cannot be parsed"
	case base.Scheme != "http" && base.Scheme != "https":
		wrong = "it does not begin with http:// or https://"
	case base.User != nil:
		wrong = "it has a user"
	case base.RawQuery != "" || base.Fragment != "":
		wrong = "it has a ? or a #"
	case strings.Trim(base.Path, "/") != "":
		wrong = "it has a path"
	case base.Hostname() == "" || strings.ContainsFunc(base.Host, func(r rune) bool { return r <= ' ' || r > '~' }) || strings.Contains(base.Hostname(), ":") && base.Host[0] != '[':
		wrong = "its host is not one"
	case base.Port() != "":
		if _, err := strconv.ParseUint(base.Port(), 10, 16); err != nil || base.Port() == "0" {
			wrong = "its port is not between 1 and 65535"
		}
	}
	if wrong != "" {
		return nil, usage("--url http://127.0.0.1:7070", "invalid server URL: %s: want http://HOST:PORT", wrong)
	}
	base.Path = ""
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // the standard library says so
	transport.MaxIdleConnsPerHost = underWayMost
	return &client{
		base: base, job: base.String(), http: &http.Client{Transport: transport, Timeout: 60 * time.Second},
		close: func() error { transport.CloseIdleConnections(); return nil },
	}, nil
}

// trust makes a client accept the certificates of one authority only, in PEM; "" leaves those of this machine. It is
// called before prove.
func (c *client) trust(authority string) {
	if authority == "" {
		return
	}
	roots := x509.NewCertPool()
	// without one, no server is accepted
	roots.AppendCertsFromPEM([]byte(authority))
	c.http.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12} //nolint:forcetypeassert // that of dial
}
