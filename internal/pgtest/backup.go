// SPDX-License-Identifier: Apache-2.0

//go:build unix

package pgtest

import (
	"errors"
	"maps"
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

// Base makes a backup of the files of a server in use, whose Options have Archive. The returned function recovers the
// stopped server from the backup and the archive, up to the point in settings, such as recovery_target_name. It is then
// the same server on another timeline.
func (s *Server) Base(t testing.TB) (recoverTo func(settings map[string]string)) {
	t.Helper()
	kept := filepath.Join(s.dir, "base"+strconv.FormatInt(s.last.Add(1), 10))
	if err := run(need(t, "pg_basebackup"), "-D", kept, "-h", s.dir, "-U", "postgres", "-X", "none", "-c", "fast"); err != nil {
		t.Fatal(err)
	}
	return func(settings map[string]string) {
		t.Helper()
		signal := filepath.Join(s.data(), "recovery.signal")
		if err := errors.Join(os.RemoveAll(s.data()), run("cp", "-a", kept, s.data()), os.WriteFile(signal, nil, 0o600), own(signal)); err != nil {
			t.Fatal(err)
		}
		usual := s.settings
		s.settings = maps.Clone(usual)
		s.settings["restore_command"] = "cp " + s.archive() + "/%f %p"
		s.settings["recovery_target_action"] = "promote"
		s.settings["recovery_target_timeline"] = "current"
		maps.Copy(s.settings, settings)
		s.Restart(t)
		s.settings = usual
		if !await(func() bool { return s.Exec(t, "postgres", "SELECT pg_is_in_recovery()")[0][0] == "f" }) {
			t.Fatalf("the server does not recover:\n%s", s.Log())
		}
	}
}

func (s *Server) archive() string { return filepath.Join(s.dir, "archive") }

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
