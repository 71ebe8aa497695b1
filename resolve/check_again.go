// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/internal/delay"
	"github.com/locus-db/locus/storage"
)

// settle looks at rows again, once no redo entry of their records is open, and reports those that still
// differ. A repair does so under the lease.
func (c *checker) settle(ctx context.Context, id cell.ID, s step, found []suspect) error {
	if !c.Repair {
		return c.settleBeside(ctx, id, s, found)
	}
	for try := 0; len(found) > 0; try++ {
		if try == checkTries {
			return fmt.Errorf("%w: %s %s", ErrBusy, found[0].What, found[0].ID)
		}
		var err error
		if found, err = c.mended(ctx, id, s, found); err != nil {
			return err
		}
		if err := c.flush(); err != nil {
			return err
		}
		if len(found) > 0 {
			if err := delay.For(ctx, retryBlocked/4); err != nil {
				return err
			}
		}
	}
	return nil
}

// mended looks at the rows of suspects once more, repairs those that are certain, and returns those that
// are not yet.
func (c *checker) mended(ctx context.Context, id cell.ID, s step, found []suspect) (uncertain []suspect, err error) {
	c.mu.Lock()
	defer c.unlock()
	if err := c.quiet(ctx); err != nil {
		return nil, err
	}
	defer c.release(ctx) // other processes wait for their requests
	if found, err = c.again(ctx, id, s, found, c.read); err != nil || len(found) == 0 {
		return nil, err
	}
	certain, uncertain, err := c.divide(ctx, found)
	if err != nil {
		return nil, err
	}
	if len(certain) > 0 {
		err = c.repair(ctx, certain)
	}
	for _, f := range certain {
		c.report(f.Difference)
	}
	return uncertain, err
}

// again repeats the look at the rows of suspects.
func (c *checker) again(ctx context.Context, id cell.ID, s step, found []suspect, ask asking) ([]suspect, error) {
	var keys [][]any
	for _, f := range found {
		if !slices.ContainsFunc(keys, func(k []any) bool { return sameKey(k, f.row) }) {
			keys = append(keys, f.row)
		}
	}
	var rows [][]any
	if err := ask(ctx, id, func(tx storage.Tx) (err error) {
		rows, err = tx.RowsAt(ctx, s.table, keys)
		return err
	}); err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(row []any) bool { return row == nil })
	if len(rows) == 0 {
		return nil, nil
	}
	v := c.checks(id, ask, nil)
	if err := s.look(v, ctx, rows); err != nil {
		return nil, err
	}
	return v.found, nil
}

// quiet takes the lease, works off unfinished work and drops caches. The caller holds the lock.
func (c *checker) quiet(ctx context.Context) error {
	if err := c.acquireLease(ctx, 2*leasePatience); err != nil {
		return err
	}
	c.invalidateCaches()
	if err := c.work(ctx, nil, "", forever); err != nil {
		return errors.Join(err, c.recover(ctx, err))
	}
	return c.clear(ctx)
}

// divide separates suspects whose records have no open redo entry from the others. A record is put together
// with its redo entry, which is read after the record was.
func (c *checker) divide(ctx context.Context, found []suspect) (certain, uncertain []suspect, err error) {
	if c.lease == nil {
		return found, nil, nil
	}
	var all []entity.PUID
	for _, f := range found {
		for _, p := range f.about {
			if _, err := c.home(p); err == nil {
				all = append(all, p)
			}
		}
	}
	pending := map[entity.PUID]bool{}
	err = fromHomes(ctx, c.Resolver, c.read, unique(all), func(tx storage.Tx, group []entity.PUID) ([][]any, error) {
		keys := make([][]any, len(group))
		for i, p := range group {
			keys[i] = []any{int64(p)}
		}
		return tx.RowsAt(ctx, "redo", keys)
	}, func(group []entity.PUID, rows [][]any) {
		for i, p := range group {
			pending[p] = rows[i] != nil
		}
	})
	for _, f := range found {
		if slices.ContainsFunc(f.about, func(p entity.PUID) bool { return pending[p] }) {
			uncertain = append(uncertain, f)
		} else {
			certain = append(certain, f)
		}
	}
	return certain, uncertain, err
}

func sameKey(a, b []any) bool {
	return slices.EqualFunc(a, b, func(x, y any) bool { return fmt.Sprint(x) == fmt.Sprint(y) })
}
