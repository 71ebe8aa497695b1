// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
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
)

// patience is how long a transaction may take.
const patience = time.Minute

// foreign are parameters that name files and credentials of the servers.
var foreign = []string{
	"passfile", "service", "servicefile", "sslcert", "sslkey", "sslrootcert", "sslpassword", "krbspn", "krbsrvname",
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
	// PGPASSWORD belongs to the server of the cells. A password file has a password for each host, but with a list of
	// hosts all of them would get the password of the first.
	several := slices.ContainsFunc(config.Fallbacks, func(f *pgconn.FallbackConfig) bool {
		return f.Host != config.Host || f.Port != config.Port
	})
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

// connecting returns the last of the errors of an attempt to connect. The driver lists every address, with and without
// TLS, in lines of their own.
func connecting(err error) error {
	if failed, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		err = failed.Unwrap()
	}
	if all, ok := err.(interface{ Unwrap() []error }); ok && len(all.Unwrap()) > 0 {
		err = all.Unwrap()[len(all.Unwrap())-1]
	}
	return err
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
