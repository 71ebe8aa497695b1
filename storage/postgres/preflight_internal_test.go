// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
)

// The page about servers explains each setting that is looked at.
func TestServer_IsExplained(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/postgresql.md")
	if err != nil {
		t.Fatal(err)
	}
	settings := regexp.MustCompile(`current_setting\('(\w+?)(?:_num)?'\)`).FindAllStringSubmatch(sqlServer, -1)
	if len(settings) < 7 {
		t.Fatalf("it looks at %v", settings)
	}
	for _, m := range settings {
		if !strings.Contains(string(page), "\n| `"+m[1]+"`") {
			t.Errorf("docs/postgresql.md does not explain %s", m[1])
		}
	}
}

func TestServer_Check(t *testing.T) {
	t.Parallel()
	good := server{
		version: 150_020, connections: 100, encoding: "UTF8", fsync: "on", fullPages: "on", synchronous: "on", retriesSync: "off",
	}
	for name, c := range map[string]struct {
		change func(*server)
		opts   Options
		pooler bool
		of     profile
		says   []string
	}{
		"good":               {change: func(*server) {}},
		"the newest":         {change: func(s *server) { s.version = 180_000 }},
		"of Neon, unnamed":   {change: func(s *server) { s.neon = true }, opts: Options{Unsafe: true}, says: []string{"profile=neon"}},
		"of Neon":            {change: func(s *server) { s.neon, s.fsync, s.fullPages = true, "off", "off" }, of: neon},
		"of Neon, late":      {change: func(s *server) { s.neon, s.synchronous = true, "off" }, of: neon, says: []string{"synchronous_commit"}},
		"not of Neon":        {change: func(*server) {}, of: neon, says: []string{"not Neon"}},
		"of Aurora":          {change: func(s *server) { s.fsync, s.fullPages = "off", "off" }, of: aurora},
		"too old":            {change: func(s *server) { s.version = 140_012 }, says: []string{"PostgreSQL 14"}},
		"too new":            {change: func(s *server) { s.version = 190_000 }, opts: Options{Unsafe: true}, says: []string{"PostgreSQL 19"}},
		"replicas apply":     {change: func(s *server) { s.synchronous = "remote_apply" }},
		"replicas write":     {change: func(s *server) { s.synchronous = "remote_write" }, says: []string{"remote_write"}},
		"all at once":        {change: func(s *server) { *s = server{} }, says: []string{"PostgreSQL 0", "encoding", "fsync", "full_page_writes", "synchronous_commit", "data_sync_retry", "connections"}},
		"as many as it can":  {change: func(*server) {}, opts: Options{Connections: 90}},
		"too many":           {change: func(*server) {}, opts: Options{Connections: 91}, says: []string{"91 connections"}},
		"too many, unsafely": {change: func(*server) {}, opts: Options{Connections: 91, Unsafe: true}, says: []string{"91 connections"}},
		"many to a pooler":   {change: func(*server) {}, opts: Options{Connections: 91}, pooler: true},
	} {
		s := good
		c.change(&s)
		err := s.check(c.opts.withDefaults(), "postgres://db1/x", c.pooler, c.of)
		if (err != nil) != (c.says != nil) || err != nil && !errors.Is(err, cell.ErrPreflight) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "postgres://db1/x") {
				t.Errorf("%s: %v does not name %s", name, err, says)
			}
		}
	}
}
