// SPDX-License-Identifier: Apache-2.0

package porttest_test

import (
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/locus-db/locus/internal/porttest"
)

func TestPort_CanBeListenedAtAgainAndAgain(t *testing.T) {
	t.Parallel()
	addr := "127.0.0.1:" + porttest.Port(t)
	for range 3 {
		if err := porttest.Listen(t, addr).Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestListen_WhileProgramsAreStarted(t *testing.T) {
	t.Parallel()
	addr := "127.0.0.1:" + porttest.Port(t)
	stop := make(chan struct{})
	var starters sync.WaitGroup
	for range 4 {
		starters.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = exec.Command(os.Args[0], "-test.run=^$").Run()
				}
			}
		})
	}
	for range 1000 {
		if err := porttest.Listen(t, addr).Close(); err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	starters.Wait()
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
