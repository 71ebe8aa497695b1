// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/postgres"
)

// clock is set by the test.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func redo(ctx context.Context, c cell.Opened[storage.Tx], puid entity.PUID) error {
	return c.Update(ctx, func(tx storage.Tx) error {
		_, err := tx.PutRedo(ctx, []derived.Redo{{PUID: puid, Version: 1}})
		return err
	})
}

// A restarted server is used again without an error, although all its connections have ended. A server that is down is
// reported as unavailable, and after some failures it is not contacted for a while.
func TestServerGoesAndComesBack(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, driver, opened := opens(t, 1, nil)
	c := opened[0]
	for i := range entity.PUID(3) {
		if err := redo(ctx, c, i+1); err != nil {
			t.Fatalf("before end %d: %v", i, err)
		}
		end := s.Kill
		if i == 1 {
			end = s.Stop
		}
		end(t)
		s.Restart(t)
	}
	opensBefore := driver.Pools()[0].Opened
	s.Kill(t)
	refusedAtOnce(t, c)
	s.Restart(t)
	takesWrites(t, c)
	if err := redo(ctx, c, 10); err != nil {
		t.Errorf("later: %v", err)
	}
	if err := c.View(ctx, func(tx storage.Tx) error {
		depth, err := tx.RedoDepth(ctx)
		if depth != 4 {
			t.Errorf("%d entries, 4 were acknowledged", depth)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	if p := driver.Pools()[0]; p.Opened == opensBefore || p.Open != 1 {
		t.Errorf("pool %+v", p)
	}
}

// A call to a server that hangs is given up, and the breaker spares later callers the wait.
func TestServerHangs(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _, opened := opens(t, 1, nil)
	c := opened[0]
	if err := redo(ctx, c, 1); err != nil {
		t.Fatal(err)
	}
	s.Pause(t)
	began := time.Now()
	if err := redo(ctx, c, 2); !errors.Is(err, cell.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a server that hangs: %v, want ErrUnavailable", err)
	}
	if took := time.Since(began); took > 6*time.Second {
		t.Errorf("a server that hangs was given up after %v, as if its statement were merely slow", took)
	}
	refusedAtOnce(t, c)
	s.Continue(t)
	takesWrites(t, c)
	if err := redo(ctx, c, 3); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// patience is the longest wait of a test on a busy machine.
const patience = 3 * time.Minute

// refusedAtOnce waits until the breaker of a cell is open.
func refusedAtOnce(t *testing.T, c cell.Opened[storage.Tx]) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		err := redo(t.Context(), c, 9)
		switch {
		case !errors.Is(err, cell.ErrUnavailable) || errors.Is(err, cell.ErrCommitUnknown):
			t.Fatalf("a cell that does not answer: %v, want ErrUnavailable", err)
		case strings.Contains(err.Error(), "not asked again"):
			if err := c.Writable(t.Context()); !errors.Is(err, cell.ErrUnavailable) {
				t.Errorf("Writable: %v, want ErrUnavailable", err)
			}
			return
		case time.Now().After(end):
			t.Fatalf("it is asked again and again: %v", err)
		}
	}
}

// takesWrites waits until the breaker of a cell is closed again, without any write.
func takesWrites(t *testing.T, c cell.Opened[storage.Tx]) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		err := c.Writable(t.Context())
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("it answers again, but: %v", err)
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
}

// A table locked by another program costs the first write the lock timeout. Later writes are refused at once,
// everything that the lock does not block continues, and the cell recovers on its own.
func TestP12_LockedTable(t *testing.T) {
	t.Parallel()
	s, _, opened := opens(t, 1, nil)
	c := opened[0]
	if err := redo(t.Context(), c, 1); err != nil {
		t.Fatal(err)
	}
	other, err := pgx.Connect(t.Context(), s.URL("cell_0"))
	must(t, err)
	defer other.Close(context.Background())
	_, err = other.Exec(t.Context(), "BEGIN; LOCK TABLE redo IN SHARE MODE")
	must(t, err)
	began := time.Now()
	if err := redo(t.Context(), c, 2); !errors.Is(err, cell.ErrUnavailable) || errors.Is(err, cell.ErrCommitUnknown) {
		t.Errorf("a table that is locked: %v, want ErrUnavailable", err)
	}
	if took := time.Since(began); took > 10*time.Second { // ten attempts would take 15 s
		t.Errorf("refused after %v", took)
	}
	refusedAtOnce(t, c)
	if err := c.View(t.Context(), func(tx storage.Tx) error { _, err := tx.RedoDepth(t.Context()); return err }); err != nil {
		t.Errorf("what reads: %v", err)
	}
	_, err = other.Exec(t.Context(), "ROLLBACK")
	must(t, err)
	takesWrites(t, c)
	if err := redo(t.Context(), c, 3); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A caller's deadline is not the cell's fault, nor does it make the cell unavailable.
func TestCallerLosesPatience(t *testing.T) {
	t.Parallel()
	s, _, opened := opens(t, 1, nil)
	c := opened[0]
	s.Pause(t)
	for range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		err := redo(ctx, c, 1)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, cell.ErrUnavailable) {
			t.Errorf("%v, want the context's error", err)
		}
	}
	s.Continue(t)
	if err := redo(t.Context(), c, 1); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A connection that ends during the commit leaves the outcome unknown, and the error says no more than that.
func TestCommit_UnknownOutcome(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d := direct(t).open(t)
	// At the commit, after all statements of the transaction.
	direct(t).server.Exec(t, d.name, `CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
		CREATE CONSTRAINT TRIGGER die AFTER INSERT ON redo DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION die()`)
	runs := 0
	err := d.Update(ctx, func(tx storage.Tx) error {
		runs++
		_, err := tx.PutRedo(ctx, []derived.Redo{{PUID: 1}})
		return err
	})
	if !errors.Is(err, cell.ErrCommitUnknown) || errors.Is(err, cell.ErrUnavailable) || runs != 1 {
		t.Errorf("%v after %d runs, want ErrCommitUnknown alone, once", err, runs)
	}
	if err := d.View(ctx, func(tx storage.Tx) error { _, err := tx.RedoDepth(ctx); return err }); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A failed commit that the server reports has a known outcome: nothing was done.
func TestCommit_Refused(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d := direct(t).open(t)
	direct(t).server.Exec(t, d.name, `CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
		CREATE CONSTRAINT TRIGGER no AFTER INSERT ON redo DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION no()`)
	err := d.Update(ctx, func(tx storage.Tx) error { _, err := tx.PutRedo(ctx, []derived.Redo{{PUID: 1}}); return err })
	if err == nil || errors.Is(err, cell.ErrCommitUnknown) || errors.Is(err, cell.ErrUnavailable) {
		t.Errorf("%v, want the server's error", err)
	}
}

// Two updates lock the same rows in opposite orders: PostgreSQL aborts one of them, which is retried.
func TestUpdate_DeadlocksAreRunAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d := direct(t).open(t)
	records := func(puid entity.PUID) []*entity.Record {
		return []*entity.Record{{PUID: puid, Observed: time.UnixMilli(0), Attributes: entity.Attributes{}}}
	}
	if err := d.Update(ctx, func(tx storage.Tx) error { return tx.PutRecords(ctx, append(records(1), records(2)...)) }); err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	both.Add(2)
	errs, runs := make([]error, 2), make([]int, 2)
	var wg sync.WaitGroup
	for i, order := range [][2]entity.PUID{{1, 2}, {2, 1}} {
		wg.Go(func() {
			errs[i] = d.Update(ctx, func(tx storage.Tx) error {
				runs[i]++
				if _, err := tx.Records(ctx, order[:1]); err != nil {
					return err
				}
				if runs[i] == 1 {
					both.Done()
					both.Wait()
				}
				_, err := tx.Records(ctx, order[1:])
				return err
			})
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Errorf("updates that met in a deadlock: %v", err)
	}
	if runs[0]+runs[1] < 3 {
		t.Errorf("%d and %d runs: they did not meet", runs[0], runs[1])
	}
}

// A process stopped in the middle of a transaction delays others for a while but they succeed; its own transaction
// fails.
func TestUpdate_OutlastsAStoppedProcess(t *testing.T) {
	t.Parallel()
	s, _, opened := opens(t, 1, &postgres.Options{IdleTimeout: 2 * time.Second})
	stopped := opened[0]
	inside, goOn, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- stopped.Update(context.Background(), func(tx storage.Tx) error {
			if _, err := tx.Allocate(context.Background(), []cell.Key{key(1)}); err != nil {
				return err
			}
			close(inside)
			<-goOn
			_, err := tx.RedoDepth(context.Background())
			return err
		})
	}()
	select {
	case <-inside:
	case err := <-done:
		t.Fatalf("the stopped process's update ended before it was stopped: %v", err)
	}
	other, err := dialled(t, postgres.NewDriver(&postgres.Options{LockTimeout: 500 * time.Millisecond}), s.URL("cell_0"), identity(), false)
	must(t, err)
	allocateOne(t, other, key(1))
	close(goOn)
	if err := <-done; !errors.Is(err, cell.ErrUnavailable) || errors.Is(err, cell.ErrCommitUnknown) {
		t.Errorf("the stopped process's update: %v, want ErrUnavailable", err)
	}
}

// A row that another transaction holds for long is not waited for indefinitely.
func TestUpdate_LockTimeout(t *testing.T) {
	t.Parallel()
	at := direct(t)
	d := at.open(t)
	first := pause(t, d, key(1))
	impatient, err := dialled(t, postgres.NewDriver(&postgres.Options{LockTimeout: 20 * time.Millisecond}), d.url, d.id, false)
	must(t, err)
	for range 5 { // more than the breaker tolerates: waiting for others is not a failure of the database
		err = impatient.Update(t.Context(), func(tx storage.Tx) error {
			_, err := tx.Allocate(t.Context(), []cell.Key{key(1)})
			return err
		})
		if !errors.Is(err, cell.ErrUnavailable) || !strings.Contains(err.Error(), "other transactions hold") {
			t.Errorf("%v, want ErrUnavailable", err)
		}
	}
	first.end(t)
	if err := redo(t.Context(), impatient, 1); err != nil {
		t.Error(err)
	}
}

// A connection at the end of its lifetime is replaced.
func TestConnectionsDoNotLiveForEver(t *testing.T) {
	t.Parallel()
	at := &clock{now: time.Unix(1, 0)}
	_, driver, opened := opens(t, 1, &postgres.Options{Now: at.Now, Lifetime: time.Hour})
	for range 3 {
		for range 3 {
			if err := redo(t.Context(), opened[0], 1); err != nil {
				t.Fatal(err)
			}
		}
		at.pass(time.Hour)
	}
	if p := driver.Pools()[0]; p.Opened != 3 || p.Open != 1 {
		t.Errorf("pool %+v, want 3 connections after one another", p)
	}
}
