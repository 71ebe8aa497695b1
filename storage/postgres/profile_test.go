// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/postgres"
)

// standIn starts a server that, as far as PostgreSQL knows, does not sync at all, like the storage of Aurora and Neon.
// It has a database of an ordinary role.
func standIn(t *testing.T) (s *pgtest.Server, db string) {
	t.Helper()
	s = pgtest.Start(t, &pgtest.Options{InMemory: true, Settings: map[string]string{"fsync": "off", "full_page_writes": "off"}})
	db = s.Database(t)
	s.Exec(t, "postgres", "CREATE ROLE locus LOGIN")
	s.Exec(t, "postgres", "ALTER DATABASE "+db+" OWNER TO locus")
	return s, db
}

func asLocus(url string) string { return strings.Replace(url, "user=postgres", "user=locus", 1) }

// usable opens a database as the cell of identity, and allocates a key in it.
func usable(t *testing.T, url string, create bool) error {
	t.Helper()
	c, err := postgres.NewDriver(nil).Dial(t.Context(), url, create)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if err := c.Identify(t.Context(), identity()); err != nil {
		return err
	}
	return c.Update(t.Context(), func(tx storage.Tx) error {
		_, err := tx.Allocate(context.WithoutCancel(t.Context()), []cell.Key{key(1)})
		return err
	})
}

// refused checks that a database is refused before it is used, with a text.
func refused(t *testing.T, url, says string) {
	t.Helper()
	if err := usable(t, url, true); !errors.Is(err, cell.ErrPreflight) || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want ErrPreflight and %q", err, says)
	}
}

// A stand-in for Aurora: a role without the functions of the log, and aurora_version.
func TestProfile_Aurora(t *testing.T) {
	t.Parallel()
	s, db := standIn(t)
	url := asLocus(s.URL(db))
	refused(t, url+"&profile=aurora", "it is not Aurora")
	s.Exec(t, db, "CREATE FUNCTION aurora_version() RETURNS text LANGUAGE sql AS $$SELECT '15.1'$$")
	s.Exec(t, db, "REVOKE EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) FROM public")
	s.Exec(t, db, "REVOKE EXECUTE ON FUNCTION pg_current_wal_insert_lsn() FROM public")
	s.Exec(t, db, "REVOKE EXECUTE ON FUNCTION pg_current_wal_lsn() FROM public")
	refused(t, url, "write profile=aurora")
	refused(t, url+"&profile=neon", "write profile=aurora")
	for _, url := range []string{url + "&profile=aurora", url + "&profile=aurora", asLocus(s.Pooler(t, 2).URL(db)) + "&pooler=1&profile=aurora"} {
		if err := usable(t, url, true); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	if got := surveyed(t, postgres.NewDriver(nil), url+"&profile=aurora"); got.Trouble != "" || got.Profile != "aurora" {
		t.Errorf("%+v", got)
	}
}

// A stand-in for Neon: a setting with the id of the timeline, which is different in a branch.
func TestProfile_Neon(t *testing.T) {
	t.Parallel()
	s, db := standIn(t)
	url := asLocus(s.URL(db))
	refused(t, url+"&profile=neon", "it is not Neon")
	s.Exec(t, "postgres", "ALTER DATABASE "+db+" SET neon.timeline_id = 'a1'")
	refused(t, url, "write profile=neon")
	refused(t, url+"&profile=aurora", "it is not Aurora")
	for range 2 {
		if err := usable(t, url+"&profile=neon", true); err != nil {
			t.Fatal(err)
		}
	}
	s.Exec(t, "postgres", "ALTER DATABASE "+db+" SET neon.timeline_id = 'b2'")
	if err := usable(t, url+"&profile=neon", false); !errors.Is(err, storage.ErrStrange) {
		t.Errorf("a branch: %v, want ErrStrange", err)
	}
}

// Platforms without a profile and unknown names are refused.
func TestProfile_Names(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{"rds": "leave it out", "cloudsql": "leave it out", "alloydb": "leave it out", "aurora2": "want aurora or neon", "Neon": "want aurora or neon"} {
		if err := postgres.NewDriver(nil).Check("postgres:///x?host=/tmp&profile=" + name); !errors.Is(err, cell.ErrURL) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
