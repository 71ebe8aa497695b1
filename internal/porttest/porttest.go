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
	"syscall"
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
		if err = try(t, port); err == nil {
			return port
		}
	}
	t.Fatalf("no port from %d to %d is free: %v", lowest, lowest+ports-1, err)
	return ""
}

// try reports whether a port can be listened at.
func try(t testing.TB, port string) error {
	syscall.ForkLock.RLock() // see Listen
	defer syscall.ForkLock.RUnlock()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	return l.Close()
}

// Listen listens at an address at which a server of this process has just stopped. A program that another test starts
// has a copy of the server's listener from its fork to its exec, and Listen waits for its exec.
func Listen(t testing.TB, addr string) net.Listener {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
