// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locus-db/locus/source"
)

func init() {
	source.Register("postgres", driver{})
	source.Register("postgresql", driver{})
}

// Driver reads tables.
var Driver source.Driver = driver{}

type driver struct{}

// parameters are the parameters that a URL may have: others name files of the server that reads.
var parameters = []string{"table", "slot", "sslmode", "host", "port", "user", "application_name"}

// slotForm is the form of a slot's name.
var slotForm = regexp.MustCompile(`^[a-z0-9_]{1,63}$`)

const want = "want postgres://USER@HOST/DATABASE?table=[SCHEMA.]TABLE"

// Check returns why a URL names no table.
func (driver) Check(u *url.URL) error {
	for name := range u.Query() {
		if !slices.Contains(parameters, name) {
			return fmt.Errorf("the URL has a parameter %.40q: want only %s", name, strings.Join(parameters, ", "))
		}
	}
	t, err := parse(source.Spec{Name: "x", URL: u})
	if err == nil && (strings.HasPrefix(t.config.Host, "/") || strings.HasPrefix(t.config.Host, "@")) {
		return errors.New("the URL names a Unix socket, which would sign in with the account of the server process: name a host, such as localhost")
	}
	return err
}

// target is the parsed URL.
type target struct {
	config *pgx.ConnConfig
	table  pgx.Identifier
	slot   string
}

// parse reads a URL. Its errors do not quote it.
func parse(s source.Spec) (t target, err error) {
	q := s.URL.Query()
	t.table = strings.Split(q.Get("table"), ".")
	if len(t.table) > 2 || slices.Contains(t.table, "") {
		return t, errors.New("the URL names no table: " + want)
	}
	if t.slot = q.Get("slot"); !q.Has("slot") {
		t.slot = "locus_" + regexp.MustCompile(`[^a-z0-9_]`).ReplaceAllString(s.Name, "_")
	}
	if t.slot = t.slot[:min(len(t.slot), 63)]; !slotForm.MatchString(t.slot) {
		return t, fmt.Errorf("the slot is %.70q: want small letters, digits and _", t.slot)
	}
	q.Del("table")
	q.Del("slot")
	plain := *s.URL
	plain.RawQuery = q.Encode()
	t.config, err = pgx.ParseConfig(plain.String())
	if err == nil && !q.Has("sslmode") && !local(t.config.Host) {
		q.Set("sslmode", "verify-full")
		plain.RawQuery = q.Encode()
		t.config, err = pgx.ParseConfig(plain.String())
	}
	if err != nil {
		return t, errors.New("the parameters of the URL cannot be read: " + want)
	}
	if slices.ContainsFunc(t.config.Fallbacks, func(f *pgconn.FallbackConfig) bool { return f.Host != t.config.Host || f.Port != t.config.Port }) {
		return t, errors.New("the URL names several hosts, and a slot is on one: name that")
	}
	t.config.Password = s.Secret.Reveal()
	for name, value := range map[string]string{"datestyle": "ISO", "timezone": "UTC", "intervalstyle": "iso_8601", "extra_float_digits": "3", "bytea_output": "hex"} {
		t.config.RuntimeParams[name] = value // so that rows and changes have the same texts
	}
	return t, nil
}

// local reports whether a host is this one: a socket, or an address of the loopback.
func local(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.HasPrefix(host, "/") || host == "localhost" || err == nil && addr.IsLoopback()
}
