// SPDX-License-Identifier: Apache-2.0

// Package porttest finds ports for servers that tests start, stop and start again at the same address:
//
//	Port ──► 2xxxx, free now, and below what a system gives to a process that asks for any port
//
// So no other program gets the port by chance before the server starts or while it is down, and no other test of the
// process while its server is.
package porttest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
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
	l, err := listen(t, "127.0.0.1:"+port)
	if err != nil {
		return err
	}
	return l.Close()
}

// Listen listens at an address at which a server of this process has just stopped. A program that another test starts
// has a copy of the server's listener until its exec has closed it, which syscall.ForkLock does not wait for.
func Listen(t testing.TB, addr string) net.Listener {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		l, err := listen(t, addr)
		if err == nil {
			return l
		}
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(deadline) {
			t.Fatal(err)
		}
		select {
		case <-time.After(time.Millisecond):
		case <-t.Context().Done():
			t.Fatal(err)
		}
	}
}

// patience is how long Listen waits for the copies of a listener.
const patience = 5 * time.Second

func listen(t testing.TB, addr string) (net.Listener, error) {
	return new(net.ListenConfig).Listen(t.Context(), "tcp", addr)
}
