// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage"
)

// Connections that were idle for long are closed, others are not.
func TestPool_ClosesWhatIsIdle(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	opened, err := NewDriver(nil).Dial(t.Context(), s.URL(s.Database(t)), true)
	if err != nil {
		t.Fatal(err)
	}
	c := opened.(*Cell)
	defer c.Close()
	// Nested, so that they take two connections.
	if err := c.View(t.Context(), func(tx storage.Tx) error {
		if _, err := tx.CellMaps(t.Context()); err != nil {
			return err
		}
		return c.View(t.Context(), func(tx storage.Tx) error { _, err := tx.CellMaps(t.Context()); return err })
	}); err != nil {
		t.Fatal(err)
	}
	idle := func(want int) {
		t.Helper()
		if got := c.pool.read(); got.Idle != want || got.Open != want {
			t.Errorf("pool %+v, want %d connections", got, want)
		}
	}
	idle(2)
	c.pool.clean()
	idle(2)
	c.pool.mu.Lock()
	c.pool.idle[0].idle = time.Now().Add(-idleFor)
	c.pool.mu.Unlock()
	c.pool.clean()
	idle(1)
}

// late is a context whose deadline has passed, and whose timer has not fired.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

// A connection that is given up at the caller's deadline is not lost.
func TestEnded(t *testing.T) {
	t.Parallel()
	if err := ended(late{t.Context()}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	if err := ended(t.Context()); err != nil {
		t.Errorf("without a deadline: %v", err)
	}
	canceled, cancel := context.WithCancel(late{t.Context()})
	cancel()
	if err := ended(canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
