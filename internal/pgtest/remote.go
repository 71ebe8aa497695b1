// SPDX-License-Identifier: Apache-2.0

//go:build unix

package pgtest

import (
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"
)

// Remote returns the URL of a database at a port of this machine, for clients that cannot use sockets. Connections are
// forwarded to the server until the test ends, also after the server was restarted.
func (s *Server) Remote(t testing.TB, db string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open sync.Map
	var passing sync.WaitGroup
	pass := func(client net.Conn) {
		defer client.Close()
		server, err := net.Dial("unix", filepath.Join(s.dir, ".s.PGSQL.5432"))
		if err != nil {
			return
		}
		defer server.Close()
		open.Store(client, server)
		defer open.Delete(client)
		done := make(chan struct{}, 2)
		for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
			passing.Go(func() {
				_, _ = io.Copy(way[1], way[0]) // ends with either connection
				done <- struct{}{}
			})
		}
		<-done
	}
	passing.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			passing.Go(func() { pass(client) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		open.Range(func(client, server any) bool {
			client.(net.Conn).Close()
			server.(net.Conn).Close()
			return true
		})
		passing.Wait()
	})
	return "postgres://postgres@" + listener.Addr().String() + "/" + db + "?sslmode=disable"
}
