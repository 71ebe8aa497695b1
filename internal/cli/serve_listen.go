// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/listen"
)

func (s *serving) scheme() string {
	if s.cert != "" {
		return "https"
	}
	return "http"
}

func (s *serving) wish(host string) listen.Wish {
	return listen.Wish{Host: host, TLS: s.cert != "", Insecure: s.insecure}
}

// certificate reads the certificate, nil without TLS.
func (s *serving) certificate(log *slog.Logger) (*listen.Certificate, error) {
	if s.cert == "" {
		return nil, nil
	}
	c, err := listen.Open(s.cert, s.key, log)
	if err != nil {
		return nil, &failure{Code: "invalid", Message: err.Error(), Hint: "--tls-cert with the certificate and its chain, --tls-key with its key, both as PEM", Exit: exitInvalid, Err: err}
	}
	return c, nil
}

// mayServe refuses an address that other machines can reach unless the installation has a token.
func (s *serving) mayServe(ctx context.Context, svc *locus.DB, w where) error {
	host, _, err := net.SplitHostPort(s.addr)
	if err != nil {
		return err
	}
	wish := s.wish(host)
	if !wish.Insecure && listen.Loopback(host) {
		return nil
	}
	closed, err := svc.Tokens().Closed(ctx)
	if err != nil {
		return fmt.Errorf("read the tokens: %w", err)
	}
	if err := wish.Serve(closed); errors.Is(err, listen.ErrTokens) {
		return usage("leave --insecure-listen out", "refusing to serve at %.80q: %v", s.addr, err)
	} else if err != nil {
		at := "--data " + w.place
		if w.shared {
			at = "--map " + redactAll(w.place)
		}
		return usage("locus token create admin --role administrator --output admin.token "+at, "refusing to serve at %.80q: %v", s.addr, err)
	}
	return nil
}

// onHangup calls do at every SIGHUP until stop is called.
func onHangup(do func()) (stop func()) {
	hangups, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-hangups:
				do()
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(hangups)
		signal.Ignore(syscall.SIGHUP)
		close(done)
	}
}
