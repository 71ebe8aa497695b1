// SPDX-License-Identifier: Apache-2.0

package counters

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/storage"
)

// storesOf returns the stores of metrics. A metric that a cell already counts stays there; every other metric is in the
// document database, if there is one.
func storesOf(e *engine.Engine) counter.Cells {
	if e.Documents == nil {
		return metricCells{e}
	}
	return metricsApart{metricCells{e}, e.Documents.Metrics()}
}

// metricCells implements counter.Cells over the cells of an installation. A metric is a directory key without a source,
// which no record can have, so growth, sealing and moving treat metrics like records. Its puid names the cell, and its
// offset in the cell's puid range is its ID.
type metricCells struct{ engine *engine.Engine }

// Places looks the metrics up in the directory.
func (c metricCells) Places(ctx context.Context, metrics []counter.Metric, create, fresh bool) []counter.Place {
	m := c.engine.Map()
	keys := make([]cell.Key, len(metrics))
	for i, name := range metrics {
		if keys[i] = m.KeyOf("", string(name)); fresh {
			c.engine.Keys.Forget(keys[i])
		}
	}
	places := make([]counter.Place, len(metrics))
	puids, errs := c.puids(ctx, keys, create)
	for i, puid := range puids {
		switch {
		case errs[i] != nil:
			places[i].Err = errs[i]
		case puid != cell.Nothing:
			places[i] = c.place(ctx, puid)
		}
	}
	return places
}

func (c metricCells) place(ctx context.Context, puid int64) counter.Place {
	id, err := engine.Locate(ctx, c.engine, puid, (*cell.Map).Puid)
	if err != nil {
		return counter.Place{Err: fmt.Errorf("metric %d: %w", puid, err)}
	}
	lo, _ := c.engine.Map().PuidRange(id)
	if puid-lo > counter.MaxID {
		return counter.Place{Err: fmt.Errorf("metric %d: %w", puid, cell.ErrNoRoom)}
	}
	return counter.Place{Cell: id.String(), ID: counter.ID(puid - lo)}
}

// puids returns the puid of each key, Nothing for a key without one that is not to be created. An unreachable cell
// fails only its own keys.
func (c metricCells) puids(ctx context.Context, keys []cell.Key, create bool) ([]int64, []error) {
	errs := make([]error, len(keys))
	puids, err := c.ask(ctx, keys, create)
	if err == nil {
		return puids, errs
	}
	// Keys that share the current cell also share all older cells.
	groups := map[cell.ID][]int{}
	var ids []cell.ID
	for i, k := range keys {
		id := c.engine.Map().Home(k.Position())
		if groups[id] == nil {
			ids = append(ids, id)
		}
		groups[id] = append(groups[id], i)
	}
	puids = make([]int64, len(keys))
	engine.Parallel(len(ids), func(n int) {
		group := groups[ids[n]]
		of := make([]cell.Key, len(group))
		for j, i := range group {
			of[j] = keys[i]
		}
		found, err := []int64(nil), err
		if len(ids) > 1 {
			found, err = c.ask(ctx, of, create)
		}
		for j, i := range group {
			if errs[i] = err; err == nil {
				puids[i] = found[j]
			}
		}
	})
	return puids, errs
}

// ask looks all keys up, or fails. With create, a commit whose reply was lost may have assigned a place. That counts
// nothing, so the call is repeated and never reported as a hit that may have been counted.
func (c metricCells) ask(ctx context.Context, keys []cell.Key, create bool) ([]int64, error) {
	if !create {
		return c.engine.Keys.Lookup(ctx, keys)
	}
	rows, err := c.engine.Keys.Put(ctx, keys)
	if errors.Is(err, cell.ErrCommitUnknown) {
		rows, err = c.engine.Keys.Put(ctx, keys)
	}
	switch {
	case errors.Is(err, cell.ErrCommitUnknown):
		return nil, fmt.Errorf("%w: %s", cell.ErrUnavailable, err.Error())
	case err != nil:
		return nil, err
	}
	puids := make([]int64, len(rows))
	for i, row := range rows {
		puids[i] = row.PUID
	}
	return puids, nil
}

// List returns the names of the cells, the oldest generation first, so that new cells come last.
func (c metricCells) List() []string {
	ids := c.engine.Map().Cells()
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.String()
	}
	return names
}

// Cell returns the database of a cell, in the form that counters use.
func (c metricCells) Cell(name string) counter.Database {
	id, wrong := cell.ParseID(name)
	type transaction = func(storage.Cell, context.Context, func(storage.Tx) error) error
	run := func(how transaction) func(context.Context, func(counter.Tx) error) error {
		return func(ctx context.Context, fn func(counter.Tx) error) error {
			if wrong != nil {
				return wrong
			}
			return wrapCommitUnknown(c.engine.DoSettled(ctx, id, func(db storage.Cell) error {
				return how(db, ctx, func(tx storage.Tx) error { return fn(tx) })
			}))
		}
	}
	return counter.Database{Update: run(storage.Cell.Update), View: run(storage.Cell.View)}
}

// wrapCommitUnknown adds counter.ErrCommitUnknown to errors of commits whose outcome is unknown.
func wrapCommitUnknown(err error) error {
	if errors.Is(err, cell.ErrCommitUnknown) {
		return fmt.Errorf("%w: %w", counter.ErrCommitUnknown, err)
	}
	return err
}

// metricsApart combines the cells and the document database. A metric always stays in the one where it was created.
type metricsApart struct {
	cells     metricCells
	documents counter.Cells
}

// Places looks in the directory first, then in the document database.
func (m metricsApart) Places(ctx context.Context, metrics []counter.Metric, create, fresh bool) []counter.Place {
	places := m.cells.Places(ctx, metrics, false, fresh)
	var others []counter.Metric
	var at []int
	for i, p := range places {
		if p == (counter.Place{}) {
			others, at = append(others, metrics[i]), append(at, i)
		}
	}
	if len(others) > 0 {
		for i, p := range m.documents.Places(ctx, others, create, fresh) {
			places[at[i]] = p
		}
	}
	return places
}

// List returns the names of the cells, then those of the document database.
func (m metricsApart) List() []string { return append(m.cells.List(), m.documents.List()...) }

// Cell returns the database of that name, from either.
func (m metricsApart) Cell(name string) counter.Database {
	if slices.Contains(m.documents.List(), name) {
		return m.documents.Cell(name)
	}
	return m.cells.Cell(name)
}
