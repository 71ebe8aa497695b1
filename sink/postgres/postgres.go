// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locus-db/locus/secret"
	"github.com/locus-db/locus/sink"
)

// Options of Open. Nil is the default.
type Options struct {
	// Columns are the attributes that get a text column: those with one value. An attribute with the name of another
	// column is left out.
	Columns []string
	// Password, if not nil, replaces that of the URL, of the environment and of the password file.
	Password *secret.Text
}

const (
	// BatchSize is a good size of batches, of which a sink must deliver one at a time.
	BatchSize = 500
	// patience is how long a transaction may take.
	patience = time.Minute
	// table of the positions.
	controls = "locus_sink"
	// dataException is the class of errors of values that a column cannot have.
	dataException = "22"
)

// foreign are parameters that name files and credentials of the servers.
var foreign = []string{
	"passfile", "service", "servicefile", "sslcert", "sslkey", "sslrootcert", "sslpassword", "krbspn", "krbsrvname",
}

// fixed are the columns that every table has.
var fixed = []string{"id", "rev", "op", "kind", "into_id", "at", "records", "view"}

// Sink is the sink of a table. It stores positions.
type Sink struct {
	config  *pgx.ConnConfig
	table   pgx.Identifier
	columns []string
	conn    *pgx.Conn // nil if it is broken; used by one goroutine at a time
}

var _ sink.Sink = (*Sink)(nil)

// Open returns the sink of a table, named by the parameter table of a URL: postgres://USER@HOST/DATABASE?table=golden,
// or SCHEMA.TABLE. It creates the tables that are missing. Connections to other hosts are verified unless the URL has
// an sslmode. Parameters that name files are refused, because definitions come over HTTP. PGPASSWORD is not
// used. The error wraps sink.ErrStop if the table is of another program.
func Open(ctx context.Context, to string, opts *Options) (*Sink, error) {
	s, err := parse(to)
	if err != nil {
		return nil, err
	}
	if opts != nil {
		if opts.Password != nil {
			s.config.Password = opts.Password.Reveal()
		}
		for _, c := range opts.Columns {
			if !slices.Contains(fixed, c) && !slices.Contains(s.columns, c) {
				s.columns = append(s.columns, c)
			}
		}
	}
	if err := s.create(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// parse parses the URL. Its errors do not quote it, because it may contain a password.
func parse(to string) (*Sink, error) {
	const want = "want postgres://USER@HOST/DATABASE?table=NAME"
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New("postgres: the URL cannot be read: " + want)
	}
	q := u.Query()
	table := strings.Split(q.Get("table"), ".")
	if len(table) > 2 || slices.Contains(table, "") {
		return nil, errors.New("postgres: the URL names no table: " + want)
	}
	q.Del("table")
	for _, name := range foreign {
		if q.Has(name) {
			return nil, fmt.Errorf("postgres: the URL has the parameter %s, which a target cannot have: %s, and set PGSSLROOTCERT and the like for the servers", name, want)
		}
	}
	u.RawQuery = q.Encode()
	config, err := pgx.ParseConfig(u.String())
	if err == nil && !q.Has("sslmode") && !local(config.Host) {
		q.Set("sslmode", "verify-full")
		u.RawQuery = q.Encode()
		config, err = pgx.ParseConfig(u.String())
	}
	if err != nil {
		return nil, errors.New("postgres: the parameters of the URL cannot be read: " + want)
	}
	// PGPASSWORD belongs to the server of the cells. A password file names the host of each password, but of a list
	// of hosts all would get that of the first.
	several := slices.ContainsFunc(config.Fallbacks, func(f *pgconn.FallbackConfig) bool { return f.Host != config.Host || f.Port != config.Port })
	if _, own := u.User.Password(); !own && (several || os.Getenv("PGPASSWORD") != "") {
		config.Password = ""
	}
	return &Sink{config: config, table: table}, nil
}

// local reports whether a host is this one: a socket, or an address of the loopback.
func local(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.HasPrefix(host, "/") || host == "localhost" || err == nil && addr.IsLoopback()
}

// name returns the name of the table in the table of positions.
func (s *Sink) name() string { return strings.Join(s.table, ".") }

// control returns the table of positions, in the schema of the table.
func (s *Sink) control() string {
	return append(slices.Clone(s.table[:len(s.table)-1]), controls).Sanitize()
}

// in runs a transaction.
func (s *Sink) in(ctx context.Context, fn func(pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if s.conn == nil || s.conn.IsClosed() {
		conn, err := pgx.ConnectConfig(ctx, s.config)
		if err != nil {
			return fmt.Errorf("connect to %s: %w", net.JoinHostPort(s.config.Host, fmt.Sprint(s.config.Port)), connecting(err))
		}
		s.conn = conn
	}
	return pgx.BeginFunc(ctx, s.conn, fn)
}

// connecting returns the last of the errors of an attempt to connect. The driver lists every address, with and without TLS,
// in lines of their own.
func connecting(err error) error {
	if failed, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		err = failed.Unwrap()
	}
	if all, ok := err.(interface{ Unwrap() []error }); ok && len(all.Unwrap()) > 0 {
		err = all.Unwrap()[len(all.Unwrap())-1]
	}
	return err
}

// create creates what is missing.
func (s *Sink) create(ctx context.Context) error {
	table := s.table.Sanitize()
	return s.in(ctx, func(tx pgx.Tx) error {
		has, err := columnsOf(ctx, tx, table)
		if err != nil {
			return err
		}
		for _, c := range fixed {
			if len(has) > 0 && !slices.Contains(has, c) {
				return fmt.Errorf("%w: table %s exists and has no column %s: give the sink a table of its own", sink.ErrStop, table, c)
			}
		}
		sql := []string{"CREATE TABLE IF NOT EXISTS " + s.control() + " (name text PRIMARY KEY, token bigint NOT NULL, position jsonb NOT NULL)"}
		if len(has) == 0 {
			sql = append(sql, "CREATE TABLE "+table+` (id uuid PRIMARY KEY, rev bigint NOT NULL, op text NOT NULL, kind text, into_id uuid, at text, records jsonb, view jsonb)`)
		}
		for _, c := range s.columns {
			if !slices.Contains(has, c) {
				sql = append(sql, "ALTER TABLE "+table+" ADD COLUMN "+pgx.Identifier{c}.Sanitize()+" text")
			}
		}
		for _, one := range sql {
			if _, err := tx.Exec(ctx, one); err != nil {
				return fmt.Errorf("create table %s: %w", table, err)
			}
		}
		return nil
	})
}

// columnsOf returns the columns of a table, none if there is no such table.
func columnsOf(ctx context.Context, tx pgx.Tx, table string) ([]string, error) {
	rows, err := tx.Query(ctx, "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped", table)
	if err != nil {
		return nil, fmt.Errorf("look for table %s: %w", table, err)
	}
	has, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look for table %s: %w", table, err)
	}
	return has, nil
}

// Position implements sink.Sink.
func (s *Sink) Position(ctx context.Context) (at sink.Position, err error) {
	err = s.in(ctx, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, "SELECT position FROM "+s.control()+" WHERE name = $1", s.name()).Scan(&at)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return at, err
}

// Close implements sink.Sink.
func (s *Sink) Close() error {
	if s.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return s.conn.Close(ctx)
}

// Deliver implements sink.Sink. If a value cannot be stored, the events are written one by one to find out which.
func (s *Sink) Deliver(ctx context.Context, b sink.Batch) error {
	write := func(b sink.Batch) error { return s.write(ctx, b) }
	err := write(b)
	if badData(err) == "" || len(b.Events) == 0 {
		return err
	}
	return b.Apart(write, badData)
}

// badData returns the message for a value that the database cannot store, "" for any other error.
func badData(err error) string {
	if of, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(of.Code, dataException) {
		return of.Message
	}
	return ""
}

// write writes a batch in one transaction. The row of the sink is locked first.
func (s *Sink) write(ctx context.Context, b sink.Batch) error {
	events, err := json.Marshal(b.Events)
	if err != nil {
		return fmt.Errorf("write %d events: %w", len(b.Events), err)
	}
	return s.in(ctx, func(tx pgx.Tx) error {
		position := b.Position
		if position == nil {
			position = &sink.Position{}
		}
		tag, err := tx.Exec(ctx, "INSERT INTO "+s.control()+` AS c (name, token, position) VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE
			SET token = excluded.token, position = CASE WHEN $4 THEN excluded.position ELSE c.position END WHERE c.token <= excluded.token`,
			s.name(), b.Token, position, b.Position != nil)
		switch {
		case err != nil:
			return fmt.Errorf("write the position: %w", err)
		case tag.RowsAffected() == 0:
			return fmt.Errorf("%w: table %s has one above %d", sink.ErrFenced, s.name(), b.Token)
		}
		if len(b.Events) > 0 {
			if _, err := tx.Exec(ctx, s.upsert(), events); err != nil {
				return fmt.Errorf("write %d events: %w", len(b.Events), err)
			}
		}
		if b.Sweep != 0 {
			if _, err := tx.Exec(ctx, s.sweep(), b.Sweep); err != nil {
				return fmt.Errorf("delete what the installation has lost: %w", err)
			}
		}
		return nil
	})
}

// upsert returns the statement that writes events, given as a JSON array.
func (s *Sink) upsert() string {
	names, values, sets := strings.Join(fixed, ", "), `e.id, e.rev, e.op, e.kind, e."into", e.at, e.records, e.view`, ""
	for _, c := range s.columns {
		name := pgx.Identifier{c}.Sanitize()
		names += ", " + name
		values += ", e.view ->> " + literal(c)
	}
	for n := range strings.SplitSeq(names, ", ") {
		sets += ", " + n + " = excluded." + n
	}
	return "INSERT INTO " + s.table.Sanitize() + " AS t (" + names + ") SELECT " + values +
		` FROM jsonb_to_recordset($1::jsonb) AS e(id uuid, rev bigint, op text, kind text, "into" uuid, at text, records jsonb, view jsonb)` +
		" ON CONFLICT (id) DO UPDATE SET " + sets[2:] + " WHERE t.rev < excluded.rev"
}

// sweep returns the statement that deletes what has a lower rev.
func (s *Sink) sweep() string {
	sets := "op = 'delete', rev = $1, kind = NULL, into_id = NULL, at = NULL, records = NULL, view = NULL"
	for _, c := range s.columns {
		sets += ", " + pgx.Identifier{c}.Sanitize() + " = NULL"
	}
	return "UPDATE " + s.table.Sanitize() + " SET " + sets + " WHERE rev < $1"
}

// literal quotes a text for a statement.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
