// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/httpapi"
	"github.com/locus-db/locus/internal/term"
)

const (
	// leftFree is how many connections of a server are for administrators, backups and replicas.
	leftFree = 10
	// standbyLate and standbyBytes are how far a standby may be behind.
	standbyLate  = time.Minute
	standbyBytes = 1 << 30
)

// serversOf looks at the PostgreSQL servers of the cells.
func serversOf(ctx context.Context, cl *client, x *examination) error {
	var list httpapi.ServerList
	if _, err := cl.get(ctx, "/v1/servers", nil, &list); err != nil {
		if _, older := gone(err); older { // than this route
			return nil
		}
		return err
	}
	for i := range list.Servers {
		x.server(&list.Servers[i])
	}
	return nil
}

// server judges one server.
func (x *examination) server(s *cell.Server) {
	if s.Trouble != "" {
		x.fail("server", "check the server, and the network to it", "%s cannot be reached: %s", s.Name, s.Trouble)
		x.bare("%s cannot be reached: %s", s.Name, scrub(s.Trouble))
		return
	}
	x.ok("server", "%s is PostgreSQL %s, %d of %d connections are open", s.Name, s.Version, s.Used, s.Connections)
	if s.Profile != "" {
		x.warn("profile", "try failover, restore and a branch on an installation that may be lost",
			"%s has the profile %s, which is experimental: it was not tested on the platform", s.Name, s.Profile)
	}
	switch others := s.Used - s.Own; {
	case s.Pooled && !s.PoolerNamed:
		x.warn("pooler", "add pooler=1 to the URL if it pools by transaction, as PgBouncer does",
			"%s is behind a pooler, but its URL does not say so", s.Name)
	case s.Pooled: // which limits the connections itself
	case s.PoolerNamed:
		x.warn("pooler", "leave pooler=1 out of the URL: without it statements are prepared",
			"there is no pooler in front of %s, but its URL says so", s.Name)
	case others+s.Budget > s.Connections-leftFree:
		x.warn("connections", "lower --connections of the processes, or raise max_connections",
			"%s takes %d: others have %d open, this process may open %d, and %d are for administrators", s.Name, s.Connections, others, s.Budget, leftFree)
	}
	if off := time.Duration(s.ClockMS) * time.Millisecond; off.Abs() > drift {
		x.warn("clock", "synchronise both clocks (NTP): ids and tokens have times",
			"that of %s and that of the machine that asks it differ by %v", s.Name, off.Abs().Round(time.Second))
	}
	x.replication(s)
}

// replication checks whether a copy remains if the disk of a server is lost.
func (x *examination) replication(s *cell.Server) {
	if s.ArchiveFails {
		x.fail("archive", "see last_failed_wal in pg_stat_archiver and the server's log: the disk fills with WAL until archiving works", "%s fails to archive its log", s.Name)
	}
	switch {
	case s.Recovering: // it is a standby itself
	case s.Hidden:
		x.ok("standby", "%s has %s; only a member of pg_monitor can see their lag", s.Name,
			counted(int64(len(s.Standbys)), "standby", "standbys"))
	case s.Profile != "": // whose storage is copied by the platform
	case len(s.Standbys) == 0 && !s.Archives:
		x.warn("standby", "add a standby, or archive the log (archive_mode)",
			"%s has neither a standby nor an archive of its log: if its disk fails, everything since the last backup is lost", s.Name)
	case len(s.Standbys) == 0:
		x.ok("standby", "%s has no standby, but archives its log", s.Name)
	}
	for _, r := range s.Standbys {
		late := time.Duration(r.LagMS) * time.Millisecond
		switch {
		case s.Hidden:
		case r.State != "streaming":
			x.warn("standby", "see its log", "%s of %s does not stream: it is in state %s", r.Name, s.Name, r.State)
		case late > standbyLate || r.Bytes > standbyBytes:
			x.warn("standby", "see its log, its disk and the network to it", "%s of %s is %v and %s bytes behind", r.Name,
				s.Name, late.Round(time.Second), term.Count(r.Bytes))
		default:
			x.ok("standby", "%s of %s streams (%s), %s bytes behind", r.Name, s.Name, r.Sync, term.Count(r.Bytes))
		}
	}
}
