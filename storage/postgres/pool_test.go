// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/pgtest"
	"github.com/locus-db/locus/storage"
	"github.com/locus-db/locus/storage/postgres"
)

// opens dials several new cells of one driver on a separate server.
func opens(t *testing.T, n int, opts *postgres.Options) (*pgtest.Server, *postgres.Driver, []cell.Opened[storage.Tx]) {
	t.Helper()
	s, driver := pgtest.Start(t, nil), postgres.NewDriver(opts)
	var cells []cell.Opened[storage.Tx]
	for i := range n {
		c, err := dialled(t, driver, s.URL("cell_"+strconv.Itoa(i)), identity(), true)
		must(t, err)
		cells = append(cells, c)
	}
	return s, driver, cells
}

// With more transactions than connections, of more databases than connections, all complete, and the limit of
// connections is never exceeded.
func TestPool_KeepsItsBudget(t *testing.T) {
	t.Parallel()
	const budget, cells, writers, each = 3, 5, 4, 10
	s, driver, opened := opens(t, cells, &postgres.Options{Connections: budget})
	ctx := t.Context()
	var wg sync.WaitGroup
	errs := make(chan error, cells*writers)
	for _, c := range opened {
		for range writers {
			wg.Go(func() {
				for n := range uint64(each) {
					if err := c.Update(ctx, func(tx storage.Tx) error {
						if p := driver.Pools()[0]; p.Open > budget {
							return errors.New("more connections than there may be: " + strconv.Itoa(p.Open))
						}
						_, err := tx.Allocate(ctx, []cell.Key{key(n)})
						return err
					}); err != nil {
						errs <- err
						return
					}
				}
			})
		}
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	p := driver.Pools()[0]
	if p.Budget != budget || p.Open > budget || p.Open != p.Idle || p.Waiting != 0 || p.Waited == 0 || p.Displaced == 0 {
		t.Errorf("pool %+v", p)
	}
	if n := s.Exec(t, "postgres", "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'locus'")[0][0]; n != strconv.Itoa(p.Open) {
		t.Errorf("%s connections, the pool has %d", n, p.Open)
	}
	for _, c := range opened {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if p := driver.Pools()[0]; p.Open != 0 {
		t.Errorf("%d connections of closed cells", p.Open)
	}
}

// Waiting for a connection ends with the context.
func TestPool_WaitingHonoursTheContext(t *testing.T) {
	t.Parallel()
	_, driver, opened := opens(t, 2, &postgres.Options{Connections: 1})
	err := opened[0].View(t.Context(), func(tx storage.Tx) error {
		if _, err := tx.Head(t.Context()); err != nil { // so that the connection is in use
			return err
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- opened[1].View(ctx, func(storage.Tx) error { return errors.New("it ran") }) }()
		for driver.Pools()[0].Waiting == 0 {
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want context.Canceled", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if p := driver.Pools()[0]; p.Open != 1 || p.Idle != 1 || p.Waiting != 0 {
		t.Errorf("pool %+v", p)
	}
}

// Close waits for transactions and refuses later ones.
func TestClose(t *testing.T) {
	t.Parallel()
	d := direct(t).open(t)
	inside, closed := make(chan struct{}), make(chan struct{})
	var err error
	updated := make(chan error)
	go func() {
		updated <- d.Update(context.Background(), func(tx storage.Tx) error {
			close(inside)
			<-closed
			_, err := tx.Allocate(context.Background(), []cell.Key{key(1)})
			return err
		})
	}()
	<-inside
	done := make(chan struct{})
	go func() {
		err = d.Close()
		close(done)
	}()
	for d.View(t.Context(), func(storage.Tx) error { return nil }) == nil {
	}
	if err := d.View(t.Context(), func(storage.Tx) error { return nil }); !errors.Is(err, postgres.ErrClosed) || !errors.Is(err, cell.ErrUnavailable) {
		t.Errorf("view of a closed cell: %v, want ErrClosed", err)
	}
	select {
	case <-done:
		t.Error("Close did not wait")
	default:
	}
	close(closed)
	if err := <-updated; err != nil {
		t.Errorf("the update in flight: %v", err)
	}
	if <-done; err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("Close again: %v", err)
	}
}

// Processes that together need more connections than the server accepts work with the ones they get.
func TestPool_ServerIsFull(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t, &pgtest.Options{MaxConnections: 20, InMemory: true})
	const processes, clients, calls = 3, 10, 20
	cells := make([]cell.Opened[storage.Tx], processes)
	for p := range cells {
		c, err := dialled(t, postgres.NewDriver(&postgres.Options{Connections: 10}), s.URL("cell"), identity(), true)
		must(t, err)
		cells[p] = c
	}
	var wg sync.WaitGroup
	errs := make(chan error, processes*clients)
	for p, c := range cells {
		for w := range clients {
			wg.Go(func() {
				ctx := context.Background()
				for n := range calls {
					if err := redo(ctx, c, entity.PUID(1+n+calls*(w+clients*p))); err != nil {
						errs <- err
						return
					}
				}
			})
		}
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
}
