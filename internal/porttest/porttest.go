// SPDX-License-Identifier: Apache-2.0

// Package porttest finds ports for servers that tests start, stop and start again at the same address:
//
//	Port ──► 2xxxx, free now, and below what a system gives to a process that asks for any port
//
// So no other program gets the port by chance before the server starts or while it is down, and no other test of the
// process while its server is.
package porttest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

const (
	lowest = 20_000
	ports  = 10_000 // up to 30,000: systems assign ephemeral ports from 32,768 or higher
)

// given are the ports of tests that run.
var given sync.Map

// Port returns an unused port of 127.0.0.1, which no other test of the process gets before t ends.
func Port(t testing.TB) string {
	t.Helper()
	var err error
	for range 100 {
		port := strconv.Itoa(lowest + rand.IntN(ports))
		if _, other := given.LoadOrStore(port, true); other {
			continue
		}
		t.Cleanup(func() { given.Delete(port) })
		var l net.Listener
		if l, err = new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:"+port); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatalf("no port from %d to %d is free: %v", lowest, lowest+ports-1, err)
	return ""
}
