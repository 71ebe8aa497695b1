// SPDX-License-Identifier: Apache-2.0

package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/storage"
)

// slowFailure is a cell whose failures take a minute each on the clock of the process.
type slowFailure struct {
	faulty
	clock *atomic.Int64
}

func (c slowFailure) slow(err error) error {
	if errors.Is(err, errDown) {
		c.clock.Add(int64(time.Minute))
	}
	return err
}

func (c slowFailure) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return c.slow(c.faulty.Update(ctx, fn))
}

func (c slowFailure) View(ctx context.Context, fn func(storage.Tx) error) error {
	return c.slow(c.faulty.View(ctx, fn))
}

func (c slowFailure) Read(ctx context.Context, fn func(storage.Tx) error) error {
	return c.slow(c.faulty.Read(ctx, fn))
}

// A cell that is back is noticed within seconds, however long the attempts at it took: on a slow machine, or where
// connecting times out, records would otherwise stay pending for many minutes.
func TestP09_ASlowAttemptIsRepeatedSoon(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	var clock atomic.Int64
	clock.Store(time.UnixMilli(1_800_000_000_000).UnixNano())
	cells := open(t, t.TempDir(), nil).cells
	broken := cells.Map().Cells()[0]
	in := processOver(t, wrapped{cells, func(id cell.ID, c storage.Cell) storage.Cell {
		if id == broken {
			c = slowFailure{faulty{c, &down, new(atomic.Int64)}, &clock}
		}
		return c
	}}, cells, "", func() time.Time { return time.Unix(0, clock.Add(int64(time.Microsecond))) })
	r := rand.New(rand.NewPCG(1, 5))
	ops := shuffled(r, world(40, 60))
	in.apply(t, ops[:len(ops)/2])
	down.Store(true)
	var failed []resolve.Op
	pending := 0
	for _, group := range groups(r, ops[len(ops)/2:], 20) {
		for i, res := range in.Apply(t.Context(), group) {
			if errors.Is(res.Err, cell.ErrUnavailable) {
				failed = append(failed, group[i])
			} else if res.Pending {
				pending++
			}
		}
	}
	if pending == 0 {
		t.Fatal("no record waits: the test does not reach what it is for")
	}
	other := func(key string) resolve.Op {
		for n := 0; ; n++ {
			ref := entity.Ref{Source: "crawl", Key: fmt.Sprint(key, " ", n)}
			if in.cells.Map().Home(in.cells.Map().KeyOf(ref.Source, ref.Key).Position()) != broken {
				return resolve.Op{Ref: ref, Attributes: entity.Attributes{"name": {"Quiet Harbour"}}}
			}
		}
	}
	clock.Add(int64(time.Hour))
	in.apply(t, []resolve.Op{other("while it is down")}) // with an attempt at all that waits
	down.Store(false)
	clock.Add(int64(20 * time.Second))
	in.apply(t, []resolve.Op{other("later")})
	in.each(t, func(tx storage.Tx, _ entity.PUID) error {
		waiting, err := tx.RedoDepth(t.Context())
		if waiting > 0 {
			t.Errorf("%d records wait in a cell", waiting)
		}
		return err
	})
	in.apply(t, failed)
	in.check(t)
}
