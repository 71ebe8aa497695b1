// SPDX-License-Identifier: Apache-2.0

//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sys/unix"
)

// Options of a server.
type Options struct {
	// MaxConnections that the server takes. Defaults to 200.
	MaxConnections int
	// Settings of the server beside those that every test has.
	Settings map[string]string
	// InMemory keeps the files in memory where that has room for them: a server there is made in a third of
	// the time, and does not wait for the disk that all tests share. A kill takes no more of them than of those on
	// a disk: neither loses what was written.
	InMemory bool

	room uint64 // bytes that there have to be in memory; 0 is for dozens of databases
}

// Server is a PostgreSQL server of its own data directory and socket. Its methods must not run side
// by side, but for URL, Database and Exec.
type Server struct {
	dir      string
	program  string
	settings map[string]string
	child    *child
	last     atomic.Int64 // the number of the newest database
}

// Start starts a server that ends with the test, or skips it where there is no PostgreSQL. nil stands for a server
// in memory with the settings that every test has.
func Start(t testing.TB, opts *Options) *Server {
	t.Helper()
	s, err := newServer(need(t, "postgres"), opts)
	if err == nil {
		err = newCluster(s.data())
	}
	s.begin(t, err)
	return s
}

// begin starts a server whose data directory is made, for a test.
func (s *Server) begin(t testing.TB, err error) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() && s.child != nil {
			t.Logf("end of the log of %s:\n%s", s.dir, s.child.tail())
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	if err == nil {
		err = s.start()
	}
	if err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
}

func newServer(program string, opts *Options) (*Server, error) {
	o := Options{InMemory: true}
	if opts != nil {
		o = *opts
	}
	if o.MaxConnections == 0 {
		o.MaxConnections = 200
	}
	dir, err := directory(o.InMemory, o.room)
	s := &Server{dir: dir, program: program, settings: map[string]string{
		"listen_addresses":           "",
		"unix_socket_directories":    dir,
		"unix_socket_permissions":    "0777",
		"max_connections":            strconv.Itoa(o.MaxConnections),
		"dynamic_shared_memory_type": "mmap",
		"recovery_init_sync_method":  "syncfs",
		"shared_buffers":             "64MB",
		"log_min_messages":           "warning",
		"log_line_prefix":            "%m [%p] %d ",
	}}
	maps.Copy(s.settings, o.Settings)
	if _, err := os.Stat("/proc/sys"); err != nil {
		delete(s.settings, "recovery_init_sync_method") // Linux only
	}
	return s, err
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// start starts the program and waits until it answers.
func (s *Server) start() error {
	args := []string{"-D", s.data()}
	for _, name := range slices.Sorted(maps.Keys(s.settings)) {
		args = append(args, "-c", name+"="+s.settings[name])
	}
	cmd, err := command(s.program, args...)
	if err != nil {
		return err
	}
	if s.child, err = spawn(cmd, filepath.Join(s.dir, "log")); err != nil {
		return err
	}
	return s.child.until(func() error { return ping(s.URL("postgres")) })
}

// until tries something every 5 ms until it works, the program has ended, or a minute has passed.
func (c *child) until(try func() error) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); ; {
		err := try()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("no answer for a minute: %w\n%s", err, c.tail())
		}
		select {
		case <-c.done:
			return c.ended()
		case <-tick.C:
		}
	}
}

// ping connects once.
func ping(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// URL names a database of the server, one that need not exist.
func (s *Server) URL(db string) string { return locate(s.dir, db) }

// locate names a database behind the socket in dir. The name may hold {g} and {i} of a template.
func locate(dir, db string) string {
	return "postgres:///" + db + "?" + url.Values{"host": {dir}, "user": {"postgres"}}.Encode()
}

// Database makes an empty database with a name that none had before, and answers with the name. It goes
// with the server: dropping one takes longer than making it.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	return s.Clone(t, "template0")
}

// Clone is Database with what another one has, to which nothing may be connected.
func (s *Server) Clone(t testing.TB, of string) string {
	t.Helper()
	name := "test_" + strconv.FormatInt(s.last.Add(1), 10)
	s.Exec(t, "postgres", "CREATE DATABASE "+name+" TEMPLATE "+of)
	return name
}

// Exec runs statements in a database and answers with the rows of the last one, as text.
func (s *Server) Exec(t testing.TB, db, sql string) [][]string {
	t.Helper()
	rows, err := s.exec(db, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return rows
}

func (s *Server) exec(db, sql string) (rows [][]string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgconn.Connect(ctx, s.URL(db))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	results, err := conn.Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		rows = nil
		for _, values := range r.Rows {
			var row []string
			for _, v := range values {
				row = append(row, string(v))
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// RequirePassword has the server ask a role for its password.
func (s *Server) RequirePassword(t testing.TB, role string) {
	t.Helper()
	file := filepath.Join(s.data(), "pg_hba.conf")
	text, err := os.ReadFile(file)
	if err == nil { // in place: the file belongs to the account of the server
		err = os.WriteFile(file, append([]byte("local all "+role+" scram-sha-256\n"), text...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "postgres", "SELECT pg_reload_conf()")
}

// Kill sends SIGKILL to every process of the server, as a crash of the machine would end them, and
// waits until it is gone. What the system has in its page cache survives.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if err := errors.Join(s.child.slay(), s.removeSegment(), os.Remove(s.lockFile())); err != nil {
		t.Fatalf("kill PostgreSQL: %v", err)
	}
}

// lockFile names the process of the server. A server that is killed leaves it behind, and the next one
// refuses to start if another process has the same number by then, as happens in tests that start many.
func (s *Server) lockFile() string { return filepath.Join(s.data(), "postmaster.pid") }

// removeSegment removes the piece of System V shared memory by which a server notices others in its
// directory, and which it cannot remove when it is killed. Its number stands in the lock file.
func (s *Server) removeSegment() error {
	text, err := os.ReadFile(s.lockFile())
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	var key, id int
	if len(lines) < 7 {
		return fmt.Errorf("the lock file has %d lines", len(lines))
	}
	if _, err := fmt.Sscan(lines[6], &key, &id); err != nil {
		return err
	}
	_, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	return err
}

// Stop ends the server as an administrator does who does not wait for clients.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.child.end(syscall.SIGINT); err != nil {
		t.Fatalf("stop PostgreSQL: %v", err)
	}
}

// Restart starts the server again, which must have been killed or stopped, and waits until it answers.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.start(); err != nil {
		t.Fatalf("restart PostgreSQL: %v", err)
	}
}

// Pause stops every process of the server where it is: connections stay, and are not answered.
func (s *Server) Pause(t testing.TB) {
	t.Helper()
	if err := s.child.pause(); err != nil {
		t.Fatalf("pause PostgreSQL: %v", err)
	}
}

// Continue lets a paused server go on.
func (s *Server) Continue(t testing.TB) {
	t.Helper()
	if _, err := s.child.all(syscall.SIGCONT); err != nil {
		t.Fatalf("continue PostgreSQL: %v", err)
	}
}

// Log is the end of what the server has written to its log.
func (s *Server) Log() string { return s.child.tail() }

// CPU is the time that the server's processes have worked; 0 where the system does not tell.
func (s *Server) CPU() time.Duration { return s.child.cpu() }

// close stops the server for good, also a paused one, and removes its files. It has nothing to save.
func (s *Server) close() error {
	var err error
	if s.child != nil && s.child.ended() == nil {
		_, err = s.child.all(syscall.SIGCONT)
		err = errors.Join(err, s.child.end(syscall.SIGQUIT))
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
