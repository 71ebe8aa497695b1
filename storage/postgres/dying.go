// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"slices"
	"sync"
	"time"
)

// dying holds connections that were abandoned but have not ended yet: pgx also asks the server to cancel their
// statement.
type dying struct {
	mu   sync.Mutex
	ends []<-chan struct{}
}

// add records a connection that is closed.
func (d *dying) add(c *conn) {
	if !c.IsClosed() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ends = slices.DeleteFunc(d.ends, func(end <-chan struct{}) bool {
		select {
		case <-end:
			return true
		default:
			return false
		}
	})
	d.ends = append(d.ends, c.PgConn().CleanupDone())
}

// wait waits for these connections, at most a second, because an unreachable server cannot be asked.
func (d *dying) wait() {
	d.mu.Lock()
	defer d.mu.Unlock()
	timeout := time.NewTimer(time.Second)
	defer timeout.Stop()
	for _, end := range d.ends {
		select {
		case <-end:
		case <-timeout.C:
			return
		}
	}
	d.ends = nil
}
