// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/internal/listen"
)

// mode returns where TLS ends. The files of a certificate imply the mode.
func (s *serving) mode() listen.Mode {
	if s.tls == "" && s.cert != "" {
		return listen.Files
	}
	return listen.Mode(s.tls)
}

// scheme is the URL scheme of the listeners.
func (s *serving) scheme() string {
	if mode := s.mode(); mode == listen.Files || mode == listen.SelfSigned {
		return "https"
	}
	return "http"
}

func (s *serving) wish(host string) listen.Wish {
	return listen.Wish{Host: host, TLS: s.mode(), Insecure: s.insecure}
}

// checkLine rejects flags of the line to other machines that do not go together.
func (s *serving) checkLine() error {
	mode := s.mode()
	switch {
	case (s.cert == "") != (s.key == ""):
		return usage("give both", "--tls-cert and --tls-key belong together")
	case mode != listen.Clear && mode != listen.Files && mode != listen.SelfSigned && mode != listen.External:
		return usage("--tls-cert FILE --tls-key FILE; or --tls self-signed; or --tls external",
			"--tls %.40q: want files, self-signed or external", s.tls)
	case mode == listen.Files && s.cert == "":
		return usage("--tls-cert FILE --tls-key FILE", "--tls files needs the files")
	case mode != listen.Files && s.cert != "":
		return usage("leave --tls out, or the files", "--tls %s and --tls-cert contradict each other", mode)
	case mode == listen.External && len(s.proxies) == 0:
		return usage("--trusted-proxies 10.0.0.5",
			"--tls external needs the addresses of the proxies that TLS ends in: all other machines are refused")
	case mode != listen.Files && mode != listen.SelfSigned && s.people.clientCA != "":
		return usage("--tls-cert FILE --tls-key FILE",
			"--tls-client-ca needs TLS that ends in this server: --tls files or self-signed")
	case mode != listen.External && len(s.proxies) > 0:
		return usage("--tls external",
			"--trusted-proxies is for --tls external: otherwise requests come from their clients directly")
	}
	if _, err := listen.ParseProxies(s.proxies); err != nil {
		return usage("--trusted-proxies 10.0.0.5,10.1.0.0/16", "--trusted-proxies: %v", err)
	}
	return s.checkPublic()
}

// names returns the names that requests may use besides localhost: those of --host and that of --addr.
func (s *serving) names() []string {
	host, _, err := net.SplitHostPort(s.addr)
	if err != nil || host == "" || listen.Loopback(host) || net.ParseIP(host).IsUnspecified() {
		return s.hosts
	}
	return append([]string{host}, s.hosts...)
}

// checkPublic rejects a public URL that is no origin.
func (s *serving) checkPublic() error {
	if s.public == "" {
		return nil
	}
	u, err := url.Parse(s.public)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return usage("--public-url https://locus.example", "--public-url %.80q: want https://NAME, without a path", s.public)
	case u.Scheme == "http" && s.mode() != listen.Clear:
		return usage("--public-url https://"+u.Host, "--public-url %.80q: with TLS it begins with https://", s.public)
	}
	s.public = u.Scheme + "://" + strings.ToLower(u.Host)
	return nil
}

// listen opens the port before anything else starts. For a loopback address it also listens on the loopback address of
// the other IP family.
func (s *serving) listen() ([]net.Listener, error) {
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return nil, usage("--addr "+defaultAddr, "--addr %.80q is not HOST:PORT", s.addr)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return nil, usage("--addr "+defaultAddr, "--addr %.80q: the port is not a number up to 65535", s.addr)
	}
	if err := s.wish(host).Address(); err != nil {
		return nil, usage("--tls-cert FILE --tls-key FILE; or --tls self-signed; or --tls external --trusted-proxies CIDR; or --addr 127.0.0.1:"+port+"; or --insecure-listen on a trusted network",
			"refusing to listen at %.80q: %v", s.addr, err)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	first, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, inUse(net.JoinHostPort(host, port), err)
	}
	other := map[string]string{"127.0.0.1": "::1", "::1": "127.0.0.1"}[host]
	if other == "" {
		return []net.Listener{first}, nil
	}
	taken := first.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // it listens on tcp
	second, err := net.Listen("tcp", net.JoinHostPort(other, strconv.Itoa(taken)))
	switch {
	case err == nil:
		return []net.Listener{first, second}, nil
	case errors.Is(err, syscall.EADDRINUSE) && port != "0":
		return nil, errors.Join(inUse(net.JoinHostPort(other, port), err), first.Close())
	default:
		// The machine does not have the other IP family.
		return []net.Listener{first}, nil
	}
}

func inUse(addr string, err error) error {
	f := &failure{Code: "unavailable", Message: fmt.Sprintf("cannot listen at %s: %v", addr, err), Hint: "another --addr",
		Exit: exitFailed, Err: err}
	if errors.Is(err, syscall.EADDRINUSE) {
		f.Code, f.Message = "in_use", fmt.Sprintf("cannot listen at %s: the port is in use", addr)
		f.Hint = "stop the server that uses it, or choose another port: --addr 127.0.0.1:0 finds a free one"
	}
	return f
}

func closeAll(listeners []net.Listener) error {
	var errs []error
	for _, l := range listeners {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// linger returns how long the server still accepts work after it has become not ready. It is negative if only this
// machine reaches the server, because no load balancer has to notice then; otherwise 0, for the default.
func (s *serving) linger() time.Duration {
	if host, _, err := net.SplitHostPort(s.addr); err == nil && listen.Loopback(host) && s.mode() != listen.External {
		return -1
	}
	return 0
}

// certificate reads the certificate, nil without TLS.
func (s *serving) certificate(log *slog.Logger) (*listen.Certificate, error) {
	if s.mode() != listen.Files {
		return nil, nil
	}
	c, err := listen.Open(s.cert, s.key, log)
	if err != nil {
		return nil, &failure{Code: "invalid", Message: err.Error(),
			Hint: "--tls-cert with the certificate and its chain, --tls-key with its key, both as PEM",
			Exit: exitInvalid, Err: err}
	}
	return c, s.trust(c)
}

// bootstrap makes the token of --bootstrap-token-file valid.
func (s *serving) bootstrap(ctx context.Context, svc *locus.DB, log *slog.Logger) error {
	if s.boot == "" {
		return nil
	}
	token, err := tokenIn(s.boot)
	if err != nil {
		return err
	}
	until, err := svc.Tokens().Bootstrap(ctx, token.Reveal())
	switch {
	case err != nil:
		return fmt.Errorf("--bootstrap-token-file %s: %w", s.boot, err)
	case until.IsZero():
		log.Info("bootstrap token not valid: other tokens exist or existed, or its day is over")
	default:
		log.Info("bootstrap token valid", "until", until)
	}
	return nil
}

// mayServe refuses an address that other machines can reach unless the installation has a token.
func (s *serving) mayServe(ctx context.Context, svc *locus.DB, w where) error {
	host, _, err := net.SplitHostPort(s.addr)
	if err != nil {
		return err
	}
	wish := s.wish(host)
	if !wish.Insecure && listen.Loopback(host) && wish.TLS != listen.External {
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
		return usage("locus token create admin --role administrator --output admin.token "+at,
			"refusing to serve at %.80q: %v", s.addr, err)
	}
	return nil
}

// socket returns the listener for commands with --data, none where the system does not protect it or the path is too
// long.
func (s *serving) socket(dir string, log *slog.Logger) []net.Listener {
	if runtime.GOOS == "windows" {
		return nil
	}
	l, err := listen.Socket(dir)
	if err != nil {
		log.Warn("local socket unavailable: commands with --data cannot reach this server", "err", err)
		return nil
	}
	return []net.Listener{l}
}

// onHangup calls do at every SIGHUP until stop is called. It is for one caller: stop undoes every other.
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
