// SPDX-License-Identifier: Apache-2.0

//go:build unix

package pgtest

import (
	"net"
	"path/filepath"
	"sync"
	"testing"
)

// A backend that starts while its server is being paused is paused too.
func TestServer_PausesWhoJustComes(t *testing.T) {
	t.Parallel()
	s := Start(t, nil)
	socket := filepath.Join(s.dir, ".s.PGSQL.5432")
	for range 5 {
		stop := make(chan struct{})
		var callers sync.WaitGroup
		for range 4 {
			callers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						if c, err := net.Dial("unix", socket); err == nil {
							_ = c.Close()
						}
					}
				}
			})
		}
		s.Pause(t)
		pids, err := s.child.family()
		if err != nil {
			t.Error(err)
		}
		for _, pid := range pids {
			if goesOn(pid) {
				t.Errorf("process %d of the paused server goes on", pid)
			}
		}
		close(stop)
		s.Continue(t)
		callers.Wait()
	}
}
