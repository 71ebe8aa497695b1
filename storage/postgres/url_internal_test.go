// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
)

func TestParseURL(t *testing.T) {
	for url, want := range map[string]struct {
		server, db string
		pooler     bool
		tls        bool
	}{
		"postgres://db1/locus_g0_0":                                {"postgres@db1:5432", "locus_g0_0", false, true},
		"postgresql://alice@db1:6000/x":                            {"alice@db1:6000", "x", false, true},
		"postgres://db1,db2:7000/x":                                {"postgres@db1:5432,db2:7000", "x", false, true},
		"postgres://db1/x?sslmode=verify-full&pooler=1":            {"postgres@db1:5432", "x", true, true},
		"postgres://localhost/x":                                   {"postgres@localhost:5432", "x", false, false},
		"postgres://127.0.0.1/x?sslmode=disable":                   {"postgres@127.0.0.1:5432", "x", false, false},
		"postgres://[::1]:5433/x?pooler=0":                         {"postgres@::1:5433", "x", false, false},
		"postgres:///x?host=/var/run/postgresql":                   {"postgres@/var/run/postgresql:5432", "x", false, false},
		"postgres:///x?host=/var/run/postgresql&port=6432&user=al": {"al@/var/run/postgresql:6432", "x", false, false},
	} {
		t.Setenv("PGUSER", "postgres")
		got, err := parseURL(url, false, false)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		tls := got.config.TLSConfig != nil && !got.config.TLSConfig.InsecureSkipVerify
		if got.server != want.server || got.db != want.db || got.pooler != want.pooler || want.tls && !tls {
			t.Errorf("%s: server %s, database %s, pooler %v, verified %v", url, got.server, got.db, got.pooler, tls)
		}
		if len(got.hosts()) > 1 && got.config.ValidateConnect == nil {
			t.Errorf("%s: any of its hosts will do", url)
		}
	}
}

// A connection to another host is refused unless the host proves its identity.
func TestParseURL_RefusesWhatIsNotVerified(t *testing.T) {
	for _, url := range []string{
		"postgres://db1/x?sslmode=disable", "postgres://db1/x?sslmode=allow", "postgres://db1/x?sslmode=prefer", "postgres://db1/x?sslmode=require",
		"postgres://db1/x?sslmode=verify-ca", "postgres://localhost,db1/x?sslmode=disable", "postgres://192.0.2.1/x?sslmode=prefer",
	} {
		if _, err := parseURL(url, false, false); !errors.Is(err, cell.ErrPreflight) || !strings.Contains(err.Error(), "verify-full") {
			t.Errorf("%s: %v, want cell.ErrPreflight", url, err)
		}
		if _, err := parseURL(url, true, false); err != nil {
			t.Errorf("%s, where unsafe is what was asked for: %v", url, err)
		}
	}
	t.Setenv("PGSSLMODE", "require")
	if _, err := parseURL("postgres://db1/x", false, false); !errors.Is(err, cell.ErrPreflight) {
		t.Errorf("PGSSLMODE=require: %v, want cell.ErrPreflight", err)
	}
}

func TestParseURL_Refuses(t *testing.T) {
	t.Parallel()
	for url, says := range map[string]string{
		"":                                            "postgres://",
		"mysql://db1/x":                               "postgres://",
		"postgres://db1":                              "names no database",
		"postgres://db1/":                             "names no database",
		"postgres://db1/a/b":                          "names no database",
		"postgres://db1/x?pooler=yes":                 "pooler=yes",
		"postgres://db1/x?sslmode=maybe":              "sslmode",
		"postgres://u:s3cret@db1:70000/":              "names no database",
		"postgres://u:s3cret@db 1/x":                  "cannot be parsed",
		"postgres://u:s3cret@db1:x/y":                 "cannot be parsed",
		"postgres://u:s3cret@db1/y?connect_timeout=x": "y",
	} {
		_, err := parseURL(url, false, false)
		if !errors.Is(err, cell.ErrURL) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want cell.ErrURL and %s", url, err, says)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: the error shows the password: %v", url, err)
		}
	}
}

func TestTemplate(t *testing.T) {
	t.Parallel()
	for maps, want := range map[string]struct {
		authority string
		template  []string
	}{
		"postgres://db1/locus":            {"postgres://db1/locus_g0_0", []string{"postgres://db1/locus_g{g}_{i}"}},
		"postgres:///a?host=/s&user=u":    {"postgres:///a_g0_0?host=/s&user=u", []string{"postgres:///a_g{g}_{i}?host=/s&user=u"}},
		"postgres://a/x,postgresql://b/y": {"postgres://a/x_g0_0", []string{"postgres://a/x_g{g}_{i}", "postgresql://b/y_g{g}_{i}"}},
		"postgres://a,b/x,postgres://c/x": {"postgres://a,b/x_g0_0", []string{"postgres://a,b/x_g{g}_{i}", "postgres://c/x_g{g}_{i}"}},
	} {
		authority, template, err := mapTemplate(maps)
		if err != nil || authority != want.authority || !slices.Equal(template, want.template) {
			t.Errorf("%s: %s, %v, %v", maps, authority, template, err)
		}
	}
	for _, maps := range []string{"", "postgres://a", "postgres://a/x_g{g}_{i}", "postgres://a/x,postgres://", "sqlite:x"} {
		if _, _, err := mapTemplate(maps); !errors.Is(err, cell.ErrURL) {
			t.Errorf("%q: %v, want cell.ErrURL", maps, err)
		}
	}
}
