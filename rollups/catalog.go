// SPDX-License-Identifier: Apache-2.0

package rollups

import (
	"context"
	"reflect"
	"sync/atomic"

	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage"
)

// catalog is the catalogue of rollups as this process last read it.
type catalog struct {
	engine  *engine.Engine
	last    atomic.Pointer[rollup.Catalog]
	reading chan struct{} // semaphore of one: a slow read cannot overwrite a newer one
	changed func()        // called after a read that differs from the one before
}

func newCatalog(e *engine.Engine, changed func()) *catalog {
	return &catalog{engine: e, reading: make(chan struct{}, 1), changed: changed}
}

// known returns the catalogue as last read; ok reports whether it has been read.
func (c *catalog) known() (last rollup.Catalog, ok bool) {
	if p := c.last.Load(); p != nil {
		return *p, true
	}
	return nil, false
}

// refresh reads the catalogue.
func (c *catalog) refresh(ctx context.Context) error {
	select {
	case c.reading <- struct{}{}:
		defer func() { <-c.reading }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	now, err := c.read(ctx)
	if err == nil && !c.engine.Alone() {
		err = c.engine.Resolver.Reload(ctx) // a rollup's kind may have been created by another process
	}
	if err == nil {
		if before := c.last.Swap(&now); before != nil && !reflect.DeepEqual(*before, now) {
			c.changed()
		}
	}
	return err
}

// read returns the catalogue that is stored.
func (c *catalog) read(ctx context.Context) (now rollup.Catalog, err error) {
	err = c.engine.View(ctx, c.engine.Map().Authority(), func(tx storage.Tx) error {
		now, err = tx.Rollups(ctx)
		return err
	})
	return now, err
}
