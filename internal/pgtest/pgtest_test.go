// SPDX-License-Identifier: Apache-2.0

//go:build unix

package pgtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"github.com/locus-db/locus/internal/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }

// Committed data survives every way to end a server, and the server can be started again.
func TestServer_EndsAndComesBack(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t, &pgtest.Options{MaxConnections: 50, Settings: map[string]string{"work_mem": "5MB"}})
	db := s.Database(t)
	s.Exec(t, db, "CREATE TABLE t (n int)")
	for i, end := range []func(testing.TB){s.Kill, s.Stop, s.Kill} {
		s.Exec(t, db, "INSERT INTO t VALUES (1)")
		end(t)
		s.Restart(t)
		if got := s.Exec(t, db, "SELECT count(*) FROM t")[0][0]; got != string(rune('1'+i)) {
			t.Errorf("after end %d there are %s rows", i, got)
		}
	}
	for setting, want := range map[string]string{"fsync": "on", "max_connections": "50", "work_mem": "5MB", "server_encoding": "UTF8"} {
		if got := s.Exec(t, db, "SHOW "+setting)[0][0]; got != want {
			t.Errorf("%s is %s, want %s", setting, got, want)
		}
	}
}

func TestServer_PauseAndContinue(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t, nil)
	s.Pause(t)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		s.Exec(t, "postgres", "SELECT 1")
	}()
	select {
	case <-answered:
		t.Error("a paused server answered")
	default:
	}
	s.Continue(t)
	<-answered
}

// A server that a test leaves paused is stopped anyway.
func TestServer_LeftPaused(t *testing.T) {
	t.Parallel()
	pgtest.Start(t, nil).Pause(t)
}

func TestShared(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	if s != pgtest.Shared(t) {
		t.Error("two shared servers")
	}
	a, b := s.Database(t), s.Database(t)
	if a == b {
		t.Errorf("two databases have the name %s", a)
	}
}

func TestServer_LeavesNothing(t *testing.T) {
	t.Parallel()
	var dir string
	t.Run("server", func(t *testing.T) {
		s := pgtest.Start(t, nil)
		dir = s.Exec(t, "postgres", "SHOW data_directory")[0][0]
		s.Kill(t)
	})
	if dir == "" {
		t.Skip("no PostgreSQL")
	}
	if _, err := os.Stat(filepath.Dir(dir)); !os.IsNotExist(err) {
		t.Errorf("%s: %v", dir, err)
	}
}

func TestPooler(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t, nil)
	url := s.Pooler(t, 2).URL(s.Database(t))
	conn, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A replica has what the primary wrote, and accepts writes once it is promoted.
func TestStandby(t *testing.T) {
	t.Parallel()
	primary := pgtest.Start(t, nil)
	db := primary.Database(t)
	replica := primary.Standby(t)
	primary.Exec(t, db, "CREATE TABLE t (n int); INSERT INTO t VALUES (1)")
	replica.CatchUp(t, primary)
	primary.Kill(t)
	replica.Promote(t)
	if got := replica.Exec(t, db, "INSERT INTO t VALUES (2); SELECT count(*) FROM t")[0][0]; got != "2" {
		t.Errorf("%s rows, want 2", got)
	}
}
