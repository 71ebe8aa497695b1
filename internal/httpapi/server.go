// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/cells"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/console"
	"github.com/locus-db/locus/internal/obs"
	"github.com/locus-db/locus/rollups"
)

// Options of New. The zero value of a field means its default.
type Options struct {
	// Hosts are names that requests may be addressed to, without a port, besides localhost and
	// loopback addresses.
	Hosts []string
	// Logger receives one line per failure that somebody has to look at, with hashes in the place of the
	// external keys that the request named. Defaults to discarding them.
	Logger *slog.Logger
	// Metrics receive what is measured and are served at /metrics. Defaults to new ones.
	Metrics *obs.Metrics
	// Version is the release, such as 0.1.0. Defaults to "devel".
	Version string
	// Banner, if set, stands at the top of every page of the console.
	Banner *Banner
	// RequestTimeout ends the work of one request. A client asks for less, in whole seconds, with the
	// header Request-Timeout, which counts from when the request came. Defaults to 10 s.
	RequestTimeout time.Duration
	// Linger is how long, after it was told to stop, a server still takes work while /readyz already
	// says no, so that load balancers notice. Defaults to 2 s; below 0 means none.
	Linger time.Duration
	// ShutdownTimeout is how long a server may take to stop, lingering included. What is not
	// finished then is cut off. Defaults to 10 s.
	ShutdownTimeout time.Duration
	// OnDrain, if set, is called with each step of stopping, in words.
	OnDrain func(step string)
	// Connections is how many may be open at once, idle ones included. When there are more, one that waits for its
	// client is closed; if there is none, the new one is for health checks only. Defaults to 4096.
	Connections int
	// Running is how many reads, and how many writes, are worked on at once; reads that take long count as several. One
	// client may have three quarters of them. Defaults to 16 for each processor.
	Running int
	// Waiting is how many more of each may wait. Defaults to 64.
	Waiting int
	// Wait is for how long. Defaults to 1 s.
	Wait time.Duration
	// Bodies is how many bytes of memory bodies may take together. Defaults to 8 MiB for each of Running.
	Bodies int
}

// Banner is what every page of the console says about the server.
type Banner = console.Banner

// withDefaults answers with a copy.
func (o *Options) withDefaults() Options {
	var opts Options
	if o != nil {
		opts = *o
	}
	hosts := make([]string, 0, len(opts.Hosts))
	for _, h := range opts.Hosts {
		hosts = append(hosts, strings.ToLower(h))
	}
	opts.Hosts = hosts
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Metrics == nil {
		opts.Metrics = obs.NewMetrics()
	}
	if opts.Version == "" {
		opts.Version = "devel"
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

// Server answers HTTP requests out of a service. It is safe for many goroutines.
type Server struct {
	svc         *locus.DB
	opts        Options
	pages       *console.Console
	mux         *http.ServeMux
	crossOrigin *http.CrossOriginProtection
	lanes       [classes]*lane
	bodies      *bodies
	connections *connections
	cursorKey   []byte
	document    func() ([]byte, error) // of OpenAPI; made when somebody asks for it
	healthy     map[string]bool        // patterns of class health
	ready       recent[*cells.Status]
	standing    recent[[]rollups.Status]
	tail        recent[changelog.Watermark]
	draining    atomic.Bool // told to stop: not ready any more
	closing     atomic.Bool // takes no new work any more
	// streams ends when event streams have to end.
	streams    context.Context
	endStreams context.CancelFunc
}

// New makes the interface of an open service, which stays the caller's to close. The server needs
// no network: ServeHTTP is all of it.
func New(svc *locus.DB, options *Options) *Server {
	s := &Server{
		svc: svc, opts: options.withDefaults(), mux: http.NewServeMux(), crossOrigin: http.NewCrossOriginProtection(),
		cursorKey: cursorKey(svc.Cells().Map().Spec().Salt), healthy: map[string]bool{},
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
	table := s.routes()
	for i := range table {
		s.register(&table[i])
		if table[i].class == health {
			s.healthy[table[i].method+" "+table[i].path] = true
		}
	}
	// Without this the router would send a path that lacks its key to one with an empty key.
	s.mux.HandleFunc("/v1/records/{source}", func(w http.ResponseWriter, r *http.Request) { s.refuse(w, r, errNoPath) })
	s.registerConsole()
	s.document = sync.OnceValues(func() ([]byte, error) { return openAPI(table, s.opts.Version) })
	return s
}
