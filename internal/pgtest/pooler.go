// SPDX-License-Identifier: Apache-2.0

//go:build unix

package pgtest

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Pooler is a PgBouncer in transaction mode: two transactions of a client may run on two connections to the server,
// and one connection serves many clients in turn.
type Pooler struct {
	dir   string
	child *child
}

const poolerPort = "6432"

// Pooler starts a PgBouncer in front of the server, with that many connections to each database. It ends with the
// test. Without PgBouncer the test is skipped.
func (s *Server) Pooler(t testing.TB, connections int) *Pooler {
	t.Helper()
	program := need(t, "pgbouncer")
	dir, err := directory(false, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &Pooler{dir: dir}
	t.Cleanup(func() {
		if p.child != nil && p.child.ended() == nil {
			if err := p.child.end(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	file := filepath.Join(dir, "pgbouncer.ini")
	err = os.WriteFile(file, fmt.Appendf(nil, `[databases]
* = host=%s user=postgres
[pgbouncer]
listen_addr =
listen_port = %s
unix_socket_dir = %s
auth_type = any
pool_mode = transaction
default_pool_size = %d
max_client_conn = 1000
ignore_startup_parameters = extra_float_digits
`, s.dir, poolerPort, dir, connections), 0o600)
	if err == nil {
		err = own(file)
	}
	if err == nil {
		err = p.start(program, file)
	}
	if err != nil {
		t.Fatalf("start PgBouncer: %v", err)
	}
	return p
}

func (p *Pooler) start(program, file string) error {
	cmd, err := command(program, file)
	if err != nil {
		return err
	}
	if p.child, err = spawn(cmd, filepath.Join(p.dir, "log")); err != nil {
		return err
	}
	return p.child.until(func() error { return ping(p.URL("postgres")) })
}

// URL returns the URL of a database through the pooler.
func (p *Pooler) URL(db string) string { return locate(p.dir, db) + "&port=" + poolerPort }
