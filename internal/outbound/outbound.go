// SPDX-License-Identifier: Apache-2.0

// Package outbound makes HTTP clients for URLs that users give: of webhooks and of language models. Requests use TLS,
// except to this host, and follow no redirects.
package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// ErrElsewhere means that a name such as localhost leads to another host.
var ErrElsewhere = errors.New("not this host: use https")

const (
	// patience is how long connecting may take.
	patience = 15 * time.Second
	// idle is the number of connections kept for the next requests.
	idle = 16
)

// Check returns an error unless requests may go to a URL: https, or http to this host, without a user or a fragment.
func Check(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("the URL cannot be parsed") // err quotes it, and it may contain a password
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return nil, errors.New("want a URL like https://crm.example/locus")
	case u.User != nil:
		return nil, errors.New("the URL has a user: leave it out")
	case u.Fragment != "":
		return nil, errors.New("the URL has a fragment: leave it out")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, fmt.Errorf("http to %s, which is not this host: use https", u.Hostname())
	}
	return u, nil
}

// loopback reports whether a host is this one by its name alone.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// Client returns a client for requests to a URL that Check has returned. wait limits the time of a request. conf may
// be nil. If the URL has no TLS and its host is another one by now, the error of a request is ErrElsewhere.
func Client(u *url.URL, wait time.Duration, conf *tls.Config) *http.Client {
	dialer := &net.Dialer{Timeout: patience}
	transport := &http.Transport{
		TLSClientConfig: conf, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: idle, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: patience, Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext,
	}
	if u.Scheme == "http" { // localhost is a name that can be made to lead elsewhere
		transport.Proxy = nil
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			if addr, ok := conn.RemoteAddr().(*net.TCPAddr); !ok || !addr.IP.IsLoopback() {
				return nil, errors.Join(fmt.Errorf("%s is %w", address, ErrElsewhere), conn.Close())
			}
			return conn, nil
		}
	}
	return &http.Client{
		Transport: transport, Timeout: wait,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
