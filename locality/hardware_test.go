// SPDX-License-Identifier: Apache-2.0

package locality_test

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/locus-db/locus/locality"
)

func ethernet(addr ...byte) net.Interface {
	return net.Interface{Flags: net.FlagUp, HardwareAddr: addr}
}

func TestHardwareNode(t *testing.T) {
	t.Parallel()
	lo := net.Interface{Flags: net.FlagUp | net.FlagLoopback, HardwareAddr: net.HardwareAddr{1, 2, 3, 4, 5, 6}}
	down := net.Interface{HardwareAddr: net.HardwareAddr{1, 2, 3, 4, 5, 6}}
	good := ethernet(0xa0, 0x36, 0xad, 0x53, 0x7a, 0x50)
	for name, c := range map[string]struct {
		interfaces []net.Interface
		err        error
		pid        int
		order      locality.Order
		node       uint32 // 0: random
		event      string // 0: none
	}{
		"the first that serves": {interfaces: []net.Interface{lo, down, ethernet(), ethernet(0, 0, 0, 0, 0, 0),
			ethernet(1, 2, 3, 4, 5, 6, 7, 8), good, ethernet(9, 9, 9, 9, 9, 9)}, pid: 77, node: 0xd537a50},
		"process 1": {interfaces: []net.Interface{good}, pid: 1, node: 0xd537a50, event: "process number is 1"},
		"docker": {interfaces: []net.Interface{ethernet(0x02, 0x42, 0xac, 0x11, 0x00, 0x02)}, pid: 77,
			node: 0xc110002, event: "locally administered"},
		"kubernetes": {interfaces: []net.Interface{ethernet(0x0a, 0x58, 0x0a, 0xf4, 0x00, 0x05)}, pid: 77,
			node: 0xaf40005, event: "locally administered"},
		"firecracker": {interfaces: []net.Interface{ethernet(0x02, 0xfc, 0, 0, 0, 1)}, pid: 77, node: 1,
			event: "locally administered"},
		"sequential": {interfaces: []net.Interface{good}, pid: 77, order: locality.Sequential, node: 0xd537a50,
			event: "restarted process"},
		"no address": {interfaces: []net.Interface{lo, down}, pid: 77,
			event: "no network interface has an address"},
		"cannot be read": {err: errors.New("no permission"), pid: 77, event: "no permission"},
	} {
		var events []locality.Event
		// With their own randomness these machines are independent of each other.
		opts := &locality.Options{Node: locality.HardwareNode(), Order: c.order, Rand: seeded(2), OnEvent: func(e locality.Event) { events = append(events, e) }}
		g, err := locality.NewGeneratorOn(opts, c.pid, c.interfaces, c.err)
		if err != nil {
			t.Fatal(err)
		}
		id := g.New()
		if node, _ := id.Node(); c.node != 0 && node != c.node || node == 0 {
			t.Errorf("%s: node %07x, want %07x", name, node, c.node)
		}
		if near, _ := g.Near(id).Node(); near == c.node {
			t.Errorf("%s: the near lane has the node of the main one", name)
		}
		switch {
		case c.event == "" && len(events) != 0:
			t.Errorf("%s: %+v, want no event", name, events)
		case c.event != "" && (len(events) != 1 || events[0].Kind != locality.NodeInDoubt || !strings.Contains(events[0].Why, c.event)):
			t.Errorf("%s: %+v, want one event about %q", name, events, c.event)
		}
	}
}

func TestHardwareNode_Version8Has26Bits(t *testing.T) {
	t.Parallel()
	opts := &locality.Options{Node: locality.HardwareNode(), Envelope: locality.Version8, Rand: seeded(2)}
	g, err := locality.NewGeneratorOn(opts, 5, []net.Interface{ethernet(0xa0, 0x36, 0xff, 0xff, 0xff, 0xff)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := locality.FieldsV8(g.New()); !ok || f.Node != 1<<26-1 || f.PID != 5 {
		t.Errorf("fields %+v, %v", f, ok)
	}
}
