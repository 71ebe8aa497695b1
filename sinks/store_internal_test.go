// SPDX-License-Identifier: Apache-2.0

package sinks

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/internal/running"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/sink"
	"github.com/locus-db/locus/storage"
	_ "github.com/locus-db/locus/storage/sqlite"
)

var authority = cell.ID{}

// bench is an installation of one cell with a sink, of which this process is the owner.
type bench struct {
	*testing.T
	h   *Handle
	s   *store
	now time.Time
}

func newBench(t *testing.T) *bench {
	t.Helper()
	opened, err := storage.Open(t.Context(), t.TempDir(), &storage.Options{Cells: 1, Scratch: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	b := &bench{T: t, now: time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)}
	e := &engine.Engine{Cells: opened, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return b.now }}
	b.h = &Handle{engine: e, catalog: running.NewCatalog(rows, e, "a")}
	b.update(func(ctx context.Context, tx storage.Tx) error {
		return errors.Join(rows.Put(ctx, tx, &definitions{Revision: 3, All: []Definition{{Name: "s", Hold: 72 * time.Hour, Revision: 3}}}),
			tx.PutLease(ctx, sink.LeaseName("s"), lease.Lease{Owner: "a", Token: 7}))
	})
	b.s = &store{h: b.h, name: "s", revision: 3}
	if _, err := b.s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) update(fn func(context.Context, storage.Tx) error) {
	b.Helper()
	if err := b.h.engine.Update(b.Context(), authority, func(tx storage.Tx) error { return fn(b.Context(), tx) }); err != nil {
		b.Fatal(err)
	}
}

func at(seq changelog.Seq) sink.Progress {
	return sink.Progress{Position: sink.Position{Installation: "i",
		Cells: map[cell.ID]sink.CellPosition{authority: {At: seq, Filled: true}}}}
}

// load returns the progress that the next owner loads.
func (b *bench) load() sink.Progress {
	b.Helper()
	p, err := (&store{h: b.h, name: "s"}).Load(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// Only the owner of the lease writes, and only while the definition is the one that it works by.
func TestP17_FormerOwnersSaveNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if _, err := b.s.Save(t.Context(), 7, at(10)); err != nil {
		t.Fatal(err)
	}
	for _, now := range []struct {
		what string
		do   func(context.Context, storage.Tx) error
		want error
	}{
		{"another owner", func(ctx context.Context, tx storage.Tx) error {
			return tx.PutLease(ctx, sink.LeaseName("s"), lease.Lease{Owner: "b", Token: 8})
		}, lease.ErrLost},
		{"the same process again", func(ctx context.Context, tx storage.Tx) error {
			return tx.PutLease(ctx, sink.LeaseName("s"), lease.Lease{Owner: "a", Token: 9})
		}, lease.ErrLost},
		{"a sink made again", func(ctx context.Context, tx storage.Tx) error {
			return errors.Join(tx.PutLease(ctx, sink.LeaseName("s"), lease.Lease{Owner: "a", Token: 7}),
				rows.Put(ctx, tx, &definitions{Revision: 5, All: []Definition{{Name: "s", Revision: 5}}}))
		}, sink.ErrStop},
	} {
		b.update(now.do)
		if _, err := b.s.Save(t.Context(), 7, at(20)); !errors.Is(err, now.want) {
			t.Errorf("%s: %v, want %v", now.what, err, now.want)
		}
		if got := b.load().Position.Cells[authority].At; got != 10 {
			t.Errorf("%s: a former owner has saved position %d", now.what, got)
		}
	}
}

// Progress from before the restore of a backup does not count, and tokens continue above the lost ones.
func TestP17_RestoredBackupFillsAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if _, err := b.s.Save(t.Context(), 7, at(10)); err != nil {
		t.Fatal(err)
	}
	era := b.load().Era
	if err := b.h.engine.Do(t.Context(), authority, func(c storage.Cell) error {
		return c.Exclusive(t.Context(), func(tx storage.Tx) error {
			head, err := tx.Head(t.Context())
			head.Returns++
			head.Incarnation++
			return errors.Join(err, tx.SetHead(t.Context(), head))
		})
	}); err != nil {
		t.Fatal(err)
	}
	if p := b.load(); p.Position.Installation != "" || p.Era <= era {
		t.Errorf("after a return the progress is %+v, era %d after %d", p.Position, p.Era, era)
	}
	if _, err := b.s.Save(t.Context(), 7, at(20)); !errors.Is(err, lease.ErrLost) {
		t.Errorf("the owner of before saves with %v", err)
	}
}

// Requests take effect at once, also on the owner's state in memory.
func TestAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one, two := locality.ID{1}, locality.ID{2}
	p := at(10)
	p.Dead = []sink.Letter{{ID: one}, {ID: two}}
	save := func(want int) {
		t.Helper()
		if asked, err := b.s.Save(t.Context(), 7, p); err != nil || len(asked) != want {
			t.Fatalf("%d requests, %v; want %d", len(asked), err, want)
		}
	}
	save(0)
	if n, err := b.h.Retry(t.Context(), "s", one); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if got := b.load(); len(got.Dead) != 1 || got.Dead[0].ID != two || len(got.Position.Again) != 1 {
		t.Errorf("after the request: %+v", got)
	}
	save(1) // the owner has not heard of it yet
	if got := b.load(); len(got.Dead) != 1 || len(got.Position.Again) != 1 {
		t.Errorf("after the owner has saved: %+v", got)
	}
	p.Dead = p.Dead[1:]
	save(0)
	if n, err := b.h.Drop(t.Context(), "s"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if got := b.load(); len(got.Dead) != 0 {
		t.Errorf("after the drop: %+v", got.Dead)
	}
	if _, err := b.h.Drop(t.Context(), "none"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}

// The log keeps undelivered changes for the time of the hold, and no longer.
func TestP17_LogsWaitForSinks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	begun := b.now
	b.update(func(ctx context.Context, tx storage.Tx) error {
		var all []changelog.Change
		for i := range 10 {
			all = append(all, changelog.Change{Kind: changelog.Changed, Time: begun.Add(time.Duration(i) * time.Hour)})
		}
		return tx.Append(ctx, all)
	})
	var last changelog.Seq
	b.update(func(ctx context.Context, tx storage.Tx) error {
		bounds, err := tx.Bounds(ctx)
		last = bounds.Last
		return err
	})
	if _, err := b.s.Save(t.Context(), 7, at(last-6)); err != nil {
		t.Fatal(err)
	}
	for _, when := range []struct {
		after time.Duration
		left  changelog.Seq // changes
	}{{48 * time.Hour, 6}, {72*time.Hour + 5*time.Hour + time.Minute, 4}, {100 * time.Hour, 0}} {
		b.now = begun.Add(when.after)
		holds, err := Holds(b.h.engine)(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b.update(func(ctx context.Context, tx storage.Tx) error {
			_, err := rollup.Trim(ctx, trimming{tx}, b.now.Add(-24*time.Hour), holds[authority], 100)
			return err
		})
		b.update(func(ctx context.Context, tx storage.Tx) error {
			bounds, err := tx.Bounds(ctx)
			if left := bounds.Last - bounds.Trimmed; left != when.left {
				t.Errorf("%v after the first change %d are left, want %d", when.after, left, when.left)
			}
			return err
		})
	}
}

// trimming is a transaction that only trims.
type trimming struct{ storage.Tx }

func (trimming) Wanted(context.Context) (changelog.Images, error) { return changelog.Images{}, nil }
func (trimming) Want(context.Context, changelog.Images) error     { return nil }
func (trimming) History(context.Context) (int64, error)           { return 0, nil }
func (trimming) List(context.Context, rollup.Over, []string, int64, int) ([]rollup.Item, error) {
	return nil, nil
}
