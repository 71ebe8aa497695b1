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

// Options configures a server.
type Options struct {
	// MaxConnections of the server. Defaults to 200.
	MaxConnections int
	// Settings are additional settings of the server.
	Settings map[string]string
	// InMemory stores the files in memory if there is room: such a server starts in a third of the time and does not
	// wait for the disk that all tests share. A kill of the server loses no written data there either.
	InMemory bool
	// Archive makes the server keep its log, for Server.Base.
	Archive bool
	// Disk is the size in bytes of a file system for this server alone, which Server.Fill fills. Only root may mount
	// one, on Linux. 0 means none.
	Disk uint64

	room uint64 // bytes required in memory; 0 means enough for dozens of databases
}

// Server is a PostgreSQL server with its own data directory and socket. Only URL, Database and Exec may be called
// concurrently.
type Server struct {
	dir      string
	program  string
	settings map[string]string
	disk     uint64 // size of its own file system
	child    *child
	last     atomic.Int64 // the number of the newest database
}

// Start starts a server that ends with the test. Without PostgreSQL the test is skipped. nil means a server in
// memory with the default settings.
func Start(t testing.TB, opts *Options) *Server {
	t.Helper()
	s, err := newServer(need(t, "postgres"), opts)
	if err == nil {
		err = newCluster(s.data())
	}
	s.begin(t, err)
	return s
}

// begin starts a server for a test; its data directory must exist.
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
	if o.Disk > 0 && err == nil {
		err = mountDisk(dir, o.Disk)
	}
	s := &Server{dir: dir, program: program, disk: o.Disk, settings: map[string]string{
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
	if o.Archive && err == nil {
		s.settings["archive_mode"] = "on"
		s.settings["archive_command"] = "cp %p " + s.archive() + "/%f"
		err = errors.Join(os.Mkdir(s.archive(), 0o700), own(s.archive()))
	}
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

// patience is the longest wait for a server on a slow machine; for tests that hang, go test has a timeout.
const patience = 8 * time.Minute

// until calls try every 5 ms until it succeeds, the program has ended, or patience has passed.
func (c *child) until(try func() error) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); ; {
		err := try()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("no answer for %v: %w\n%s", patience, err, c.tail())
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
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// URL returns the URL of a database, which need not exist.
func (s *Server) URL(db string) string { return locate(s.dir, db) }

// locate returns the URL of a database behind the socket in dir. The name may contain the {g} and {i} of a
// template.
func locate(dir, db string) string {
	return "postgres:///" + db + "?" + url.Values{"host": {dir}, "user": {"postgres"}}.Encode()
}

// RequirePassword makes the server ask a role for its password.
func (s *Server) RequirePassword(t testing.TB, role string) {
	t.Helper()
	file := filepath.Join(s.data(), "pg_hba.conf")
	text, err := os.ReadFile(file)
	if err == nil { // in place: the file belongs to the server's user
		err = os.WriteFile(file, append([]byte("local all "+role+" scram-sha-256\n"), text...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Exec(t, "postgres", "SELECT pg_reload_conf()")
}

// Kill sends SIGKILL to every process of the server and waits until all have ended. The page cache survives.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if err := errors.Join(s.child.slay(), s.removeSegment(), os.Remove(s.lockFile())); err != nil {
		t.Fatalf("kill PostgreSQL: %v", err)
	}
}

// lockFile names the process of the server. A killed server leaves it behind, and the next one refuses to start if
// another process has that number by then, as happens in tests that start many.
func (s *Server) lockFile() string { return filepath.Join(s.data(), "postmaster.pid") }

// removeSegment removes the segment of System V shared memory through which a server notices others in its
// directory, and which a killed server leaves behind. Its number is in the lock file.
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

// Stop ends the server like an administrator who does not wait for clients (immediate shutdown).
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if err := s.child.end(syscall.SIGINT); err != nil {
		t.Fatalf("stop PostgreSQL: %v", err)
	}
}

// Restart starts a killed or stopped server again and waits until it answers.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.start(); err != nil {
		t.Fatalf("restart PostgreSQL: %v", err)
	}
}

// Pause stops every process of the server: connections stay open but get no answers.
func (s *Server) Pause(t testing.TB) {
	t.Helper()
	if err := s.child.pause(); err != nil {
		t.Fatalf("pause PostgreSQL: %v", err)
	}
}

// Continue resumes a paused server.
func (s *Server) Continue(t testing.TB) {
	t.Helper()
	if _, err := s.child.all(syscall.SIGCONT); err != nil {
		t.Fatalf("continue PostgreSQL: %v", err)
	}
}

// Log returns the end of the server's log.
func (s *Server) Log() string { return s.child.tail() }

// CPU returns the processor time of the server's processes, or 0 where the system does not report it.
func (s *Server) CPU() time.Duration { return s.child.cpu() }

// close stops the server for good, even a paused one, and removes its files. It has nothing to save.
func (s *Server) close() error {
	var err error
	if s.child != nil && s.child.ended() == nil {
		_, err = s.child.all(syscall.SIGCONT)
		err = errors.Join(err, s.child.end(syscall.SIGQUIT))
	}
	if s.disk > 0 {
		err = errors.Join(err, unmountDisk(s.dir))
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
