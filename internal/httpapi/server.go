// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/access"
	"github.com/locus-db/locus/internal/buildinfo"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/internal/listen"
	"github.com/locus-db/locus/internal/login"
	"github.com/locus-db/locus/internal/obs"
	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/rollups"
)

// Options configures New. Zero fields mean defaults.
type Options struct {
	// Hosts are host names, without a port, that requests may use in addition to localhost, loopback addresses and the
	// address of their connection.
	Hosts []string
	// Logger receives one line per failure that concerns operators, with hashes in place of the external keys in the
	// request. Defaults to discarding them.
	Logger *slog.Logger
	// Metrics receives measurements and is served at /metrics. Defaults to new metrics.
	Metrics *obs.Metrics
	// Tracer receives a span for each request except probes and scrapes; nil for none.
	Tracer span.Tracer
	// Version is the release, such as 0.1.0. Defaults to "devel".
	Version string
	// Local means that every request is the operator's: for a server that is called in its process, without a network.
	// Otherwise requests need a token, once the installation has one.
	Local bool
	// Insecure means that the network can connect without a token: the first one cannot be created over it.
	Insecure bool
	// Proxies are the networks of the proxies that TLS ends in, nil for none. No other machine may connect then, and
	// they are believed about where a request comes from.
	Proxies listen.Proxies
	// PublicURL is the URL of the server for browsers and other machines, such as https://locus.example, "" if it is
	// not known. Its host is one of Hosts.
	PublicURL string
	// Places are where requests may put cells, besides the data directory and the servers that have cells:
	// postgres://HOST or sqlite:/DIRECTORY, each with the parameters that URLs there have. See CheckPlace.
	Places []string
	// Login is the identity provider through which people sign in to the console, nil for none.
	Login *login.Provider
	// Bearers checks the JWTs of services, nil if none are taken.
	Bearers *login.Bearers
	// CertRoles are the roles and limits of clients with a certificate, by the name in it: see listen.Client and
	// access.ParseGiven.
	CertRoles map[string][]string
	// HTTPSOnly tells browsers to use nothing but https:// for this server from now on, for a year (HSTS, RFC 6797).
	HTTPSOnly bool
	// Profiles serves /debug/pprof/ to principals that may operate.
	Profiles bool
	// Agents serves POST /mcp; nil means that it is not found.
	Agents Agents
	// Banner, if set, is shown at the top of every console page.
	Banner *Banner
	// RequestTimeout limits the work for one request. A client can request less, in whole seconds from the arrival of
	// the request, with the header Request-Timeout. Defaults to 10 s.
	RequestTimeout time.Duration
	// Linger is how long a stopping server still accepts work while /readyz already reports that it is not ready, so
	// that load balancers notice; at most half of ShutdownTimeout. Defaults to 2 s; negative means none.
	Linger time.Duration
	// ShutdownTimeout limits the time to stop, including Linger. Unfinished requests are then aborted. Defaults to 10
	// s.
	ShutdownTimeout time.Duration
	// OnDrain, if set, is called with a text for each step of stopping.
	OnDrain func(step string)
	// Connections is the maximum number of open connections, including idle ones. If there are more, one that waits for
	// its client is closed; if there is none, the new one is for health checks only. Defaults to 4096.
	Connections int
	// Running is how many reads, and how many writes, run at a time; expensive reads count as several. One client may
	// use three quarters of them. Defaults to 16 per processor.
	Running int
	// Waiting is how many more of each may wait. Defaults to 64.
	Waiting int
	// Wait is how long they may wait. Defaults to 1 s.
	Wait time.Duration
	// Bodies is the maximum memory of all request bodies, in bytes. Defaults to 8 MiB for each of Running.
	Bodies int
}

// Banner is a message on every console page.
type Banner = console.Banner

// withDefaults returns a copy with defaults.
func (o *Options) withDefaults() Options {
	var opts Options
	if o != nil {
		opts = *o
	}
	hosts := make([]string, 0, len(opts.Hosts))
	for _, h := range opts.Hosts {
		hosts = append(hosts, strings.ToLower(h))
	}
	if u, err := url.Parse(opts.PublicURL); err == nil && u.Hostname() != "" {
		hosts = append(hosts, strings.ToLower(u.Hostname()))
	}
	opts.Hosts = hosts
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Metrics == nil {
		opts.Metrics = obs.NewMetrics()
	}
	if opts.Version == "" {
		opts.Version = buildinfo.Devel
	}
	if opts.OnDrain == nil {
		opts.OnDrain = func(string) {}
	}
	if opts.Linger < 0 {
		opts.Linger = 0
	} else if opts.Linger == 0 {
		opts.Linger = 2 * time.Second
	}
	opts.RequestTimeout = or(opts.RequestTimeout, 10*time.Second)
	opts.ShutdownTimeout = or(opts.ShutdownTimeout, 10*time.Second)
	opts.Linger = min(opts.Linger, opts.ShutdownTimeout/2)
	opts.Connections = or(opts.Connections, 4096)
	opts.Running = or(opts.Running, 16*runtime.GOMAXPROCS(0))
	opts.Waiting = or(opts.Waiting, 64)
	opts.Wait = or(opts.Wait, time.Second)
	opts.Bodies = or(opts.Bodies, opts.Running*8<<20)
	return opts
}

func or[T int | time.Duration](v, preset T) T {
	if v == 0 {
		return preset
	}
	return v
}

// Server serves the HTTP API of an installation. It is safe for concurrent use.
type Server struct {
	svc         *locus.DB
	opts        Options
	pages       *console.Console
	mux         *http.ServeMux
	rules       map[string]access.Rule // by pattern
	crossOrigin *http.CrossOriginProtection
	lanes       [classes]*lane
	bodies      *bodies
	connections *connections
	spent       *buckets[spending] // by principal
	failures    *buckets[string]   // by address
	cursorKey   []byte
	document    func() ([]byte, error) // of OpenAPI; built on first use
	healthy     map[string]bool        // patterns of class health
	ready       recent[*cells.Status]
	backedUp    recent[*locus.BackupMark]
	standing    recent[[]rollups.Status]
	tail        recent[changelog.Watermark]
	draining    atomic.Bool // stopping: no longer ready
	closing     atomic.Bool // accepts no new work
	// streams ends when event streams must end.
	streams    context.Context
	endStreams context.CancelFunc
}

// New returns a server for an open installation, which the caller still owns and closes. The server needs no network:
// ServeHTTP is sufficient.
func New(svc *locus.DB, options *Options) *Server {
	s := &Server{
		svc: svc, opts: options.withDefaults(), mux: http.NewServeMux(), rules: map[string]access.Rule{},
		crossOrigin: http.NewCrossOriginProtection(),
		cursorKey:   cursorKey(svc.Cells().Map().Spec().Salt), healthy: map[string]bool{},
	}
	s.spent, s.failures = newBuckets[spending](0), newBuckets[string](failuresInAll)
	if s.opts.PublicURL != "" {
		// proxies may send another Host; an error means that it is no origin
		_ = s.crossOrigin.AddTrustedOrigin(strings.ToLower(s.opts.PublicURL))
	}
	s.streams, s.endStreams = context.WithCancel(context.Background())
	for c := reads; c < classes; c++ {
		running := s.opts.Running
		switch c {
		case hits:
			running *= hitsPerWrite
		case admin:
			running = adminRunning
		case feeds:
			running = maxStreams
		}
		s.lanes[c] = &lane{
			places: running, waiters: s.opts.Waiting, wait: s.opts.Wait, held: map[string]int{},
			refused: func() { s.opts.Metrics.Refused(c.String()) },
			waits:   func(delta int) { s.opts.Metrics.Waiting(c.String(), delta) },
		}
	}
	s.bodies = &bodies{room: s.opts.Bodies, refused: func() { s.opts.Metrics.Refused("bodies") }}
	s.connections = &connections{
		most: s.opts.Connections, open: map[net.Conn]*connection{}, clients: map[string]int{},
		refused: func() { s.opts.Metrics.Refused("connections") },
	}
	s.opts.Metrics.Watch(s.recentStatus)
	s.opts.Metrics.WatchRollups(s.recentRollups)
	s.opts.Metrics.WatchSinks(svc.Sinks().Running)
	s.opts.Metrics.WatchBackup(s.recentBackup)
	s.opts.Metrics.WatchAudit(svc.Audit().Failures)
	s.opts.Metrics.WatchSources(svc.Sources().Running)
	table := s.routes()
	for i := range table {
		s.register(&table[i])
		if table[i].class == health {
			s.healthy[table[i].method+" "+table[i].path] = true
		}
	}
	// Otherwise the router would redirect a path without a key to one with an empty key.
	s.handle("/v1/records/{source}", access.Public(), func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, r, errNoPath)
	})
	s.handle("/v1/records/delete", access.Public(), func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", http.MethodPost)
		s.refuse(w, r, fault(CodeMethod, "", "this path takes POST"))
	})
	s.registerConsole()
	if s.opts.Profiles {
		s.registerProfiles()
	}
	_, _ = svc.Tokens().Closed(context.Background()) // the first request reports an error
	s.document = sync.OnceValues(func() ([]byte, error) { return openAPI(table, s.opts.Version) })
	return s
}
