// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"net"
	"slices"
	"strconv"
	"testing"

	"github.com/locus-db/locus/internal/listen"
)

// taken returns a loopback port that is in use.
func taken(t *testing.T) (addr string, port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String(), l.Addr().(*net.TCPAddr).Port
}

func TestListen_BothLoopbacks(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"127.0.0.1", "localhost"} {
		s := &serving{addr: host + ":0"}
		listeners, err := s.listen()
		if err != nil {
			t.Fatal(err)
		}
		ports := map[int]bool{}
		for _, l := range listeners {
			addr := l.Addr().(*net.TCPAddr)
			ports[addr.Port] = true
			if !addr.IP.IsLoopback() {
				t.Errorf("%s listens at %v", host, addr)
			}
		}
		if len(ports) != 1 {
			t.Errorf("%s listens at the ports %v", host, ports)
		}
		if err := closeAll(listeners); err != nil {
			t.Error(err)
		}
	}
}

func TestListen_PortInUse(t *testing.T) {
	t.Parallel()
	addr, _ := taken(t)
	_, err := (&serving{addr: addr}).listen()
	var f *failure
	if !errors.As(err, &f) || f.Exit != exitFailed || f.Code != "in_use" {
		t.Errorf("got %v", err)
	}
}

func TestListenNear_TakesTheNextPort(t *testing.T) {
	t.Parallel()
	addr, port := taken(t)
	if _, err := (&showing{serving: serving{addr: addr}}).listenNear(true); err == nil {
		t.Error("a port that was asked for is in use, and another one was taken")
	}
	listeners, err := (&showing{serving: serving{addr: addr}}).listenNear(false)
	if err != nil {
		t.Fatal(err)
	}
	got := listeners[0].Addr().(*net.TCPAddr).Port
	if got == port {
		t.Errorf("it listens at the port %s that is in use", strconv.Itoa(port))
	}
	if err := closeAll(listeners); err != nil {
		t.Error(err)
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"127.0.0.1": true, "127.8.9.10": true, "::1": true, "localhost": true, "::ffff:127.0.0.1": true,
		"0.0.0.0": false, "": false, "::": false, "192.168.1.1": false, "localhost.example.com": false,
		"127.0.0.1.example.com": false,
	} {
		if got := listen.Loopback(host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}

// TestServing_Names lists, for an address and names of --host, the URL that the server prints and the names that requests
// may use.
func TestServing_Names(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		addr, hosts, base string
		names             []string
	}{
		{"127.0.0.1:7070", "", "http://127.0.0.1:7070", nil},
		{"localhost:7070", "", "http://127.0.0.1:7070", nil},
		{"0.0.0.0:7070", "", "http://localhost:7070", nil},
		{":7070", "", "http://localhost:7070", nil},
		{"[::]:7070", "locus.example", "http://locus.example:7070", []string{"locus.example"}},
		{"192.0.2.1:7070", "", "http://192.0.2.1:7070", []string{"192.0.2.1"}},
		{"db1.example:7070", "locus.example", "http://192.0.2.1:7070", []string{"db1.example", "locus.example"}},
	} {
		s := &serving{addr: c.addr}
		if c.hosts != "" {
			s.hosts = []string{c.hosts}
		}
		host, _, err := net.SplitHostPort(c.addr)
		if err != nil {
			t.Fatal(err)
		}
		at := &net.TCPAddr{IP: net.ParseIP(host), Port: 7070}
		switch host {
		case "":
			at.IP = net.IPv6zero
		case "localhost":
			at.IP = net.IPv4(127, 0, 0, 1)
		case "db1.example":
			at.IP = net.IPv4(192, 0, 2, 1)
		}
		if base, names := s.base(at), s.names(); base != c.base || !slices.Equal(names, c.names) {
			t.Errorf("%s, --host %q: %s, %q", c.addr, c.hosts, base, names)
		}
	}
}
