// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
)

const (
	// sqlSurvey works for every role. It sees that other roles have sessions, but not of which type.
	sqlSurvey = `SELECT current_setting('server_version'), pg_backend_pid(), current_setting('max_connections')::int,
	(SELECT count(*) FROM pg_stat_activity WHERE coalesce(backend_type, 'client backend') = 'client backend' AND datid IS NOT NULL),
	clock_timestamp(), pg_is_in_recovery(), current_setting('archive_mode') <> 'off',
	(SELECT last_failed_time > coalesce(last_archived_time, '-infinity') FROM pg_stat_archiver)`

	// sqlStandbys returns rows without a state to a role that is not a member of pg_monitor.
	sqlStandbys = `SELECT application_name, coalesce(state, ''), coalesce(sync_state, ''),
	coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::bigint, coalesce(extract(epoch FROM replay_lag) * 1000, 0)::bigint
	FROM pg_stat_replication WHERE state IS DISTINCT FROM 'backup' ORDER BY application_name, pid`
)

// Survey implements cell.Surveyor. Each server is asked on a separate connection, beyond the budget, so that it can be
// inspected while all others are in use.
func (d *Driver) Survey(ctx context.Context, urls []string) []cell.Server {
	var asked []*target
	for _, url := range urls {
		t, err := parseURL(url, d.opts.Unsafe, d.opts.Standby)
		if err != nil {
			continue // the cell cannot be opened, as its status says
		}
		if !slices.ContainsFunc(asked, func(a *target) bool { return a.server == t.server }) {
			asked = append(asked, t)
		}
	}
	all := make([]cell.Server, len(asked))
	var wg sync.WaitGroup
	for i, t := range asked {
		wg.Go(func() { all[i] = d.survey(ctx, t) })
	}
	wg.Wait()
	slices.SortFunc(all, func(a, b cell.Server) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (d *Driver) survey(ctx context.Context, t *target) cell.Server {
	p := d.pool(t).read()
	s := cell.Server{Name: t.server, PoolerNamed: t.pooler, Profile: string(t.profile), Budget: p.Budget, Own: p.Open}
	ctx, cancel := context.WithTimeout(ctx, d.opts.ConnectTimeout+d.opts.StatementTimeout)
	defer cancel()
	on, err := t.dial(ctx, d.opts)
	if err != nil {
		s.Trouble = err.Error()
		return s
	}
	defer func() { _ = on.Close(context.WithoutCancel(ctx)) }()
	if err := look(ctx, on, &s); err != nil {
		s.Trouble = explain(err).Error()
	}
	return s
}

// look reads the properties of a server on a connection.
func look(ctx context.Context, on *pgx.Conn, s *cell.Server) error {
	var pid uint32
	var at time.Time
	var archived *bool
	asked := time.Now()
	err := on.QueryRow(ctx, sqlSurvey).Scan(&s.Version, &pid, &s.Connections, &s.Used, &at, &s.Recovering, &s.Archives,
		&archived)
	if err != nil {
		return err
	}
	came := time.Now()
	s.Pooled = pid != on.PgConn().PID() // a pooler numbers its own connections
	s.Used--                            // this connection
	s.ArchiveFails = s.Archives && archived != nil && *archived
	switch {
	case at.Before(asked):
		s.ClockMS = at.Sub(asked).Milliseconds()
	case at.After(came):
		s.ClockMS = at.Sub(came).Milliseconds()
	}
	if s.Recovering || s.Profile == string(aurora) {
		return nil // the statement asks for the server's own position, which a standby does not have
	}
	rows, err := on.Query(ctx, sqlStandbys)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r cell.Standby
		if err := rows.Scan(&r.Name, &r.State, &r.Sync, &r.Bytes, &r.LagMS); err != nil {
			return err
		}
		s.Hidden = s.Hidden || r.State == ""
		s.Standbys = append(s.Standbys, r)
	}
	return rows.Err()
}
