// SPDX-License-Identifier: Apache-2.0

//go:build unix

package pgtest

import (
	"maps"
	"testing"
)

// Standby starts a replica of the server, with the same settings and a disk of the same size. A slot keeps the log that
// it has not read yet: a synchronous standby that can never catch up would stop its primary. It ends with the test.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	program := need(t, "pg_basebackup")
	settings := maps.Clone(s.settings)
	delete(settings, "unix_socket_directories")
	delete(settings, "archive_mode")
	settings["wal_retrieve_retry_interval"] = "100ms" // it comes back soon after its primary
	r, err := newServer(s.program, &Options{InMemory: true, Disk: s.disk, Settings: settings})
	if err == nil {
		err = run(program, "-D", r.data(), "-h", s.dir, "-U", "postgres", "-X", "stream", "-c", "fast", "-R", "-C", "-S",
			"standby")
	}
	r.begin(t, err)
	return r
}

// CatchUp waits until a replica has everything that its primary has committed so far.
func (s *Server) CatchUp(t testing.TB, primary *Server) {
	t.Helper()
	lsn := primary.Exec(t, "postgres", "SELECT pg_current_wal_flush_lsn()")[0][0]
	if !await(func() bool { return s.Exec(t, "postgres", "SELECT pg_last_wal_replay_lsn() >= '"+lsn+"'")[0][0] == "t" }) {
		t.Fatalf("the replica does not catch up:\n%s", s.Log())
	}
}

// Promote promotes a replica and waits until it is a primary.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	if s.Exec(t, "postgres", "SELECT pg_promote()")[0][0] != "t" {
		t.Fatalf("the replica was not promoted:\n%s", s.Log())
	}
}
