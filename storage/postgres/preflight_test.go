// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage/postgres"
)

// Each rule is violated once: the cell is refused with an error that names the rule; violations of durability pass
// with Unsafe.
func TestPreflight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings map[string]string
		database string // ALTER DATABASE ... this
		says     string
		unsafe   bool // it then passes
	}{
		"fsync":               {settings: map[string]string{"fsync": "off"}, says: "fsync is off", unsafe: true},
		"full_page_writes":    {settings: map[string]string{"full_page_writes": "off"}, says: "full_page_writes is off", unsafe: true},
		"data_sync_retry":     {settings: map[string]string{"data_sync_retry": "on"}, says: "data_sync_retry is on", unsafe: true},
		"synchronous_commit":  {settings: map[string]string{"synchronous_commit": "off"}, says: "synchronous_commit is off", unsafe: true},
		"local commit":        {settings: map[string]string{"synchronous_commit": "local"}, says: "synchronous_commit is local", unsafe: true},
		"of the database":     {database: "SET synchronous_commit = off", says: "synchronous_commit is off", unsafe: true},
		"too few connections": {settings: map[string]string{"max_connections": "73"}, says: "takes 73"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := pgtest.Start(t, &pgtest.Options{MaxConnections: 74, InMemory: true, Settings: c.settings})
			db := s.Database(t)
			if c.database != "" {
				s.Exec(t, db, "ALTER DATABASE "+db+" "+c.database)
			}
			_, err := postgres.NewDriver(nil).Dial(t.Context(), s.URL(db), true)
			if !errors.Is(err, cell.ErrPreflight) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want ErrPreflight and %s", err, c.says)
			}
			opened, err := postgres.NewDriver(&postgres.Options{Unsafe: true}).Dial(t.Context(), s.URL(db), true)
			if (err == nil) != c.unsafe {
				t.Errorf("unsafe: %v", err)
			}
			if err == nil {
				err = errors.Join(opened.Identify(t.Context(), identity()), opened.Close())
			}
			if c.unsafe && err != nil {
				t.Error(err)
			}
		})
	}
}

func TestPreflight_Encoding(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	db := s.Database(t) + "_latin"
	s.Exec(t, "postgres", "CREATE DATABASE "+db+" TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'")
	if _, err := driver.Dial(t.Context(), s.URL(db), true); !errors.Is(err, cell.ErrPreflight) || !strings.Contains(err.Error(), "LATIN1") {
		t.Errorf("%v, want ErrPreflight", err)
	}
}

// A standby is not the primary: it is unavailable, whatever else it could do.
func TestPreflight_Standby(t *testing.T) {
	t.Parallel()
	primary := pgtest.Start(t, nil)
	db := primary.Database(t)
	c, err := driver.Dial(t.Context(), primary.URL(db), true)
	if err == nil {
		err = errors.Join(c.Identify(t.Context(), identity()), c.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	replica := primary.Standby(t)
	if _, err := driver.Dial(t.Context(), replica.URL(db), false); !errors.Is(err, cell.ErrUnavailable) || !strings.Contains(err.Error(), "standby") {
		t.Errorf("%v, want ErrUnavailable", err)
	}
}

// A database of another program is left unchanged.
func TestDial_OtherDatabases(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	for name, sql := range map[string]string{
		"of another program":        "CREATE TABLE users (id int)",
		"migrated by another one":   "CREATE TABLE goose_db_version (id int, version_id bigint, is_applied boolean); INSERT INTO goose_db_version VALUES (1, 7, true)",
		"with a table of that name": "CREATE TABLE locus_cell (id int)",
	} {
		db := s.Database(t)
		s.Exec(t, db, sql)
		if _, err := driver.Dial(t.Context(), s.URL(db), true); !errors.Is(err, cell.ErrFormat) || !strings.Contains(err.Error(), "another") {
			t.Errorf("a database %s: %v, want ErrFormat", name, err)
		}
	}

	d := direct(t).open(t)
	s.Exec(t, d.name, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)")
	if _, err := driver.Dial(t.Context(), d.url, true); !errors.Is(err, cell.ErrFormat) || !strings.Contains(err.Error(), "format 99") {
		t.Errorf("a newer database: %v, want ErrFormat", err)
	}
	s.Exec(t, d.name, "UPDATE goose_db_version SET version_id = 2 WHERE version_id > 2")
	if _, err := driver.Dial(t.Context(), d.url, true); !errors.Is(err, cell.ErrFormat) || !strings.Contains(err.Error(), "has format 2") {
		t.Errorf("a database of an unreleased format: %v, want ErrFormat", err)
	}
}

// A role that only owns its databases suffices.
func TestDial_OrdinaryRole(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	s.Exec(t, "postgres", "CREATE ROLE locus LOGIN CREATEDB")
	url := strings.Replace(s.URL("of_locus"), "user=postgres", "user=locus", 1)
	c, err := driver.Dial(t.Context(), url, true)
	if err == nil {
		err = c.Identify(t.Context(), identity())
	}
	if err == nil {
		_, err = c.Stats(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
