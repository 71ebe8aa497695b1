// SPDX-License-Identifier: Apache-2.0

package listen_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/locus-db/locus/internal/listen"
)

func proxies(t testing.TB, list ...string) listen.Proxies {
	t.Helper()
	p, err := listen.ParseProxies(list)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParseProxies(t *testing.T) {
	t.Parallel()
	p := proxies(t, "10.0.0.0/8", " 192.0.2.7", "2001:db8::/32", "::ffff:198.51.100.1")
	for addr, want := range map[string]bool{
		"10.255.1.2": true, "11.0.0.1": false, "192.0.2.7": true, "192.0.2.8": false, "2001:db8:1::1": true,
		"2001:db9::1":     false,
		"::ffff:10.1.1.1": true, "198.51.100.1": true, "127.0.0.1": false, "::1": false,
	} {
		if p.Has(netip.MustParseAddr(addr)) != want {
			t.Errorf("%s: want %v", addr, want)
		}
	}
	if p.Has(netip.Addr{}) {
		t.Error("no address is a proxy")
	}
	for _, wrong := range []string{"", "proxy", "10.0.0.0/33", "0.0.0.0/0", "::/0", "10.0.0.1:80", "fe80::1%eth0/64"} {
		if _, err := listen.ParseProxies([]string{"10.0.0.1", wrong}); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

// TestP10_ForwardedFor has the header as clients invent it and as proxies write it.
func TestP10_ForwardedFor(t *testing.T) {
	t.Parallel()
	p := proxies(t, "10.0.0.0/8", "2001:db8::/32")
	for _, test := range []struct {
		connected string
		forwarded []string
		want      string
	}{
		{"192.0.2.1", nil, "192.0.2.1"},
		{"192.0.2.1", []string{"203.0.113.9"}, "192.0.2.1"}, // not a proxy
		{"10.0.0.1", nil, "10.0.0.1"},
		{"10.0.0.1", []string{"203.0.113.9"}, "203.0.113.9"},
		{"10.0.0.1", []string{"198.51.100.1, 203.0.113.9"}, "203.0.113.9"}, // the client invented the first
		{"10.0.0.1", []string{"198.51.100.1", "203.0.113.9"}, "203.0.113.9"},
		{"10.0.0.1", []string{"198.51.100.1, 203.0.113.9, 10.0.0.2"}, "203.0.113.9"}, // two proxies
		{"10.0.0.1", []string{"198.51.100.1,203.0.113.9", "10.0.0.2 ,10.0.0.3"}, "203.0.113.9"},
		{"10.0.0.1", []string{"10.9.9.9, 203.0.113.9, 10.0.0.2"}, "203.0.113.9"}, // an invented proxy
		{"10.0.0.1", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"::ffff:10.0.0.1", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		{"2001:db8::1", []string{"2001:db9::7"}, "2001:db9::7"},
		{"10.0.0.1", []string{"203.0.113.9:1234"}, "203.0.113.9"},
		{"10.0.0.1", []string{"[2001:db9::7]:1234"}, "2001:db9::7"},
		{"10.0.0.1", []string{"[2001:db9::7]"}, "2001:db9::7"},
		{"10.0.0.1", []string{"198.51.100.1, unknown"}, "10.0.0.1"},
		{"10.0.0.1", []string{"198.51.100.1, nonsense, 10.0.0.2"}, "10.0.0.2"},
		{"10.0.0.1", []string{""}, "10.0.0.1"},
		{"10.0.0.1", []string{"198.51.100.1,"}, "10.0.0.1"},
		{"10.0.0.1", []string{"198.51.100.1", ""}, "10.0.0.1"},
	} {
		if got := p.Client(netip.MustParseAddr(test.connected), test.forwarded); got.String() != test.want {
			t.Errorf("%s with %q: %s, want %s", test.connected, test.forwarded, got, test.want)
		}
	}
	if got := listen.Proxies(nil).Client(netip.MustParseAddr("10.0.0.1"), []string{"203.0.113.9"}); got.String() != "10.0.0.1" {
		t.Errorf("without proxies the header is believed: %s", got)
	}
}

// FuzzForwardedFor puts arbitrary text to the left of what the proxy writes: the result does not change.
func FuzzForwardedFor(f *testing.F) {
	for _, seed := range []string{"", "198.51.100.1", "10.0.0.1, 10.0.0.2", ",,,", "[::1]:80, x", "unknown", "10.0.0.1\t", "::ffff:10.0.0.1%lo"} {
		f.Add(seed)
	}
	p := proxies(f, "10.0.0.0/8")
	f.Fuzz(func(t *testing.T, invented string) {
		proxy, client := netip.MustParseAddr("10.0.0.1"), "203.0.113.9"
		for _, forwarded := range [][]string{{invented + "," + client}, {invented, client}, {invented, client + ", 10.7.7.7"}} {
			if got := p.Client(proxy, forwarded); got.String() != client {
				t.Errorf("%q: %s", forwarded, got)
			}
		}
		got := p.Client(proxy, []string{invented})
		if !got.IsValid() || got.Zone() != "" || got != got.Unmap() || !p.Has(got) &&
			!strings.ContainsAny(invented, "0123456789:") {
			t.Errorf("%q: %s", invented, got)
		}
	})
}
