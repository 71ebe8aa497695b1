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

// Snapshot copies the files of a stopped server. The function it returns restores them, which requires the server
// to be stopped again: it is then the same server at an earlier moment.
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

// Copy creates a database from a backup of another one, which may be in use, and returns its name.
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
