// SPDX-License-Identifier: Apache-2.0

package celltest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance"
)

// witnesses checks that the highest pulse of each cell is kept.
func witnesses(t tester, c Cell) {
	a, b := cell.ID{Index: 3}, cell.ID{Gen: math.MaxUint16, Index: math.MaxUint32}
	want := map[cell.ID]cell.Pulse{}
	for i, say := range []map[cell.ID]cell.Pulse{
		nil,
		{a: {Incarnation: 1, Commits: 7}},
		{a: {Incarnation: 1, Commits: 6}, b: {Incarnation: 2, Commits: 1 << 62}},
		{a: {Incarnation: 2, Commits: 1}, b: {Incarnation: 1, Commits: 1<<62 + 1}},
		{a: {Incarnation: 2, Commits: 0}},
	} {
		update(t, c, func(ctx context.Context, s cell.Store) error { return s.Attest(ctx, say) })
		for id, p := range say {
			if want[id].Before(p) {
				want[id] = p
			}
		}
		view(t, c, func(ctx context.Context, s cell.Store) error {
			got, err := s.Witnesses(ctx)
			if err == nil && !maps.Equal(got, want) {
				err = fmt.Errorf("%d: Witnesses gave %v, want %v", i, got, want)
			}
			return err
		})
	}
	err := c.Update(context.Background(), func(s cell.Store) error {
		return errors.Join(s.Attest(context.Background(), map[cell.ID]cell.Pulse{a: {Incarnation: 9}}),
			conformance.ErrRollback)
	})
	view(t, c, func(ctx context.Context, s cell.Store) error {
		got, err2 := s.Witnesses(ctx)
		if err2 == nil && (!errors.Is(err, conformance.ErrRollback) || !maps.Equal(got, want)) {
			err2 = fmt.Errorf("after %v: Witnesses gave %v, want %v", err, got, want)
		}
		return err2
	})
}

// mark checks that a mark is read at its own URL only.
func mark(t tester, k kind) {
	ctx := context.Background()
	db, other := k.identified(t, "cell"), k.open(t, "other", true)
	for _, text := range []string{"", "one", "two"} {
		if text != "" {
			exclusive(t, cellOf(db), func(ctx context.Context, s cell.Store) error { return s.Mark(ctx, text) })
		}
		if got, err := k.open(t, "cell", false).Marked(ctx); err != nil || got != text {
			t.Fatalf("Marked gave %q, %v, want %q", got, err, text)
		}
		if got, err := other.Marked(ctx); err != nil || got != "" {
			t.Fatalf("Marked of another database gave %q, %v, want none", got, err)
		}
	}
}

// tidy checks that the work ends, and that it changes no row.
func tidy(t tester, k kind) {
	ctx := context.Background()
	db := k.identified(t, "cell")
	c := cellOf(db)
	for i := range uint64(30) {
		allocate(t, c, keys(1+i, 1))
	}
	want, err := db.Pulse(ctx)
	if err != nil {
		t.Fatalf("Pulse: %v", err)
	}
	for n := 0; ; n++ {
		more, err := db.Tidy(ctx)
		if err != nil {
			t.Fatalf("Tidy: %v", err)
		}
		if !more {
			break
		}
		if n == 1000 {
			t.Fatalf("after %d calls of Tidy there is more to do", n)
		}
	}
	if got, err := db.Pulse(ctx); err != nil || got != want {
		t.Fatalf("Pulse after Tidy: %v, %v, want %v", got, err, want)
	}
}

// pulse checks that the pulse rises with lasting writes only.
func pulse(t tester, k kind) {
	ctx := context.Background()
	db := k.open(t, "cell", true)
	if err := db.Exclusive(ctx, func(s cell.Store) error { return s.PutCellMap(ctx, 1, []byte("a map")) }); err != nil {
		t.Fatalf("PutCellMap before Identify: %v", err)
	}
	if err := db.Identify(ctx, identity()); err != nil {
		t.Fatalf("Identify: %v", err)
	}
	c := cellOf(db)
	at := func(db handle) cell.Pulse {
		t.Helper()
		p, err := db.Pulse(ctx)
		if err != nil {
			t.Fatalf("Pulse: %v", err)
		}
		if latest, more := db.Latest(); latest != p || more {
			t.Fatalf("Latest after Pulse: %v, more %v, want %v", latest, more, p)
		}
		return p
	}
	last := at(db)
	if want := (cell.Pulse{Incarnation: 1}); last != want {
		t.Fatalf("Pulse of a new cell: %v, want %v", last, want)
	}
	for i := range uint64(3) {
		allocate(t, c, keys(1+i, 1))
		if p, more := db.Latest(); !more && !last.Before(p) {
			t.Fatalf("Latest after a commit: %v, no more, want a pulse above %v, or more", p, last)
		}
		p := at(db)
		if !last.Before(p) {
			t.Fatalf("Pulse after a commit: %v, want one above %v", p, last)
		}
		last = p
	}
	update(t, c, func(ctx context.Context, s cell.Store) error {
		return s.Attest(ctx, map[cell.ID]cell.Pulse{{Index: 1}: {Incarnation: 1, Commits: last.Commits}})
	})
	if p := at(k.open(t, "cell", false)); p != last {
		t.Fatalf("Pulse of the cell opened again, after nothing that lasts: %v, want %v", p, last)
	}
	setHead(t, c, cell.Head{Incarnation: 2})
	if p := at(db); p.Incarnation != 2 {
		t.Fatalf("Pulse in incarnation 2: %v", p)
	}
}

func rename(t tester, k kind) {
	ctx := context.Background()
	db := k.identified(t, "cell")
	if err := db.Update(ctx, func(s cell.Store) error { return s.Rename(ctx, "other") }); err == nil {
		t.Fatalf("Rename in an Update: no error")
	}
	exclusive(t, cellOf(db), func(ctx context.Context, s cell.Store) error { return s.Rename(ctx, "other") })
	again := k.open(t, "cell", false)
	if err := again.Identify(ctx, identity()); !errors.Is(err, cell.ErrIdentity) {
		t.Fatalf("Identify by the former map: %v, want ErrIdentity", err)
	}
	id := identity()
	id.Map = "other"
	if err := again.Identify(ctx, id); err != nil {
		t.Fatalf("Identify by the new map: %v", err)
	}
}
