// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/longtest"
	"github.com/locus-db/locus/storage/postgres"
)

// A server accepts connections but does not respond. A process that opens its databases one after the other waits
// for it once, not once per database, and tries again later.
func TestP12_AServerThatHangsIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	longtest.Slow(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	go func() {
		var all []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				for _, c := range all {
					_ = c.Close()
				}
				return
			}
			all = append(all, c)
			asked.Add(1)
		}
	}()
	defer l.Close()
	d := postgres.NewDriver(&postgres.Options{ConnectTimeout: 2 * time.Second})
	dial := func(n int) {
		t.Helper()
		url := fmt.Sprintf("postgres://u@%s/places_g0_%d?sslmode=disable", l.Addr(), n)
		if c, err := d.Dial(t.Context(), url, false); !errors.Is(err, cell.ErrUnavailable) {
			t.Fatalf("database %d: %v, %v, want ErrUnavailable", n, c, err)
		}
	}
	dial(0)
	once := asked.Load()
	for n := range 8 {
		dial(n)
	}
	if again := asked.Load(); once == 0 || again != once {
		t.Errorf("the server was asked %d times for the first database, and %d times for eight more", once, again-once)
	}
	for asked.Load() == once { // until the pause is over
		dial(0)
	}
}
