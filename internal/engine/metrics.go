// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/resolve"
)

// Metrics returns the places of metrics: a metric that a cell has counted stays there, every other one is in the database
// of documents, if there is one.
func (e *Engine) Metrics() counter.Cells {
	if e.Documents == nil {
		return metricCells{e}
	}
	return metricsApart{metricCells{e}, e.Documents.Metrics()}
}

// metricCells are the cells of an installation as counters need them. A metric is a key of the directory
// that has no source, which no record can have: so growth, sealing and moving hold for metrics as for records.
// Its puid names the cell, and its place in the range of the cell's puids is its ID.
type metricCells struct{ engine *Engine }

// Places asks the directory.
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
	id, err := Locate(ctx, c.engine, puid, (*cell.Map).Puid)
	if err != nil {
		return counter.Place{Err: fmt.Errorf("metric %d: %w", puid, err)}
	}
	lo, _ := c.engine.Map().PuidRange(id)
	if puid-lo > counter.MaxID {
		return counter.Place{Err: fmt.Errorf("metric %d: %w", puid, cell.ErrNoRoom)}
	}
	return counter.Place{Cell: id.String(), ID: counter.ID(puid - lo)}
}

// puids returns the puid of each key, Nothing if it has none and is to get none. A cell that cannot be
// asked fails its own keys only.
func (c metricCells) puids(ctx context.Context, keys []cell.Key, create bool) ([]int64, []error) {
	errs := make([]error, len(keys))
	puids, err := c.ask(ctx, keys, create)
	if err == nil {
		return puids, errs
	}
	// Keys of one current cell share all older ones.
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
	Parallel(len(ids), func(n int) {
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

// ask asks for all keys or none. A commit whose answer is lost may have given a metric its place, which
// counts nothing: it is asked for again, and never says of a hit that it may have been counted.
func (c metricCells) ask(ctx context.Context, keys []cell.Key, create bool) ([]int64, error) {
	if !create {
		return c.engine.Keys.Lookup(ctx, keys)
	}
	rows, err := c.engine.Keys.Put(ctx, keys)
	if errors.Is(err, cell.ErrUnknownOutcome) {
		rows, err = c.engine.Keys.Put(ctx, keys)
	}
	switch {
	case errors.Is(err, cell.ErrUnknownOutcome):
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

// List names the cells, the oldest generation first, so that new ones come last.
func (c metricCells) List() []string {
	ids := c.engine.Map().Cells()
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = id.String()
	}
	return names
}

// Cell runs transactions of a cell as counters need them.
func (c metricCells) Cell(name string) counter.Database {
	id, wrong := cell.ParseID(name)
	run := func(how func(resolve.Cell, context.Context, func(resolve.Tx) error) error) func(context.Context, func(counter.Tx) error) error {
		return func(ctx context.Context, fn func(counter.Tx) error) error {
			if wrong != nil {
				return wrong
			}
			return wrapUnconfirmed(c.engine.DoSettled(ctx, id, func(db resolve.Cell) error {
				return how(db, ctx, func(tx resolve.Tx) error { return fn(tx) })
			}))
		}
	}
	return counter.Database{Update: run(resolve.Cell.Update), View: run(resolve.Cell.View)}
}

// wrapUnconfirmed adds counter.ErrUnconfirmed to errors of commits whose outcome is unknown.
func wrapUnconfirmed(err error) error {
	if errors.Is(err, cell.ErrUnknownOutcome) {
		return fmt.Errorf("%w: %w", counter.ErrUnconfirmed, err)
	}
	return err
}

// metricsApart are the cells and, behind them, the database of documents. A metric has one place for ever.
type metricsApart struct {
	cells     metricCells
	documents counter.Cells
}

// Places asks the directory first.
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

// List names the cells, then what the documents are called.
func (m metricsApart) List() []string { return append(m.cells.List(), m.documents.List()...) }

// Cell is one of either.
func (m metricsApart) Cell(name string) counter.Database {
	if slices.Contains(m.documents.List(), name) {
		return m.documents.Cell(name)
	}
	return m.cells.Cell(name)
}
