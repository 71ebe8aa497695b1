// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
)

// profile lists the guarantees of a managed platform, for which Locus does not check the settings. The URL names it,
// and it must agree with the server. Platforms that behave like plain PostgreSQL have none.
type profile string

const (
	// aurora has no functions for the log, and its own storage, which a promoted replica shares, so there are no
	// timelines.
	aurora profile = "aurora"
	// neon keeps the log in its storage, so fsync is off. A branch is a copy with another timeline id.
	neon profile = "neon"
)

func parseProfile(name string) (profile, error) {
	switch p := profile(name); p {
	case "", aurora, neon:
		return p, nil
	case "rds", "cloudsql", "alloydb":
		return "", fmt.Errorf("%w: profile=%s: leave it out, it is not needed there", cell.ErrURL, name)
	}
	return "", fmt.Errorf("%w: profile=%.40s: want aurora or neon, or nothing", cell.ErrURL, name)
}

// sqlTimeline is the timeline of the log being written. pg_control_checkpoint is stale for a while after a promotion.
const sqlTimeline = `CASE WHEN pg_is_in_recovery() THEN 0
	ELSE ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::bigint END`

func (p profile) timeline() string {
	if p == aurora {
		return "0::bigint"
	}
	return sqlTimeline
}

// place reads a place.
func (p profile) place() string {
	system := "(SELECT system_identifier::text FROM pg_control_system())"
	if p == neon {
		system += " || '/' || coalesce(current_setting('neon.timeline_id', true), '')"
	}
	return system + ", " + p.timeline() + ", (SELECT oid::bigint FROM pg_database WHERE datname = current_database())"
}

// where is the check that every transaction behind a pooler makes. The rest of a place cannot change while the timeline
// stays the same, except when a dump is restored, which starts with new connections.
func (p profile) where() string { return "SELECT timeline, " + p.timeline() + " FROM locus_cell" }

// keepsLog reports whether the storage of the platform keeps the log, so that the settings about writing it mean
// nothing.
func (p profile) keepsLog() bool { return p != "" }

// sqlAurora works on Aurora only. pg_proc does not list the function.
const sqlAurora = "SELECT aurora_version()"

// isAurora reports whether the server is Aurora's.
func (c *conn) isAurora(ctx context.Context) (bool, error) {
	var version string
	err := c.QueryRow(ctx, sqlAurora).Scan(&version)
	switch {
	case err == nil:
		return true, nil
	case state(err) == undefinedFunction:
		return false, nil
	}
	return false, err
}

// undefinedFunction is the state of an error about a function that there is not.
const undefinedFunction = "42883"

// agrees refuses a server that is not of the platform which the URL names.
func (c *Cell) agrees(ctx context.Context, on *conn) error {
	if c.target.profile != aurora {
		return nil
	}
	switch is, err := on.isAurora(ctx); {
	case err != nil:
		return fmt.Errorf("check %s: %w", c.target.shown, explain(err))
	case !is:
		return fmt.Errorf("%w: %s: it is not Aurora: leave profile=aurora out of the URL", cell.ErrPreflight, c.target.shown)
	}
	return nil
}

// unnamed explains why a server could not be inspected, if it is an Aurora server and the URL does not say so.
func (c *Cell) unnamed(ctx context.Context, on *conn, failed error) error {
	if c.target.profile != aurora && !on.IsClosed() {
		if is, err := on.isAurora(ctx); err == nil && is {
			return fmt.Errorf("%w: %s: it is Aurora, which has no functions of the log: write profile=aurora in the URL",
				cell.ErrPreflight, c.target.shown)
		}
	}
	return failed
}
