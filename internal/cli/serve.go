// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locus-db/locus"
	"github.com/locus-db/locus/audits"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/intake"
	"github.com/locus-db/locus/internal/listen"
	"github.com/locus-db/locus/internal/mcp"
	"github.com/locus-db/locus/internal/obs"
	"github.com/locus-db/locus/internal/running"
	_ "github.com/locus-db/locus/sink/file"
	_ "github.com/locus-db/locus/sink/kafka" // drivers of sinks register themselves
	_ "github.com/locus-db/locus/sink/mongodb"
	_ "github.com/locus-db/locus/sink/nats"
	_ "github.com/locus-db/locus/sink/postgres"
	_ "github.com/locus-db/locus/sink/webhook"
	"github.com/locus-db/locus/sinks"
	_ "github.com/locus-db/locus/source/kafka" // drivers of streams register themselves
	_ "github.com/locus-db/locus/source/nats"
	_ "github.com/locus-db/locus/source/postgres"
	"github.com/locus-db/locus/sources"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/all"
	"github.com/locus-db/locus/tokens"
)

const defaultAddr = "127.0.0.1:7070"

const (
	defaultRetain = 24 * time.Hour
	// leastRetain gives followers of the logs time to reconnect.
	leastRetain = time.Minute
	// A shorter grace would refuse requests at a failover of the database, a longer one keeps a revoked token for too
	// long.
	leastGrace, mostGrace = 10 * time.Second, 24 * time.Hour
)

// serving holds the flags of a server.
type serving struct {
	addr        string
	cells       int
	connections int
	node        nodeFlag
	insecure    bool
	profiles    bool
	hosts       []string
	places      []string
	secretEnv   []string
	shutdown    time.Duration
	retain      time.Duration
	grace       time.Duration
	hits        retaining
	rollups     int // how many there may be
	kinds       int
	audit       auditing
	traces      tracing
	people      people
	tls         string   // where TLS ends: a listen.Mode
	cert, key   string   // files of the certificate
	proxies     []string // networks of the proxies
	fingerprint string   // of the authority of a self-signed certificate
	authority   string   // file with its certificate
	boot        string   // file of the bootstrap token
	public      string   // URL for browsers and other machines
	peers       string   // where other servers of the installation send writes
	sinkFiles   string   // directory of the sinks of files
	readOnly    bool
}

func (a *app) serveCommand() *cobra.Command {
	var s serving
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the HTTP API and the console from a data directory or from shared databases",
		Example: "  locus serve --data /var/lib/locus --addr 127.0.0.1:8080\n" +
			"  locus serve --map postgres://db1/locus,postgres://db2/locus --node 1",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			w, err := a.locate(c)
			if err != nil {
				return err
			}
			if err := s.check(w); err != nil {
				return err
			}
			if err := a.checkLog(c.Flags()); err != nil {
				return err
			}
			listeners, err := s.listen()
			if err != nil {
				return err
			}
			certificate, err := s.certificate(a.logger(slog.LevelInfo))
			if err != nil {
				return errors.Join(err, closeAll(listeners))
			}
			log, closeLog, err := s.audit.options()
			if err != nil {
				return errors.Join(err, closeAll(listeners))
			}
			defer func() { err = errors.Join(err, closeLog()) }()
			traces, closeTraces, err := a.openTraces(c, &s.traces)
			if err != nil {
				return errors.Join(err, closeAll(listeners))
			}
			defer func() { err = errors.Join(err, closeTraces()) }()
			svc, options, err := a.openServed(c.Context(), w, &s, log, traces)
			if err != nil {
				return errors.Join(err, closeAll(listeners))
			}
			err = s.bootstrap(c.Context(), svc, options.Logger)
			if err == nil {
				err = s.mayServe(c.Context(), svc, w)
			}
			if err == nil {
				err = s.people.serve(c.Context(), svc, options, s.public)
			}
			if err != nil {
				return errors.Join(err, svc.Close(), closeAll(listeners))
			}
			reread, err := s.encrypt(listeners, certificate, w.place, options)
			if err != nil {
				return errors.Join(err, svc.Close(), closeAll(listeners))
			}
			defer onHangup(func() {
				reread()
				a.reload(c, options)
			})()
			if !w.shared {
				listeners = append(listeners, s.socket(w.place, options.Logger)...)
			}
			return a.serve(c.Context(), svc, options, &s, listeners, func(base string) error {
				return a.banner(svc, base, w, &s)
			})
		},
	}
	a.serveFlags(c, &s)
	return c
}

// serveFlags adds the flags of a server, each with a variable.
func (a *app) serveFlags(c *cobra.Command, s *serving) {
	a.installation(c)
	c.Flags().Lookup("data").Usage = "data directory; created if it does not exist"
	c.Flags().StringVar(&s.addr, "addr", defaultAddr, "address to listen on; port 0 means a free one")
	c.Flags().StringVar(&s.peers, "peer-addr", "", "with --map: HOST:PORT at which this server receives writes from the other servers, or none; by default a free port of the address from which it reaches the database, unless --addr is local and that address is not")
	c.Flags().IntVar(&s.cells, "cells", 0, "number of cells of a new installation; 0 means 16")
	c.Flags().IntVar(&s.connections, "connections", 0,
		"with --map: connections of this process to one database server; 0 means 64")
	c.Flags().Lookup("notice").Hidden = false
	c.Flags().Lookup("unsafe-durability").Hidden = false
	c.Flags().Var(&s.node, "node", "node of minted ids: a number that no other server uses, or random")
	c.Flags().BoolVar(&s.profiles, "pprof", false,
		"serve profiles at /debug/pprof/ to principals with the permission operate")
	c.Flags().BoolVar(&s.insecure, "insecure-listen", false,
		"listen where other machines can connect, without tokens and TLS")
	c.Flags().StringVar(&s.tls, "tls", "", "where TLS ends: files (of --tls-cert and --tls-key, which imply it), self-signed (a certificate below DIR/tls), or external (at a proxy of --trusted-proxies)")
	c.Flags().StringSliceVar(&s.proxies, "trusted-proxies", nil,
		"with --tls external: addresses or networks of the proxies, such as 10.0.0.0/8; no other machine may connect")
	c.Flags().StringVar(&s.public, "public-url", "",
		"URL of the server for browsers and other machines, such as https://locus.example; requests may use its name")
	c.Flags().StringVar(&s.cert, "tls-cert", "",
		"PEM file of the certificate with its chain; read again when it changes, and at SIGHUP")
	c.Flags().StringVar(&s.key, "tls-key", "", "PEM file of the key of --tls-cert")
	c.Flags().StringVar(&s.boot, "bootstrap-token-file", "",
		"file with a token of locus token bootstrap: valid for a day, and only until there is another token")
	c.Flags().StringSliceVar(&s.hosts, "host", nil, "host names that requests may use, besides localhost")
	c.Flags().StringArrayVar(&s.secretEnv, "secret-env", nil,
		"NAME=HOST,... environment variable whose secret sinks and streams may use with these hosts; may be repeated")
	c.Flags().StringArrayVar(&s.places, "place", nil, "postgres://HOST or sqlite:/DIRECTORY where requests may create cells, besides the places of existing cells; may be repeated")
	c.Flags().DurationVar(&s.retain, "retain", defaultRetain,
		"how long changes stay in the logs for their followers and for locus rollup explain")
	c.Flags().IntVar(&s.rollups, "max-rollups", 0,
		"how many rollups may be defined; each makes every write slower; 0 means 32")
	c.Flags().IntVar(&s.kinds, "max-kinds", 0, "how many kinds may be created; 0 means 64")
	c.Flags().DurationVar(&s.grace, "access-grace", tokens.DefaultGrace,
		"how long known tokens stay valid while the cell that stores tokens is unavailable")
	s.people.flags(c)
	s.hits.flags(c)
	s.audit.flags(c)
	s.traces.flags(c)
	c.Flags().BoolVar(&s.readOnly, "read-only", false, "write nothing; also opens hot standbys of PostgreSQL")
	c.Flags().StringVar(&s.sinkFiles, "sink-files", "",
		"directory below which sinks of the form file:NAME write; without it they fail")
	c.Flags().DurationVar(&s.shutdown, "shutdown-timeout", 10*time.Second, "how long a shutdown may take")
	c.Flags().Var((*levelFlag)(&a.logLevel), "log-level", "debug, info, warn or error; by default info")
	c.Flags().StringVar(&a.logFormat, "log-format", "", "text, or json for a line of JSON per event; by default text")
	_ = c.Flags().SetAnnotation("log-level", variableOf, []string{"LOCUS_LOG"})
	c.Flags().VisitAll(func(f *pflag.Flag) { variables(c.Flags(), f.Name) })
}

// openServed opens an installation with metrics, and returns the server options that share its logger and metrics. It
// doubles the garbage collector's target, because resolving produces much garbage, unless GOGC is set.
func (a *app) openServed(ctx context.Context, w where, s *serving, log *audits.Options,
	traces locus.Tracer) (*locus.DB, *httpapi.Options, error) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
	}
	secrets, err := running.ParseVariables(s.secretEnv)
	if err != nil {
		return nil, nil, err
	}
	options := &httpapi.Options{Logger: a.logger(slog.LevelInfo), Metrics: obs.NewMetrics(), Version: version(),
		Profiles: s.profiles, Tracer: traces}
	svc, err := open(ctx, w, s.options(options.Logger), &locus.Options{
		Logger: options.Logger, Tracer: traces, Node: s.node.Node, OnBatch: options.Metrics.Batch, Retention: s.retain,
		Counters: counter.Options{OnGroup: options.Metrics.HitGroup, Retention: s.hits.all()}, CountItself: true,
		Passive: s.readOnly, PeerAddr: s.peerAddr(w),
		Sinks: &sinks.Options{Files: s.sinkFiles, UnsafeDurability: w.unsafe, Secret: secrets.Value}, Audit: log,
		MaxRollups: s.rollups, MaxKinds: s.kinds, AccessGrace: s.grace,
		Sources: &sources.Options{Compile: intake.Compile, Secret: secrets.Value},
	})
	return svc, options, err
}

// serve calls ready with the base URL, serves until ctx ends, then drains and closes the service.
func (a *app) serve(ctx context.Context, svc *locus.DB, options *httpapi.Options, s *serving,
	listeners []net.Listener, ready func(base string) error) (err error) {
	options.Hosts = append(options.Hosts, s.names()...)
	options.ShutdownTimeout, options.Linger = s.shutdown, s.linger()
	options.OnDrain = func(step string) {
		a.notify("STOPPING=1\nSTATUS=" + step)
		a.say("stopping: %s", step)
	}
	options.Insecure, options.Places, options.PublicURL = s.insecure, s.places, s.public
	if options.Proxies, err = listen.ParseProxies(s.proxies); err != nil {
		return errors.Join(err, svc.Close(), closeAll(listeners))
	}
	if s.insecure {
		options.Metrics.Insecure()
	}
	options.Agents = mcp.Web(options.Version)
	server := httpapi.New(svc, options)
	if err := ready(s.base(listeners[0].Addr())); err != nil {
		return errors.Join(err, svc.Close(), closeAll(listeners))
	}
	serving := s.noteServing(svc)
	a.notify("READY=1")
	err = server.Serve(ctx, listeners...)
	serving.End("ok")
	if closeErr := svc.Close(); closeErr != nil {
		err = errors.Join(err, fmt.Errorf("close the cells: %w", closeErr))
	}
	if err == nil {
		a.say("stopped")
	}
	return err
}

// options returns the options for opening the databases.
func (s *serving) options(log *slog.Logger) *storage.Options {
	return &storage.Options{
		Cells: s.cells, Connections: s.connections, MustExist: s.readOnly, Standby: s.readOnly,
		OnEvent: func(e cell.Event) {
			attrs := []any{"what", e.What, "cell", e.Cell, "epoch", e.Epoch}
			if e.Err != nil {
				log.Warn("cells", append(attrs, "err", e.Err)...)
			} else {
				log.Debug("cells", attrs...)
			}
		},
	}
}
