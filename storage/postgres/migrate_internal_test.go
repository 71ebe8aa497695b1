// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/pgtest"
)

// A new database gets the tables of all migrations at once, and equals one that goose has migrated.
func TestMigrate_NewDatabasesAreAsGooseMakesThem(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	byGoose, atOnce := s.Database(t), s.Database(t)
	db, err := sql.Open("pgx", s.URL(byGoose))
	if err != nil {
		t.Fatal(err)
	}
	if err := up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := NewDriver(nil).Dial(t.Context(), s.URL(atOnce), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	tables := func(name string) string {
		var b strings.Builder
		for _, query := range []string{
			"SELECT table_name, ordinal_position, column_name, data_type, column_default, is_nullable, is_identity, collation_name FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2",
			"SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
			"SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2",
			"SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1",
			"SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1",
			"SELECT relname, reloptions FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1",
			"SELECT id, version_id, is_applied, pg_typeof(tstamp) FROM goose_db_version ORDER BY 1",
		} {
			for _, row := range s.Exec(t, name, query) {
				fmt.Fprintln(&b, row)
			}
		}
		return b.String()
	}
	if diff := cmp.Diff(tables(byGoose), tables(atOnce)); diff != "" {
		t.Errorf("-goose +at once:\n%s", diff)
	}
}

// A database of a newer format is refused, unless a comment says that programs of this format may work with it. Its
// format number is not changed.
func TestMigrate_TakesWhatANewerOneHasOnlyAddedTo(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	name := s.Database(t)
	dial := func() error {
		c, err := NewDriver(nil).Dial(t.Context(), s.URL(name), true)
		if err != nil {
			return err
		}
		return c.Close()
	}
	if err := dial(); err != nil {
		t.Fatal(err)
	}
	s.Exec(t, name, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)")
	for comment, takes := range map[string]bool{"": false, "oldest reader 99": false, fmt.Sprint("oldest reader ", format): true, fmt.Sprint("oldest reader ", format-1): true} {
		s.Exec(t, name, "COMMENT ON TABLE locus_cell IS '"+comment+"'")
		if err := dial(); (err == nil) != takes || !takes && (!errors.Is(err, cell.ErrFormat) || !strings.Contains(err.Error(), "format 99, this one reads up to ")) {
			t.Errorf("%q: %v", comment, err)
		}
	}
	if has := s.Exec(t, name, "SELECT max(version_id) FROM goose_db_version")[0][0]; has != "99" {
		t.Errorf("it has format %s then", has)
	}
}
