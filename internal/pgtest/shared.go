// SPDX-License-Identifier: Apache-2.0

//go:build unix

package pgtest

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/locus-db/locus/internal/longtest"
)

var shared struct {
	sync.Mutex
	main   bool // Main is running and will stop the server
	server *Server
	err    error
}

// Shared returns a server for all tests of the binary, started by the first call. Each test uses a database of its
// own and must not stop the server. The package's TestMain must run Main, which stops it.
func Shared(t testing.TB) *Server {
	t.Helper()
	program := need(t, "postgres")
	shared.Lock()
	defer shared.Unlock()
	if !shared.main {
		t.Fatal("the package's TestMain does not run pgtest.Main: the files of the shared server would stay in memory")
	}
	if shared.server == nil && shared.err == nil {
		// Its hundreds of databases take some 5 GB, so they are in memory on large machines only.
		shared.server, shared.err = newServer(program, &Options{MaxConnections: 500, InMemory: true, room: 12 << 30})
		if shared.err == nil {
			shared.err = newCluster(shared.server.data())
		}
		if shared.err == nil {
			shared.err = shared.server.start()
		}
	}
	if shared.err != nil {
		t.Fatalf("start PostgreSQL: %v", shared.err)
	}
	return shared.server
}

// Tests is implemented by testing.M, and is the argument of goleak.
type Tests interface{ Run() int }

// Main wraps tests so that the shared server is stopped after them, and runs four at a time: they wait for servers
// and leave processors idle.
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main(m)) }
func Main(m Tests) Tests { return withShared{m} }

type withShared struct{ tests Tests }

func (w withShared) Run() int {
	longtest.Together(4)
	shared.Lock()
	shared.main = true
	shared.Unlock()
	code := w.tests.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.server != nil {
		if err := shared.server.close(); err != nil {
			fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
			code = 1
		}
		shared.server = nil
	}
	return code
}
