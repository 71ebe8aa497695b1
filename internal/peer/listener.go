// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus/internal/listen"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/secret"
)

const (
	path = "/apply"
	user = "locus"
	// timeoutHeader is the number of milliseconds that the caller waits.
	timeoutHeader = "Locus-Timeout"
	// maxBody is the size of a call, in bytes.
	maxBody = 256 << 20
)

// Peers is the end of one process: it listens for the others and calls them. It implements resolve.Peers.
type Peers struct {
	address  string
	password secret.Text
	server   *http.Server
	queue    atomic.Pointer[taker]
	caller
}

// taker is the part of *resolve.Queue that serves other processes.
type taker interface {
	Take(ctx context.Context, ops []resolve.Op) ([]resolve.Result, error)
}

// Listen listens at HOST:PORT, a port of 0 for a free one. The host must be one under which other processes reach this
// one. Calls are refused until Serve.
func Listen(addr string, logger *slog.Logger) (*Peers, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen for other processes: %w", err)
	}
	certificate, err := ownCertificate()
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	p := &Peers{password: secret.New(rand.Text()), caller: newCaller(logger)}
	p.address = (&url.URL{
		Scheme: "https", User: url.UserPassword(user, p.password.Reveal()), Host: listener.Addr().String(), Path: "/",
		Fragment: listen.Fingerprint(certificate.Leaf),
	}).String()
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+path, p.apply)
	p.server = &http.Server{
		Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * idleFor,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS13},
		// a connection for each call, as the bodies are large
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
		ErrorLog:     slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	go func() { _ = p.server.ServeTLS(listener, "", "") }() // ends with Close
	return p, nil
}

// ownCertificate returns a new certificate for the lifetime of the process. It names nothing: callers compare its
// fingerprint.
func ownCertificate() (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Locus, a process"},
		NotAfter: time.Now().AddDate(100, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
}

// Address returns the URL under which other processes reach this one. It contains the password.
func (p *Peers) Address() string { return p.address }

// Serve takes the writes of other processes from now on.
func (p *Peers) Serve(queue taker) { p.queue.Store(&queue) }

// Close refuses further calls and waits for those that have begun, until the context ends.
func (p *Peers) Close(ctx context.Context) error {
	p.close()
	return errors.Join(p.server.Shutdown(ctx), p.server.Close())
}

func (p *Peers) apply(w http.ResponseWriter, r *http.Request) {
	_, password, _ := r.BasicAuth()
	if subtle.ConstantTimeCompare([]byte(password), []byte(p.password.Reveal())) != 1 {
		http.Error(w, "this is not the process that the caller looks for", http.StatusUnauthorized)
		return
	}
	var ops []resolve.Op
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		ops, err = decodeOps(body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx := r.Context()
	if ms, err := time.ParseDuration(r.Header.Get(timeoutHeader) + "ms"); err == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, ms)
		defer cancel()
	}
	queue := p.queue.Load()
	if queue == nil {
		err = resolve.ErrNotHolder
	}
	var results []resolve.Result
	if err == nil {
		results, err = (*queue).Take(ctx, ops)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(encodeResults(results)) // the caller takes a cut answer for an unknown outcome
}
