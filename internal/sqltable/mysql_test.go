// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sqltable_test

import (
	"database/sql"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/internal/sqltable"
)

// mariaDB starts a server with a database "shop" and a user with the password "se/cr@et", and returns its socket.
func mariaDB(t *testing.T) (socket string, root *sql.DB) {
	t.Helper()
	longtest.Needs(t, "MariaDB")
	find := func(name string) string {
		path, err := exec.LookPath(name)
		for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/usr/libexec"} {
			if other := filepath.Join(dir, name); err != nil && isFile(other) {
				path, err = other, nil
			}
		}
		if err != nil && os.Getenv("CI") == "1" {
			t.Fatalf("CI must not skip: %v", err)
		} else if err != nil {
			t.Skip(err)
		}
		return path
	}
	server, install := find("mariadbd"), find("mariadb-install-db")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "locus-my-") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	data, socket := filepath.Join(dir, "data"), filepath.Join(dir, "s")
	if out, err := exec.CommandContext(t.Context(), install, "--no-defaults", "--user="+me.Username, "--datadir="+data, "--auth-root-authentication-method=normal", "--skip-test-db").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(server, "--no-defaults", "--user="+me.Username, "--datadir="+data, "--socket="+socket, "--skip-networking",
		"--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=16M", "--sql-mode=ANSI", "--default-time-zone=+09:00", "--log-error="+filepath.Join(dir, "log"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
	})
	if root, err = sql.Open("mysql", "root@unix("+socket+")/?multiStatements=true"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for root.PingContext(t.Context()) != nil {
		select {
		case <-ended:
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("the server ended:\n%s", log)
		case <-tick.C:
		}
	}
	if _, err := root.Exec("CREATE DATABASE shop; CREATE USER reader@localhost IDENTIFIED BY 'se/cr@et'; GRANT ALL ON shop.* TO reader@localhost"); err != nil {
		t.Fatal(err)
	}
	return socket, root
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// One server for all tests of MySQL: texts, pages, the snapshot and passwords.
func TestMySQL(t *testing.T) {
	socket, root := mariaDB(t)
	run := func(statements string) {
		t.Helper()
		if _, err := root.Exec(statements); err != nil {
			t.Fatal(err)
		}
	}
	run("SET sql_mode = ''; USE shop; SET time_zone = '+00:00';" +
		`CREATE TABLE texts (id int PRIMARY KEY, name varchar(50), n decimal(9,2), at datetime(3), ts timestamp NULL, d date, zero date, photo varbinary(9), bt bit(9),
			yes tinyint(1), word text) CHARACTER SET utf8mb4;
		INSERT INTO texts VALUES (1, 'Köln ''s \\', 1.50, '2026-11-03 15:04:05.25', '2026-11-03 15:04:05', '2026-11-03', '0000-00-00', x'00ff', b'101', 1, NULL);
		CREATE TABLE items (a bigint unsigned, b varchar(20), n int, PRIMARY KEY (a, b)) CHARACTER SET utf8mb4;
		INSERT INTO items VALUES (18446744073709551615, 'x', 1), (9007199254740993, 'y', 2), (9007199254740992, 'Z', 3), (9007199254740992, 'a', 4), (1, 'B', 5), (1, 'it''s', 6), (1, '', 7)`)
	t.Setenv("MYSQL_PWD", "se/cr@et")
	at := "/shop?tls=false&socket=" + url.QueryEscape(socket)
	name := "mysql://reader@" + at

	rows, err := read(t, name, &sqltable.Options{Table: "texts"})
	if want := `1: id=1 name=Köln 's \ n=1.50 at=2026-11-03T15:04:05.25 ts=2026-11-03T15:04:05Z d=2026-11-03 zero=0000-00-00 bt=5 yes=1`; err != nil || !slices.Equal(rows, []string{want}) {
		t.Errorf("%q, %v\nwant %q", rows, err, want)
	}

	table, err := sqltable.Open(t.Context(), name, &sqltable.Options{Table: "items", Page: 2, Since: "n"})
	if err != nil {
		t.Fatal(err)
	}
	run("INSERT INTO shop.items VALUES (2, 'new', 99)")
	if table.High() != "7" || !slices.Equal(table.Key(), []string{"a", "b"}) {
		t.Errorf("highest %s, key %v", table.High(), table.Key())
	}
	all, positions := drain(t, table)
	if len(all) != 7 {
		t.Errorf("%d rows: %q", len(all), all)
	}
	run("DELETE FROM shop.items WHERE b = 'new'")
	for i := range all {
		rest, err := read(t, name, &sqltable.Options{Table: "shop.items", Page: 3, After: positions[i], Rows: int64(i + 1)})
		if err != nil || !slices.Equal(rest, all[i+1:]) {
			t.Fatalf("after row %d: %q, %v, want %q", i, rest, err, all[i+1:])
		}
	}
	if from, err := read(t, name, &sqltable.Options{Query: "SELECT * FROM items;", Since: "n", From: "6"}); err != nil || len(from) != 2 {
		t.Errorf("from 6 on: %q, %v", from, err)
	}
	// A long result is not read to its end because the table is closed.
	many, err := sqltable.Open(t.Context(), name,
		&sqltable.Options{Query: "SELECT a.seq FROM seq_1_to_1000000 a, seq_1_to_1000000 b"})
	if err == nil {
		if _, err = many.Next(); err == nil {
			err = many.Close()
		}
	}
	if err != nil {
		t.Errorf("a long result: %v", err)
	}

	for _, c := range []struct {
		name, reason, hint string
		o                  sqltable.Options
	}{
		{name, "a table or a query", "the tables are: items, texts", sqltable.Options{}},
		{name, `table "nowhere" cannot be read`, "the tables are: items, texts", sqltable.Options{Table: "nowhere"}},
		{"mysql://reader:wrongsecret@" + at, "Access denied", "password", sqltable.Options{Table: "items"}},
		{"mysql://reader:%zzsecret@" + at, "cannot be parsed", "", sqltable.Options{Table: "items"}},
		{name + "&x=1", `"x"`, "", sqltable.Options{Table: "items"}},
	} {
		reason, hint := failure(t, c.name, &c.o)
		if !strings.Contains(reason, c.reason) || !strings.Contains(hint, c.hint) ||
			strings.Contains(reason+hint, "secret") || strings.Contains(reason, "cr@et") {
			t.Errorf("%s %+v: %s; %s", sqltable.Name(c.name), c.o, reason, hint)
		}
	}
	// The table is locked for writing by nothing that is left open.
	run("DROP TABLE shop.items, shop.texts")
}
