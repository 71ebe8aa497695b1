// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A new file gets the tables of all migrations at once, and equals one that goose has migrated.
func TestMigrate_NewFilesAreAsGooseMakesThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, "goose.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{}
	for _, name := range []string{"goose.db", "new.db"} {
		c, err := migrated(t.Context(), filepath.Join(dir, name), new(Options).withDefaults())
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{
			"SELECT group_concat(sql, char(10) ORDER BY name) FROM sqlite_schema",
			"SELECT group_concat(concat_ws(' ', id, version_id, is_applied, typeof(is_applied), typeof(tstamp)), char(10) ORDER BY id) FROM goose_db_version",
			"SELECT concat_ws(' ', application_id, user_version) FROM pragma_application_id, pragma_user_version",
		} {
			r, err := c.do(sql)
			if err != nil {
				t.Fatal(err)
			}
			tables[name] += strings.Join(strings.Fields(r.text(0)), " ") + "\n"
		}
		if err := c.close(); err != nil {
			t.Fatal(err)
		}
	}
	tidy := strings.NewReplacer("( ", "(", " )", ")")
	if diff := cmp.Diff(tidy.Replace(tables["goose.db"]), tidy.Replace(tables["new.db"])); diff != "" {
		t.Errorf("-goose +new:\n%s", diff)
	}
}

// A failed migration reports the cause without its SQL, because the error reaches operators in responses.
func TestMigrate_ErrorHoldsNoSQL(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "cell.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE locus_cell (id INTEGER)"); err != nil {
		t.Fatal(err)
	}
	err = up(t.Context(), db)
	if err == nil || !strings.Contains(err.Error(), "already exists") || strings.Contains(strings.ToUpper(err.Error()), "CREATE TABLE") || strings.Contains(err.Error(), "partial migration") {
		t.Errorf("%v, want that a table exists, and nothing of the migration itself", err)
	}
}
