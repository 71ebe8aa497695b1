// SPDX-License-Identifier: Apache-2.0

package cell_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/conformance/celltest"
)

// counted is a driver that opens databases slowly and counts concurrent opens.
type counted struct {
	cell.Driver[cell.Store]
	t  *testing.T
	mu *sync.Mutex
	at map[string]int
}

func (d *counted) Dial(ctx context.Context, url string, create bool) (cell.Opened[cell.Store], error) {
	d.enter(url, 1)
	defer d.enter(url, -1)
	time.Sleep(time.Second) //nolint:forbidigo // of a bubble
	return d.Driver.Dial(ctx, url, create)
}

func (d *counted) enter(url string, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at[url] += n; d.at[url] > 1 {
		d.t.Errorf("%s is opened by two at a time", url)
	}
}

// Copies of a map that lists new cells open these cells while they are created: two concurrent opens of a file could
// both create it.
func TestEnsure_NobodyElseOpensTheCell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := &celltest.Memory{}
		o := options(memory, 4)
		d := &counted{t: t, mu: &sync.Mutex{}, at: map[string]int{}}
		o.Driver = func(url string) (cell.Driver[cell.Store], error) {
			inner, err := memory.Driver(url)
			return &counted{inner, d.t, d.mu, d.at}, err
		}
		c, err := cell.OpenCells(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer closeCells(t, c)
		if err := c.Swap(t.Context(), next(t, c, announced)); err != nil {
			t.Fatal(err)
		}
		if err := c.Ensure(t.Context(), c.Map().Cells()); err != nil {
			t.Fatal(err)
		}
		for _, id := range c.Map().Cells() {
			h, err := c.Cell(id)
			if err == nil {
				err = h.View(t.Context(), func(cell.Store) error { return nil })
			}
			if err != nil {
				t.Error(fmt.Errorf("cell %v: %w", id, err))
			}
		}
	})
}
