// SPDX-License-Identifier: Apache-2.0

//go:build unix

package pgtest

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Snapshot copies the files of a server that was stopped, and returns what puts them back, while it is stopped
// again: it is then the same server, at an earlier moment.
func (s *Server) Snapshot(t testing.TB) (putBack func()) {
	t.Helper()
	kept := s.data() + ".snapshot"
	if err := run("cp", "-a", s.data(), kept); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := errors.Join(os.RemoveAll(s.data()), run("cp", "-a", kept, s.data())); err != nil {
			t.Fatal(err)
		}
	}
}

// Copy makes a database out of a backup of another one, which may be worked with meanwhile, and answers with
// the name of the new one.
func (s *Server) Copy(t testing.TB, db string) string {
	t.Helper()
	dump, restore := need(t, "pg_dump"), need(t, "pg_restore")
	name := "copy_" + strconv.FormatInt(s.last.Add(1), 10)
	file := filepath.Join(s.dir, name)
	s.Exec(t, "postgres", "CREATE DATABASE "+name+" TEMPLATE template0")
	for _, args := range [][]string{
		{dump, "-h", s.dir, "-U", "postgres", "-Fc", "-f", file, db},
		{restore, "-h", s.dir, "-U", "postgres", "-d", name, file},
	} {
		if err := run(args[0], args[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	return name
}
