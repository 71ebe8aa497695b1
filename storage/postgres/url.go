// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
)

// target is the database that a URL names.
type target struct {
	shown  string // the URL without secrets
	server string // identifies the server: its databases share connections
	db     string
	pooler bool // behind a pooler in transaction mode
	config *pgx.ConnConfig
	// profile of a managed platform, "" for a server like any other.
	profile profile
}

// parseURL parses a URL like libpq, with defaults from the PG* environment and the password file, and additionally
// accepts pooler=1 and profile=NAME. unsafe allows a connection to another host that an attacker on the path could read
// or impersonate.
func parseURL(raw string, unsafe, standby bool) (*target, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, unparsed(raw, err)
	}
	t := &target{shown: cell.Redact(raw), db: strings.TrimPrefix(u.Path, "/")}
	q, err := url.ParseQuery(u.RawQuery)
	switch {
	case u.Scheme != "postgres" && u.Scheme != "postgresql" || !strings.Contains(raw, "://"):
		return nil, fmt.Errorf("%w: %s does not begin with postgres://: %s", cell.ErrURL, t.shown, example)
	case t.db == "" || strings.Contains(t.db, "/"):
		return nil, fmt.Errorf("%w: %s names no database: %s", cell.ErrURL, t.shown, example)
	case len(t.db) > longestName:
		return nil, fmt.Errorf("%w: the name of the database in %s has %d bytes: PostgreSQL cuts it after %d, so choose a shorter one", cell.ErrURL, t.shown, len(t.db), longestName)
	case !utf8.ValidString(t.db) || strings.ContainsFunc(t.db, func(r rune) bool { return !unicode.IsPrint(r) }):
		return nil, fmt.Errorf("%w: the name of the database in %s has a character that does not print: %s", cell.ErrURL,
			t.shown, example)
	case u.Fragment != "":
		return nil, fmt.Errorf("%w: %s has a #: leave out what follows it, or write it as %%23", cell.ErrURL, t.shown)
	case err != nil:
		return nil, fmt.Errorf("%w: the parameters of %s cannot be read: write ?NAME=VALUE&NAME=VALUE, and other characters as %%20", cell.ErrURL, t.shown)
	}
	switch v := q.Get("pooler"); v {
	case "", "0":
	case "1":
		t.pooler = true
	default:
		return nil, fmt.Errorf("%w: pooler=%s: want 1 where PgBouncer pools by transaction, or nothing", cell.ErrURL, v)
	}
	q.Del("pooler")
	if t.profile, err = parseProfile(q.Get("profile")); err != nil {
		return nil, err
	}
	q.Del("profile")
	if strings.Contains(u.Host+q.Get("host"), ",") && q.Get("target_session_attrs") == "" && !standby {
		q.Set("target_session_attrs", "read-write")
	}
	parse := func() (err error) {
		u.RawQuery = q.Encode()
		if t.config, err = pgx.ParseConfig(u.String()); err != nil {
			_, why, _ := strings.Cut(strings.ReplaceAll(err.Error(), u.String(), t.shown), "`: ")
			return fmt.Errorf("%w: %s: %s: %s", cell.ErrURL, t.shown, why, example)
		}
		return nil
	}
	if err := parse(); err != nil {
		return nil, err
	}
	if t.exposed() && q.Get("sslmode") == "" && os.Getenv("PGSSLMODE") == "" {
		q.Set("sslmode", "verify-full")
		if err := parse(); err != nil {
			return nil, err
		}
	}
	if t.exposed() && !unsafe {
		return nil, fmt.Errorf("%w: the connection to %s would not be verified: leave sslmode out, or write sslmode=verify-full", cell.ErrPreflight, t.shown)
	}
	t.server = t.config.User + "@" + strings.Join(t.hosts(), ",")
	return t, nil
}

const (
	example = "write postgres://HOST/DATABASE or postgres://USER@HOST:5432/DATABASE, an IPv6 address as in postgres://[::1]/DATABASE"
	// longestName is the maximum length of a database name in bytes.
	longestName = 63
)

// unparsed returns an error for a URL that cannot be parsed. The errors of package url would show a password.
func unparsed(raw string, err error) error {
	why := "its host or its port cannot be read"
	switch {
	case !strings.Contains(raw, "://"):
		why = "it does not begin with postgres://"
	case errors.As(err, new(url.EscapeError)):
		why = "a % in it is not followed by two hex digits"
	}
	return fmt.Errorf("%w: %s cannot be parsed: %s: %s", cell.ErrURL, cell.Redact(raw), why, example)
}

// hosts returns all hosts of the URL, with their ports.
func (t *target) hosts() []string {
	hosts := []string{fmt.Sprintf("%s:%d", t.config.Host, t.config.Port)}
	for _, f := range t.config.Fallbacks {
		host := fmt.Sprintf("%s:%d", f.Host, f.Port)
		if hosts[len(hosts)-1] != host {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// exposed reports whether a connection may go to another host without verifying its identity.
func (t *target) exposed() bool {
	if !isHere(t.config.Host) && (t.config.TLSConfig == nil || t.config.TLSConfig.InsecureSkipVerify) {
		return true
	}
	for _, f := range t.config.Fallbacks {
		if !isHere(f.Host) && (f.TLSConfig == nil || f.TLSConfig.InsecureSkipVerify) {
			return true
		}
	}
	return false
}

// isHere reports whether host is this machine: a socket or a loopback address.
func isHere(host string) bool {
	return strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" || net.ParseIP(host).IsLoopback()
}

// mapTemplate returns the URLs of the cells of an installation that is named by one URL, or by several separated by
// commas, one per server:
//
//	postgres://db1/locus,postgres://db2/locus
//
// authority is the cell that holds the map, postgres://db1/locus_g0_0. Cell i of generation g is at template[i mod
// len], with {g} and {i} replaced: postgres://db1/locus_g{g}_{i}.
func mapTemplate(maps string) (authority string, template []string, err error) {
	for _, raw := range splitURLs(maps) {
		if _, err := parseURL(raw, true, false); err != nil {
			return "", nil, err
		}
		before, query, found := strings.Cut(raw, "?")
		if found {
			query = "?" + query
		}
		if strings.ContainsAny(raw, "{}") {
			return "", nil, fmt.Errorf("%w: %s is a template already: leave _g{g}_{i} out", cell.ErrURL, cell.Redact(raw))
		}
		template = append(template, before+"_g{g}_{i}"+query)
	}
	if len(template) == 0 {
		return "", nil, fmt.Errorf("%w: there is none", cell.ErrURL)
	}
	return strings.NewReplacer("{g}", "0", "{i}", "0").Replace(template[0]), template, nil
}

// splitURLs splits at commas that precede a URL; other commas separate the hosts of one URL.
func splitURLs(list string) (urls []string) {
	for list != "" {
		end := len(list)
		for _, scheme := range []string{",postgres://", ",postgresql://"} {
			if i := strings.Index(list, scheme); i >= 0 {
				end = min(end, i)
			}
		}
		urls = append(urls, list[:end])
		list = strings.TrimPrefix(list[end:], ",")
	}
	return urls
}
