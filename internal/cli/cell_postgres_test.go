// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cli_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/pgtest"
)

// TestCells_OfPostgreSQL creates an installation in databases of a server, grows it, moves a cell to a file, and
// compares the SQL functions with the map.
func TestCells_OfPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	env := map[string]string{"LOCUS_NOTICE": "5s", "LOCUS_MAP": server.URL("cli")}
	if got := run(t.Context(), env, "status"); got.code != 4 {
		t.Errorf("an installation that is not there: %d %s", got.code, got.err)
	}

	code, said := runUntil(t, env, "next ", "serve", "--cells", "2", "--connections", "20", "--addr", "127.0.0.1:0",
		"--shutdown-timeout", "5s")
	if code != 0 {
		t.Fatalf("serve: exit code %d\n%s", code, said)
	}
	if !strings.Contains(said, "2 cells of PostgreSQL on 1 server, durable   epoch ") {
		t.Errorf("banner:\n%s", said)
	}

	file := write(t, "places.csv", businesses)
	must(t, env, "ingest", "--source", "crm", "--key", "id", "--set", "name=company", file)
	env["LOCUS_MAP"] = ""
	must(t, env, "ingest", "--source", "web", "--key", "id", "--map", server.URL("cli"), "--set", "name=company", file)
	env["LOCUS_MAP"] = server.URL("cli")
	if got := must(t, env, "status"); !strings.Contains(got.err, "4 records, 2 entities") {
		t.Errorf("status: %s%s", got.stdout, got.err)
	}

	must(t, env, "cell", "grow", "--to", "4", "--yes", "--wait")
	must(t, env, "cell", "compact", "--yes")
	to := "sqlite:" + filepath.Join(t.TempDir(), "moved.db")
	must(t, env, "cell", "move", "g0-1", "--to", to, "--yes")
	if got := must(t, env, "cell", "show", "g0-1"); !strings.Contains(got.stdout, to) {
		t.Errorf("moved:\n%s", got.stdout)
	}
	list := must(t, env, "cell", "list").stdout
	if strings.Count(list, "\tretired\tretired\t") != 2 || strings.Count(list, "\tcurrent\topen\t") != 4 ||
		!strings.Contains(list, "cli_g1_3") {
		t.Errorf("list:\n%s", list)
	}

	database := server.Database(t)
	server.Exec(t, database, must(t, env, "cell", "map", "--sql").stdout)
	record := must(t, env, "record", "get", "crm:1").err
	_, rest, _ := strings.Cut(record, "puid ")
	puid := strings.Fields(rest)[0]
	_, rest, _ = strings.Cut(record, "entity ")
	entity := strings.Fields(rest)[0]
	rows := server.Exec(t, database, "SELECT locus_cell("+puid+"), locus_cell('"+entity+"'::uuid)")
	for i, address := range []string{puid, entity} {
		if got := must(t, env, "route", "--", address); !strings.Contains(got.stdout, rows[0][i]) {
			t.Errorf("SQL says that %s is in cell %s, route:\n%s", address, rows[0][i], got.stdout)
		}
	}

	must(t, env, "cell", "restored", "--yes")
	must(t, env, "entity", "get", "web:2")
}

// TestCells_OneServerIsDown stops one of two servers: the cells of the other still work, and the missing ones are
// named.
func TestCells_OneServerIsDown(t *testing.T) {
	t.Parallel()
	up, down := pgtest.Shared(t), pgtest.Start(t, nil)
	env := map[string]string{"LOCUS_MAP": up.URL("half") + "," + down.URL("half")}
	code, said := runUntil(t, env, "next ", "serve", "--cells", "2", "--addr", "127.0.0.1:0", "--shutdown-timeout", "5s")
	if code != 0 || !strings.Contains(said, "2 cells of PostgreSQL on 2 servers") {
		t.Fatalf("serve: exit code %d\n%s", code, said)
	}
	var rows strings.Builder
	rows.WriteString("id,name\n")
	for i := range 20 {
		fmt.Fprintf(&rows, "%d,Place %d\n", i, i)
	}
	file := write(t, "places.csv", rows.String())
	must(t, env, "ingest", "--source", "before", "--key", "id", file)
	down.Stop(t)

	if got := must(t, env, "status"); !strings.Contains(got.err, "cell g0-1 is unavailable") ||
		!strings.Contains(got.err, "sums of 1 of 2 cells, without g0-1") || !strings.Contains(got.stdout, "g0-1\t?\t?") {
		t.Errorf("status: %s", got.err)
	}
	got := run(t.Context(), env, "cell", "list", "--json")
	if got.code != 6 || strings.Count(got.stdout, `"answers":true`) != 1 ||
		!strings.Contains(got.stdout, `"unavailable":1`) || !strings.Contains(got.err, "g0-1 is unavailable") {
		t.Errorf("list: exit code %d\n%s%s", got.code, got.stdout, got.err)
	}
	if got := run(t.Context(), env, "cell", "show", "g0-1"); got.code != 6 || !strings.Contains(got.stdout, "it is unavailable") {
		t.Errorf("show: exit code %d\n%s%s", got.code, got.stdout, got.err)
	}
	// Keys of the reachable cell are found; keys of the other cell are unavailable and not absent.
	codes := map[int]int{}
	for i := range 20 {
		codes[run(t.Context(), env, "record", "get", fmt.Sprint("before:", i)).code]++
	}
	if codes[0] == 0 || codes[6] == 0 || codes[0]+codes[6] != 20 {
		t.Errorf("exit codes of reading: %v", codes)
	}
	if got := run(t.Context(), env, "cell", "grow", "--to", "4", "--yes"); got.code != 6 || !strings.Contains(got.err, "run it again to continue") {
		t.Errorf("grow: exit code %d\n%s", got.code, got.err)
	}
	down.Restart(t)
	must(t, env, "cell", "list")
	if got := must(t, env, "ingest", "--source", "before", "--key", "id", file); !strings.Contains(got.stdout, "\t20\t0\t0\t0\t20\t") {
		t.Errorf("again:\n%s", got.stdout)
	}
}

// TestCells_RestoredElsewhere copies the databases of an installation to other names, as a restore to another server
// does. The copy is refused until it has an identity of its own, and the original is not affected.
func TestCells_RestoredElsewhere(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, nil)
	env := map[string]string{"LOCUS_MAP": server.URL("orig")}
	file := write(t, "places.csv", businesses)
	if code, said := runUntil(t, env, "next ", "serve", "--cells", "2", "--addr", "127.0.0.1:0", "--shutdown-timeout", "5s"); code != 0 {
		t.Fatalf("serve: exit code %d\n%s", code, said)
	}
	must(t, env, "ingest", "--source", "crm", "--key", "id", "--set", "name=company", file)
	for i := range 2 {
		server.Exec(t, "postgres", fmt.Sprintf("CREATE DATABASE copy_g0_%d TEMPLATE orig_g0_%d", i, i))
	}
	original := func() string {
		t.Helper()
		return fmt.Sprint(server.Exec(t, "orig_g0_0", "SELECT * FROM locus_cell, locus_puid"),
			server.Exec(t, "orig_g0_1", "SELECT * FROM locus_cell, locus_puid"))
	}
	before := original()

	there := map[string]string{"LOCUS_MAP": server.URL("copy")}
	for _, command := range [][]string{{"serve", "--addr", "127.0.0.1:0"}, {"cell", "list"}, {"cell", "restored", "--yes"}} {
		if got := run(t.Context(), there, command...); got.code != 1 || !strings.Contains(got.err, "locus cell restored") {
			t.Errorf("%v of the copy: exit code %d\n%s", command, got.code, got.err)
		}
	}
	pair := server.URL("orig") + "=" + server.URL("copy")
	if got := must(t, nil, "cell", "restored", "--map", pair, "--dry-run"); strings.Count(got.err, "is at") != 2 || !strings.Contains(got.err, "copy_g0_1") {
		t.Errorf("dry run:\n%s", got.err)
	}
	if got := run(t.Context(), there, "cell", "list"); got.code != 1 {
		t.Errorf("after a dry run the copy is read: %s%s", got.stdout, got.err)
	}
	for range 2 {
		if got := must(t, nil, "cell", "restored", "--map", pair, "--yes"); !strings.Contains(got.err, "done: it may be served") {
			t.Errorf("restored:\n%s", got.err)
		}
	}
	if after := original(); after != before {
		t.Errorf("the original was\n%s\nand is\n%s", before, after)
	}
	must(t, there, "ingest", "--source", "web", "--key", "id", "--set", "name=company", file)
	if got := must(t, there, "status"); !strings.Contains(got.err, "4 records") {
		t.Errorf("status of the copy: %s", got.err)
	}
	if got := must(t, env, "status"); !strings.Contains(got.err, "2 records") {
		t.Errorf("status of the original: %s", got.err)
	}
}
