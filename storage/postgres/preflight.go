// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
)

// sqlServer reads the settings that durability depends on, from the connection because a role or a database may
// override the server's. The place follows.
const sqlServer = `SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
	pg_is_in_recovery(), current_setting('fsync'), current_setting('full_page_writes'),
	current_setting('synchronous_commit'), current_setting('data_sync_retry'),
	current_setting('max_connections')::int, coalesce(current_setting('neon.timeline_id', true), '') <> '', `

// place identifies a database on a server in one timeline.
type place struct {
	system string // identifier of the server's data directory
	// increases with every promotion and every point-in-time recovery; 0 if the platform has no timelines
	timeline int64
	oid      int64 // of the database
}

// server is the result of sqlServer.
type server struct {
	version, connections                       int
	encoding                                   string
	standby, neon                              bool
	fsync, fullPages, synchronous, retriesSync string
	place                                      place
}

func (s *server) scan(row pgx.Row) error {
	return row.Scan(&s.version, &s.encoding, &s.standby, &s.fsync, &s.fullPages, &s.synchronous, &s.retriesSync,
		&s.connections, &s.neon, &s.place.system, &s.place.timeline, &s.place.oid)
}

// minVersion and maxVersion bound the versions that Locus is tested with.
const (
	minVersion = 15
	maxVersion = 18
)

// check refuses a server that cannot provide the required durability; the error names every violated rule. Behind a
// pooler, the pooler limits the connections.
func (s *server) check(o *Options, at string, pooler bool, of profile) error {
	var errs []error
	rule := func(broken bool, format string, args ...any) {
		if broken {
			errs = append(errs, fmt.Errorf("%w: %s: %s", cell.ErrPreflight, at, fmt.Sprintf(format, args...)))
		}
	}
	major := s.version / 10000
	rule(major < minVersion || major > maxVersion, "PostgreSQL %d: want %d to %d", major, minVersion, maxVersion)
	rule(s.encoding != "UTF8", "its encoding is %s: want UTF8; recreate the database", s.encoding)
	rule(s.neon && of != neon, "it is Neon, where a branch is a copy: write profile=neon in the URL")
	rule(!s.neon && of == neon, "it is not Neon: leave profile=neon out of the URL")
	if !o.Unsafe && !of.keepsLog() {
		rule(s.fsync != "on", "fsync is %s: want on, or a loss of power damages data", s.fsync)
		rule(s.fullPages != "on", "full_page_writes is %s: want on, or a loss of power damages data", s.fullPages)
	}
	if !o.Unsafe {
		rule(s.synchronous != "on" && s.synchronous != "remote_apply", "synchronous_commit is %s for this role or database: want on, or acknowledged writes can be lost", s.synchronous)
		rule(s.retriesSync != "off", "data_sync_retry is %s: want off, or a failed write to disk can be reported as successful", s.retriesSync)
	}
	rule(!pooler && o.Connections > s.connections-reserved, "%s", tooFew(o.Connections, s.connections))
	return errors.Join(errs...)
}

// reserved is the number of server connections left for others: administrators, backups, replicas.
const reserved = 10

// inspect checks a new connection: the server's settings, and whether the database is the one that the cell was
// written in.
func (c *Cell) inspect(ctx context.Context, on *conn) error {
	var s server
	var home *place
	b := new(pgx.Batch)
	b.Queue(sqlServer + c.target.profile.place()).QueryRow(s.scan)
	b.Queue(sqlHome).Query(readHome(&home))
	seen := c.pulse.Load() // read before the query: both may rise while it runs
	var p cell.Pulse
	b.Queue(sqlStood).Query(readPulse(&p))
	if err := c.agrees(ctx, on); err != nil {
		return err
	}
	if err := on.run(ctx, reading, b); err != nil {
		return c.unnamed(ctx, on, fmt.Errorf("check %s: %w", c.target.shown, explain(err)))
	}
	if s.standby && !c.opts.Standby {
		return fmt.Errorf("connect to %s: %w", c.target.shown, &lostError{errors.New("it is a standby: the primary is elsewhere")})
	}
	if err := s.check(c.opts, c.target.shown, c.target.pooler, c.target.profile); err != nil {
		return err
	}
	if err := c.recognise(s.place, home); err != nil || home == nil {
		return err
	}
	return c.stood(p, seen)
}
