// SPDX-License-Identifier: Apache-2.0

package celltest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/locus-db/locus/cell"
)

func nothingIsMadeUnasked(t tester, k kind) {
	ctx := context.Background()
	for range 2 {
		db, err := k.dial(ctx, k.URL("none"), false)
		if db != nil || !errors.Is(err, cell.ErrMissing) {
			t.Fatalf("Dial of a database that is not there: %v, %v, want ErrMissing", db, err)
		}
	}
	k.open(t, "one", true)
	k.open(t, "one", true)
	k.open(t, "one", false)
	if _, err := k.dial(ctx, k.URL("two"), false); !errors.Is(err, cell.ErrMissing) {
		t.Fatalf("Dial of a database beside one that is there: %v, want ErrMissing", err)
	}
}

// keepsAMapBeforeItHasAName creates a cell as cell.OpenCells does.
func keepsAMapBeforeItHasAName(t tester, k kind) {
	ctx := context.Background()
	db := k.open(t, "new", true)
	wantNew := func(head cell.Head, epoch uint64, text string) {
		t.Helper()
		if err := db.View(ctx, func(s cell.Store) error {
			gotHead, err := s.Head(ctx)
			if err != nil {
				return err
			}
			gotEpoch, gotText, err := s.CellMap(ctx)
			if err == nil && (gotHead != head || gotEpoch != epoch || string(gotText) != text) {
				err = fmt.Errorf("head %+v, map %d %q, want %+v, %d %q", gotHead, gotEpoch, gotText, head, epoch, text)
			}
			return err
		}); err != nil {
			t.Fatalf("a new database: %v", err)
		}
	}
	wantNew(cell.Head{}, 0, "")
	if err := db.Exclusive(ctx, func(s cell.Store) error {
		if _, _, err := s.CellMap(ctx); err != nil {
			return err
		}
		return s.PutCellMap(ctx, 1, []byte("one"))
	}); err != nil {
		t.Fatalf("write the map of a new database: %v", err)
	}
	wantNew(cell.Head{}, 1, "one")
	db = k.open(t, "new", false)
	wantNew(cell.Head{}, 1, "one")
	if err := db.Identify(ctx, identity()); err != nil {
		t.Fatalf("Identify: %v", err)
	}
	wantNew(cell.Head{Incarnation: 1}, 1, "one")
}

// mapOfTheFirst lets two processes create one installation at the same time.
func mapOfTheFirst(t tester, k kind) {
	ctx := context.Background()
	const makers = 8
	var saw [makers]string
	var errs [makers]error
	k.open(t, "new", true)
	var wg sync.WaitGroup
	for i := range makers {
		wg.Go(func() {
			errs[i] = func() error {
				db, err := k.dial(ctx, k.URL("new"), true)
				if err != nil {
					return err
				}
				err = db.Exclusive(ctx, func(s cell.Store) error {
					if epoch, _, err := s.CellMap(ctx); err != nil || epoch != 0 {
						return err
					}
					return s.PutCellMap(ctx, 1, fmt.Append(nil, i))
				})
				if err == nil {
					err = db.View(ctx, func(s cell.Store) error {
						_, text, err := s.CellMap(ctx)
						saw[i] = string(text)
						return err
					})
				}
				return errors.Join(err, db.Close())
			}()
		})
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatalf("makers of one database: %v", err)
	}
	for _, text := range saw {
		if text == "" || text != saw[0] {
			t.Fatalf("makers of one database saw the maps %q", saw)
		}
	}
}

func onlyOneIdentity(t tester, k kind) {
	ctx := context.Background()
	db := k.identified(t, "cell")
	exclusive(t, cellOf(db), func(ctx context.Context, s cell.Store) error {
		return s.SetHead(ctx, cell.Head{Incarnation: 1, KnownEpoch: 1})
	})
	for name, change := range map[string]func(*cell.Identity){
		"another map":        func(id *cell.Identity) { id.Map = "other" },
		"another cell":       func(id *cell.Identity) { id.Cell.Index++ },
		"another generation": func(id *cell.Identity) { id.Cell.Gen++ },
		"another range":      func(id *cell.Identity) { id.Lo -= 1 << 32; id.Hi -= 1 << 32 },
		"other rules":        func(id *cell.Identity) { id.Rules = "place/2" },
	} {
		for _, db := range []handle{db, k.open(t, "cell", false), k.open(t, "cell", true)} {
			id := identity()
			change(&id)
			if err := db.Identify(ctx, id); !errors.Is(err, cell.ErrIdentity) {
				t.Fatalf("a cell identified as %s: %v, want ErrIdentity", name, err)
			}
		}
	}
	for _, db := range []handle{db, k.open(t, "cell", false)} {
		if err := db.Identify(ctx, identity()); err != nil {
			t.Fatalf("a cell identified again: %v", err)
		}
	}
}

// takesAnotherRange covers growths that were abandoned before they were announced.
func takesAnotherRange(t tester, k kind) {
	ctx := context.Background()
	db := k.identified(t, "cell")
	second := identity()
	second.Lo, second.Hi = second.Lo-1<<32, second.Hi-1<<32
	for _, id := range []cell.Identity{second, identity(), second} {
		if err := db.Identify(ctx, id); err != nil {
			t.Fatalf("an unused cell with another range: %v", err)
		}
	}
	again := k.open(t, "cell", false)
	if err := errors.Join(again.Identify(ctx, identity()), again.Identify(ctx, second)); err != nil {
		t.Fatalf("identified again: %v", err)
	}
	if err := db.Identify(ctx, identity()); err != nil {
		t.Fatalf("taken from the other handle: %v", err)
	}
	knownEpoch := func(s cell.Store) error { return s.SetHead(ctx, cell.Head{Incarnation: 1, KnownEpoch: 2}) }
	if err := again.Exclusive(ctx, knownEpoch); !errors.Is(err, cell.ErrIdentity) {
		t.Fatalf("the head of a cell that another handle took: %v, want ErrIdentity", err)
	}
	if err := again.Identify(ctx, second); err != nil {
		t.Fatalf("taken back: %v", err)
	}
	if got := allocate(t, cellOf(again), keys(1, 1))[0].PUID; got != second.Lo+1 {
		t.Fatalf("the first puid is %d, want %d", got, second.Lo+1)
	}
	if err := db.Identify(ctx, identity()); !errors.Is(err, cell.ErrIdentity) {
		t.Fatalf("a cell that has given puids, with another range: %v, want ErrIdentity", err)
	}
}

func identityAtOnce(t tester, k kind) {
	ctx := context.Background()
	const makers = 8
	var errs [makers]error
	k.open(t, "cell", true)
	var wg sync.WaitGroup
	for i := range makers {
		wg.Go(func() {
			db, err := k.dial(ctx, k.URL("cell"), true)
			if err != nil {
				errs[i] = err
				return
			}
			id := identity()
			id.Map = fmt.Sprint(i % 2)
			errs[i] = errors.Join(db.Identify(ctx, id), db.Close())
		})
	}
	wg.Wait()
	for i := range 2 {
		if (errs[i] == nil) == (errs[1-i] == nil) {
			t.Fatalf("one cell told that it is of two maps: %v, %v", errs[0], errs[1])
		}
	}
	for i, err := range errs {
		if (err == nil) != (errs[i%2] == nil) || err != nil && !errors.Is(err, cell.ErrIdentity) {
			t.Fatalf("one cell told by several at once which it is: %v", errs)
		}
	}
}
