// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Serve serves on the listeners, which it closes, until ctx ends; then it drains and returns nil, or an error that
// lists what could not be finished in time. It must be called once.
//
//	ctx ends ─► /readyz says no ─► Linger ─► no new work: Connection: close, 503 draining
//	         ─► event streams end ─► requests in flight are finished ─► return
//
// The caller closes the service afterwards, which finishes accepted writes.
func (s *Server) Serve(ctx context.Context, listeners ...net.Listener) error {
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    maxHeaders + maxTarget, // the guard reports which limit is exceeded
		BaseContext:       func(net.Listener) context.Context { return requests },
		ErrorLog:          slog.NewLogLogger(s.opts.Logger.Handler(), slog.LevelDebug),
	}
	server.ConnContext, server.ConnState = s.connections.add, s.connections.changed
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() {
			l := newSparing(l, s.opts.Logger)
			failed <- server.Serve(onlyProxies(l, s.opts.Proxies))
			l.spare.Close() // may be nil
		}()
	}
	open := len(listeners)
	var err error
	select {
	case <-ctx.Done():
		err = s.drain(server, cut)
	case err = <-failed:
		open--
		err = errors.Join(fmt.Errorf("serve: %w", err), server.Close())
		s.endStreams()
	}
	for range open {
		if end := <-failed; !errors.Is(end, http.ErrServerClosed) {
			err = errors.Join(err, end)
		}
	}
	return err
}

// drain stops a server within ShutdownTimeout.
func (s *Server) drain(server *http.Server, cut context.CancelFunc) error {
	deadline, cancel := context.WithTimeout(context.Background(), s.opts.ShutdownTimeout)
	defer cancel()
	s.draining.Store(true)
	s.opts.OnDrain("not ready any more")
	time.Sleep(s.opts.Linger)
	s.closing.Store(true)
	server.SetKeepAlivesEnabled(false)
	s.opts.OnDrain("no new work")
	s.endStreams()
	s.opts.OnDrain("event streams ended")
	s.opts.OnDrain("finishing what is in flight")
	if err := server.Shutdown(deadline); err != nil {
		cut()
		return fmt.Errorf("drain: requests cut off after %v: %w", s.opts.ShutdownTimeout, errors.Join(err, server.Close()))
	}
	s.opts.OnDrain("drained")
	return nil
}
