// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
)

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
