// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// between calls again before the first repeated look at records.
type between struct {
	storage.Cell
	again func()
}

type betweenTx struct {
	storage.Tx
	again func()
}

func (b between) View(ctx context.Context, fn func(storage.Tx) error) error {
	return b.Cell.View(ctx, func(tx storage.Tx) error { return fn(betweenTx{tx, b.again}) })
}

func (b betweenTx) RowsAt(ctx context.Context, table string, keys [][]any) ([][]any, error) {
	if table == "record" {
		b.again()
	}
	return b.Tx.RowsAt(ctx, table, keys)
}

// The row of a record differs in its key, and from the second look on in its birth too, so the two
// differences become certain one look apart.
func TestP09_CheckEndsWhereOneRowDiffersTwice(t *testing.T) {
	t.Parallel()
	var once sync.Once
	unborn := func() error { return nil }
	in := open(t, t.TempDir(), func(_ cell.ID, c storage.Cell) storage.Cell {
		return between{c, func() {
			once.Do(func() {
				if err := unborn(); err != nil {
					t.Error(err)
				}
			})
		}}
	})
	in.apply(t, world(3, 20))
	in.clean(t)
	once = sync.Once{}

	var record, key []any
	m := in.cells.Map()
	for _, id := range m.Cells() {
		c, err := in.cells.Cell(id)
		if err != nil {
			t.Fatal(err)
		}
		err = c.Update(t.Context(), func(tx storage.Tx) error {
			keys, err := tx.ReadRows(t.Context(), "locus_key", nil, 1000)
			if err != nil || key != nil {
				return err
			}
			records, err := tx.ReadRows(t.Context(), "record", nil, 1000)
			for _, k := range keys {
				if i := slices.IndexFunc(records, func(r []any) bool { return r[0] == k[2] }); i >= 0 {
					record, key = records[i], k
				}
			}
			if key == nil {
				return err
			}
			return errors.Join(err, tx.DeleteRows(t.Context(), "locus_key", [][]any{key[:2]}))
		})
		if err != nil {
			t.Fatal(err)
		}
		if key != nil {
			unborn = func() error {
				return c.Update(t.Context(), func(tx storage.Tx) error {
					births, err := tx.ReadRows(t.Context(), "birth", nil, 1000)
					i := slices.IndexFunc(births, func(b []any) bool { return b[1] == record[0] })
					if i < 0 {
						return errors.Join(err, errors.New("the record has no birth"))
					}
					return errors.Join(err, tx.DeleteRows(t.Context(), "birth", [][]any{births[i][:1]}))
				})
			}
			break
		}
	}
	var what []string
	for _, d := range in.differences(t, false) {
		if d.What == "key" || d.What == "birth" {
			what = append(what, d.What)
		}
	}
	if want := []string{"key", "birth"}; !slices.Equal(what, want) {
		t.Errorf("the check reports %v of the record, want %v", what, want)
	}
}

// untold is a cell whose number of allocated puids cannot be read.
type untold struct {
	storage.Cell
	on *atomic.Bool
}

type untoldTx struct{ storage.Tx }

func (u untold) View(ctx context.Context, fn func(storage.Tx) error) error {
	return u.Cell.View(ctx, func(tx storage.Tx) error {
		if u.on.Load() {
			tx = untoldTx{tx}
		}
		return fn(tx)
	})
}

func (u untoldTx) RowsAt(ctx context.Context, table string, keys [][]any) ([][]any, error) {
	if table == cell.Total {
		return nil, cell.ErrUnavailable
	}
	return u.Tx.RowsAt(ctx, table, keys)
}

// The server of a cell stops while the totals of its allocations are read.
func TestCheck_WithoutACellsTotal(t *testing.T) {
	t.Parallel()
	var on atomic.Bool
	in := open(t, t.TempDir(), func(_ cell.ID, c storage.Cell) storage.Cell { return untold{c, &on} })
	in.apply(t, world(3, 20))
	on.Store(true)
	err := in.Check(t.Context(), resolve.Checking{Report: func(d resolve.Difference) error {
		t.Errorf("a difference: %+v", d)
		return nil
	}})
	if !errors.Is(err, cell.ErrUnavailable) {
		t.Errorf("the check ends with %v, want that the cell is unavailable", err)
	}
}

// The key of a metric is written before its first hit. If the hit is refused, the key leads to a number that nothing has.
func TestP09_AKeyWithoutAHitIsNoDamage(t *testing.T) {
	t.Parallel()
	in := open(t, t.TempDir(), nil)
	in.apply(t, world(5, 20))
	directory := cell.NewDirectory[storage.Tx](in.cells)
	if _, err := directory.Put(t.Context(), []cell.Key{in.cells.Map().KeyOf("", "page /never counted")}); err != nil {
		t.Fatal(err)
	}
	in.clean(t)
}

// A record whose row is lost is complete again after its source was put again, as the check advises.
func TestP09_ALostRecordIsPutAgain(t *testing.T) {
	t.Parallel()
	in := open(t, t.TempDir(), nil)
	ops := world(5, 20)
	in.apply(t, ops)
	in.hurt(t, damage{do: change("record", 1, liveRow, nil)}, rand.New(rand.NewPCG(5, 2)))
	in.apply(t, ops)
	in.differences(t, true)
	in.clean(t)
	in.check(t)
}
