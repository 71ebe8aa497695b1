// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/listen"
	"github.com/locus-db/locus/resolve"
)

const (
	// dialFor is how long a process may take to accept a connection.
	dialFor = 2 * time.Second
	// avoidFor is how long a process is not called after it could not be reached.
	avoidFor = 10 * time.Second
	// idleFor is how long an idle connection is kept.
	idleFor = 30 * time.Second
	// margin is how much earlier a forwarded call ends than the call of its caller, so that the caller still receives
	// the known results.
	margin = 50 * time.Millisecond
)

// caller calls other processes.
type caller struct {
	logger *slog.Logger
	now    func() time.Time

	mu        sync.Mutex
	address   string       // of the process that was called last
	client    *http.Client // to that process
	target    *url.URL
	avoided   time.Time // end of the time for which the address is not called
	explained bool      // the reason was logged
}

func newCaller(logger *slog.Logger) caller { return caller{logger: logger, now: time.Now} }

// Forward applies ops in the process at an address. It implements resolve.Peers.
func (c *caller) Forward(ctx context.Context, address string, ops []resolve.Op) ([]resolve.Result, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %w", resolve.ErrNotHolder, context.Cause(ctx))
	}
	client, target, err := c.to(address)
	if err != nil {
		return nil, err
	}
	body, err := encodeOps(ops)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", resolve.ErrNotHolder, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", resolve.ErrNotHolder, err)
	}
	if until, has := ctx.Deadline(); has {
		req.Header.Set(timeoutHeader, strconv.FormatInt(max(time.Until(until)-margin, time.Millisecond).Milliseconds(), 10))
	}
	req.GetBody = nil // no second try by the transport: it may have been applied
	res, err := client.Do(req)
	if unreached := new(unreachedError); errors.As(err, &unreached) {
		if ctx.Err() == nil {
			c.avoid(address, err)
		}
		return nil, fmt.Errorf("%w: %w", resolve.ErrNotHolder, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the process that holds the lease: %w", cell.ErrCommitUnknown, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	switch {
	case res.StatusCode == http.StatusConflict, res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusBadRequest, res.StatusCode == http.StatusNotFound:
		if res.StatusCode != http.StatusConflict {
			c.avoid(address, fmt.Errorf("%s: %.200s", res.Status, text))
		}
		return nil, fmt.Errorf("%w: %.200s", resolve.ErrNotHolder, text)
	case err == nil && res.StatusCode != http.StatusOK:
		err = fmt.Errorf("%s: %.200s", res.Status, text)
	}
	var results []resolve.Result
	if err == nil {
		results, err = decodeResults(text, len(ops))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the process that holds the lease: %w", cell.ErrCommitUnknown, err)
	}
	return results, nil
}

// unreachedError means that no connection was made, so nothing was sent.
type unreachedError struct{ error }

func (e *unreachedError) Unwrap() error { return e.error }

// to returns the client for an address.
func (c *caller) to(address string) (*http.Client, *url.URL, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if address == c.address {
		if c.now().Before(c.avoided) {
			return nil, nil, fmt.Errorf("%w: it was not reached shortly before", resolve.ErrNotHolder)
		}
		return c.client, c.target, nil
	}
	target, err := url.Parse(address)
	if err != nil || target.Host == "" {
		return nil, nil, fmt.Errorf("%w: its address is none", resolve.ErrNotHolder)
	}
	if c.client != nil {
		c.client.CloseIdleConnections()
	}
	c.address, c.avoided, c.explained = address, time.Time{}, false
	c.client, c.target = newClient(target.Fragment), &url.URL{Scheme: target.Scheme, User: target.User,
		Host: target.Host, Path: "/"}
	return c.client, c.target, nil
}

// newClient returns a client for the process whose certificate has a fingerprint.
func newClient(fingerprint string) *http.Client {
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: dialFor}, Config: &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, //nolint:gosec // verified by the fingerprint, which comes from the database
		VerifyConnection: func(s tls.ConnectionState) error {
			if is := listen.Fingerprint(s.PeerCertificates[0]); is != fingerprint {
				return fmt.Errorf("another process listens there: its certificate is %s", is)
			}
			return nil
		},
	}}
	return &http.Client{Transport: &http.Transport{
		DialTLSContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, &unreachedError{err}
			}
			return conn, nil
		},
		MaxIdleConnsPerHost: 64, IdleConnTimeout: idleFor, DisableCompression: true,
	}}
}

// avoid leaves an address alone for a while.
func (c *caller) avoid(address string, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.address != address {
		return
	}
	c.avoided = c.now().Add(avoidFor)
	if !c.explained {
		c.explained = true
		c.logger.Warn("lease holder unreachable, forwarding writes through the databases (slower)", "process",
			c.target.Host, "err", why)
	}
}

func (c *caller) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client != nil {
		c.client.CloseIdleConnections()
	}
}
