// SPDX-License-Identifier: Apache-2.0

package celltest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance"
)

// Kind is a kind of databases under test; T is the type of their transactions.
type Kind[T cell.Store] struct {
	Driver cell.Driver[T]
	// URL returns the URL of a database of the test, given a name of a few letters.
	URL func(name string) string
}

// RunDriver checks an implementation of cell.Driver: how databases are created, identified as a cell, and rejected if
// they are another cell. open is called once for each case, and cleans up by t.Cleanup; cases run in parallel.
func RunDriver[T cell.Store](t *testing.T, open func(t *testing.T) Kind[T]) {
	t.Helper()
	driverCases.Run(t, func(t *testing.T) kind {
		k := open(t)
		return kind{URL: k.URL, dial: func(ctx context.Context, url string, create bool) (handle, error) {
			db, err := k.Driver.Dial(ctx, url, create)
			if err != nil {
				return nil, err
			}
			t.Cleanup(func() { db.Close() })
			return dialled[T]{of[T]{db}, db, func(ctx context.Context) (string, error) { return k.Driver.Marked(ctx, url) }}, nil
		}}
	})
}

// kind is a Kind of any T.
type kind struct {
	URL  func(name string) string
	dial func(ctx context.Context, url string, create bool) (handle, error)
}

// handle is a cell.Opened of any T.
type handle interface {
	Database
	Identify(ctx context.Context, id cell.Identity) error
	Stats(ctx context.Context) (cell.Stats, error)
	Writable(ctx context.Context) error
	Tidy(ctx context.Context) (bool, error)
	Pulse(ctx context.Context) (cell.Pulse, error)
	Latest() (cell.Pulse, bool)
	Marked(ctx context.Context) (string, error) // of the database at the URL
	Close() error
}

type dialled[T cell.Store] struct {
	of[T]
	opened cell.Opened[T]
	marked func(ctx context.Context) (string, error)
}

func (d dialled[T]) Identify(ctx context.Context, id cell.Identity) error {
	return d.opened.Identify(ctx, id)
}
func (d dialled[T]) Stats(ctx context.Context) (cell.Stats, error) { return d.opened.Stats(ctx) }

func (d dialled[T]) Writable(ctx context.Context) error            { return d.opened.Writable(ctx) }
func (d dialled[T]) Pulse(ctx context.Context) (cell.Pulse, error) { return d.opened.Pulse(ctx) }
func (d dialled[T]) Latest() (cell.Pulse, bool)                    { return d.opened.Latest() }
func (d dialled[T]) Marked(ctx context.Context) (string, error)    { return d.marked(ctx) }

func (d dialled[T]) Vacuum(ctx context.Context) error       { return d.opened.Vacuum(ctx) }
func (d dialled[T]) Tidy(ctx context.Context) (bool, error) { return d.opened.Tidy(ctx) }
func (d dialled[T]) Close() error                           { return d.opened.Close() }

var driverCases = conformance.Suite[kind]{
	{Name: "NothingIsMadeUnasked", Run: nothingIsMadeUnasked},
	{Name: "KeepsAMapBeforeItHasAName", Run: keepsAMapBeforeItHasAName},
	{Name: "MapOfTheFirst", Run: mapOfTheFirst},
	{Name: "OnlyOneIdentity", Run: onlyOneIdentity},
	{Name: "TakesAnotherRange", Run: takesAnotherRange},
	{Name: "IdentityAtOnce", Run: identityAtOnce},
	{Name: "KeepsItsRows", Run: keepsItsRows},
	{Name: "Stats", Run: stats},
	{Name: "TakesWrites", Run: takesWrites},
	{Name: "Tidy", Run: tidy},
	{Name: "Pulse", Run: pulse},
	{Name: "Mark", Run: mark},
	{Name: "Rename", Run: rename},
	{Name: "CloseWaits", Run: closeWaits},
}

// identity returns the identity of a cell with negative puids, which are easily mishandled.
func identity() cell.Identity {
	return cell.Identity{Map: "7c0e31", Cell: cell.ID{Gen: 1, Index: 19}, Lo: -1 << 40, Hi: -1<<40 + 1<<32 - 1,
		Rules: "place/1"}
}

func (k kind) open(t tester, name string, create bool) handle {
	t.Helper()
	db, err := k.dial(context.Background(), k.URL(name), create)
	if err != nil {
		t.Fatalf("Dial %s, create %v: %v", name, create, err)
	}
	return db
}

func (k kind) identified(t tester, name string) handle {
	t.Helper()
	db := k.open(t, name, true)
	if err := db.Identify(context.Background(), identity()); err != nil {
		t.Fatalf("Identify a new database: %v", err)
	}
	return db
}

// takesWrites checks that Writable returns nil, also during an update, until the database is closed.
func takesWrites(t tester, k kind) {
	ctx := context.Background()
	db := k.identified(t, "one")
	if err := db.Writable(ctx); err != nil {
		t.Fatalf("Writable: %v", err)
	}
	if err := db.Update(ctx, func(cell.Store) error { return db.Writable(ctx) }); err != nil {
		t.Fatalf("Writable while it writes: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if err := db.Writable(ctx); !errors.Is(err, cell.ErrUnavailable) {
		t.Fatalf("Writable of a closed database: %v, want ErrUnavailable", err)
	}
}

// cellOf returns a database of that identity, in the form that the cases of a Store use.
func cellOf(db Database) Cell {
	id := identity()
	return Cell{Database: db, Lo: id.Lo, Hi: id.Hi}
}

func keepsItsRows(t tester, k kind) {
	c := cellOf(k.identified(t, "cell"))
	as := allocate(t, c, keys(1, 10))
	setHead(t, c, cell.Head{Keys: cell.Sealed, Incarnation: 2, Epoch: 3, KnownEpoch: 4, Fence: 5, Rules: 6})
	want := headOf(t, c)
	if err := c.Database.(handle).Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	db := k.open(t, "cell", false)
	if err := db.Identify(context.Background(), identity()); err != nil {
		t.Fatalf("Identify: %v", err)
	}
	c.Database = db
	if got := headOf(t, c); got != want {
		t.Fatalf("the head after opening again is %+v, was %+v", got, want)
	}
	wantPuids(t, c, keys(1, 10), puidsOf(as))
	if next := allocate(t, c, keys(11, 1))[0].PUID; next <= as[9].PUID {
		t.Fatalf("after opening again puid %d was given, the last was %d", next, as[9].PUID)
	}
}

func stats(t tester, k kind) {
	ctx := context.Background()
	db := k.identified(t, "cell")
	c := cellOf(db)
	allocate(t, c, keys(1, 7))
	update(t, c, func(ctx context.Context, s cell.Store) error { return s.SetFilter(ctx, []byte("f")) })
	setHead(t, c, cell.Head{Keys: cell.Sealed, Incarnation: 1, Epoch: 2})
	got, err := db.Stats(ctx)
	if err != nil {
		t.Fatalf("Stats: %v", err)
	}
	want := cell.Stats{
		Cell: identity().Cell, URL: got.URL, Bytes: got.Bytes, Filter: true, PUIDRoom: 1<<32 - 1,
		Head: cell.Head{Keys: cell.Sealed, Incarnation: 1, Epoch: 2}, PUIDs: got.PUIDs, WAL: got.WAL, Pool: got.Pool,
	}
	if got != want || got.PUIDs < 7 || got.PUIDs > 1000 {
		t.Fatalf("Stats of a cell with 7 keys: %+v, want %+v with 7 puids or some more", got, want)
	}
}

// closeWaits closes a cell while a transaction is in flight.
func closeWaits(t tester, k kind) {
	ctx := context.Background()
	db := k.identified(t, "cell")
	inside, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var updated, closed error
	var wg sync.WaitGroup
	wg.Go(func() {
		updated = db.Update(ctx, func(s cell.Store) error {
			once.Do(func() { close(inside) })
			<-goOn
			_, err := s.Allocate(ctx, keys(1, 1))
			return err
		})
	})
	<-inside
	closing := make(chan struct{})
	wg.Go(func() {
		close(closing)
		closed = db.Close()
	})
	<-closing
	close(goOn)
	wg.Wait()
	if err := errors.Join(updated, closed); err != nil {
		t.Fatalf("update, and Close meanwhile: %v", err)
	}
	for name, run := range map[string]func(context.Context, func(cell.Store) error) error{"Update": db.Update, "Exclusive": db.Exclusive, "View": db.View} {
		if err := run(ctx, func(cell.Store) error { return nil }); !errors.Is(err, cell.ErrUnavailable) {
			t.Fatalf("%s of a closed cell: %v, want ErrUnavailable", name, err)
		}
	}
	c := cellOf(k.open(t, "cell", false))
	if got := lookup(t, c, keys(1, 1)); got[0] == cell.Nothing {
		t.Fatalf("what was written while the cell was closed is gone")
	}
}
