// SPDX-License-Identifier: Apache-2.0

package porttest_test

import (
	"net"
	"testing"

	"github.com/locus-db/locus/internal/porttest"
)

func TestPort_CanBeListenedAtAgainAndAgain(t *testing.T) {
	t.Parallel()
	addr := "127.0.0.1:" + porttest.Port(t)
	for range 3 {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPort_BelongsToOneTest(t *testing.T) {
	t.Parallel()
	given := map[string]bool{}
	for range 1000 {
		port := porttest.Port(t)
		if given[port] {
			t.Fatalf("port %s is given twice", port)
		}
		given[port] = true
	}
}
