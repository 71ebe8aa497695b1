// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locus-db/locus/audits"
	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/counter"
	"github.com/locus-db/locus/internal/engine"
	"github.com/locus-db/locus/resolve"
	"github.com/locus-db/locus/rollups"
	"github.com/locus-db/locus/storage"
)

// Difference is a row that differs from its recomputation.
type Difference = resolve.Difference

// CheckProgress is the progress of a check.
type CheckProgress = resolve.Progress

// Checking configures Check.
type Checking struct {
	// Cells are the cells to check; nil for all. Rollups are checked only if all cells are.
	Cells []cell.ID
	// Repair recomputes differing rows from the rows that are correct.
	Repair bool
}

// Check compares everything that cells store with its recomputation, during reads and writes: the key directory,
// records, births, postings, edges, entities, the search index, decisions, logs and totals, counters, the copies of the
// cell map, and rollups. Without Repair it writes nothing. With it, rows that follow from records are recomputed; ids
// stay. Each difference is passed to found. The error names the parts that could not be compared.
func (h *Handle) Check(ctx context.Context, opts Checking, found func(Difference) error,
	progress func(CheckProgress) error) error {
	if opts.Repair {
		if err := h.engine.CheckWrites(); err != nil {
			return err
		}
	}
	_ = h.engine.Refresh(ctx) // without the authority there is an error about its own cell
	for _, id := range opts.Cells {
		if !h.engine.Map().Has(id) {
			return fmt.Errorf("check cell %v: %w", id, cell.ErrNoCell)
		}
	}
	c := &cellCheck{engine: h.engine, rollups: h.rollups, log: h.log, Checking: opts, found: found, progress: progress}
	if c.Cells == nil {
		c.Cells, c.whole = h.engine.Map().Cells(), true
	}
	err := h.engine.Resolver.Check(ctx,
		resolve.Checking{Cells: c.Cells, Repair: c.Repair, Report: found, Progress: progress})
	if errors.Is(err, resolve.ErrMigrating) || errors.Is(err, resolve.ErrUpgrading) ||
		errors.Is(err, resolve.ErrOutdated) {
		return err
	}
	for _, id := range c.Cells {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err = errors.Join(err, c.of(ctx, id, "counters", c.counters), c.of(ctx, id, "map", c.copies))
	}
	if authority := h.engine.Map().Authority(); slices.Contains(c.Cells, authority) {
		err = errors.Join(err, c.of(ctx, authority, "audit", c.audit))
	}
	if c.whole {
		err = errors.Join(err, c.rollupsOf(ctx))
	}
	return err
}

// cellCheck checks the data that the resolver does not check.
type cellCheck struct {
	engine  *engine.Engine
	rollups *rollups.Handle
	log     *audits.Handle
	Checking
	whole    bool
	found    func(Difference) error
	progress func(CheckProgress) error
}

func (c *cellCheck) of(ctx context.Context, id cell.ID, step string, check func(context.Context, cell.ID) error) error {
	if err := check(ctx, id); err != nil {
		return fmt.Errorf("check %s of cell %v: %w", step, id, err)
	}
	return c.tell(CheckProgress{Cell: id, Step: step, Done: true})
}

func (c *cellCheck) tell(p CheckProgress) error {
	if c.progress == nil {
		return nil
	}
	return c.progress(p)
}

const (
	checkedBuckets = 200
	adviceCounters = "it was counted and cannot be recomputed; a backup of the cell may contain it"
)

// counters compares the buckets of a cell page by page, each page in one snapshot.
func (c *cellCheck) counters(ctx context.Context, id cell.ID) error {
	for _, of := range []struct {
		name   string
		verify func(context.Context, storage.Tx, []counter.BucketKey) ([]counter.Damage, error)
	}{
		{"counter_day", bucketsOf(counter.Days)},
		{"counter_hour", bucketsOf(counter.Hours)},
		{"gauge_day", bucketsOf(counter.GaugeDays)},
		{"gauge_quarter", bucketsOf(counter.GaugeQuarters)},
		{"counter_compacted", func(ctx context.Context, tx storage.Tx, keys []counter.BucketKey) ([]counter.Damage, error) {
			return counter.VerifyCompacted(ctx, tx, keys)
		}},
	} {
		n := 0
		if err := c.pages(ctx, id, of.name, func(tx storage.Tx, rows [][]any) (found []Difference, err error) {
			keys := make([]counter.BucketKey, len(rows))
			for i, row := range rows {
				keys[i] = counter.BucketKey(row[0].(int64))
			}
			damages, err := of.verify(ctx, tx, keys)
			for _, d := range damages {
				found = append(found, Difference{
					What: "counter", Cell: id, ID: fmt.Sprintf("metric %d in %s", d.ID, of.name), Stored: d.Stored, Want: d.Want,
					Advice: adviceCounters,
				})
			}
			n += len(rows)
			return found, err
		}); err != nil {
			return err
		}
		if err := c.tell(CheckProgress{Cell: id, Step: "counters", Rows: n}); err != nil {
			return err
		}
	}
	return c.pages(ctx, id, "metric", func(_ storage.Tx, rows [][]any) ([]Difference, error) {
		return c.metrics(ctx, id, rows)
	})
}

func bucketsOf(table counter.Table) func(context.Context, storage.Tx, []counter.BucketKey) ([]counter.Damage, error) {
	return func(ctx context.Context, tx storage.Tx, keys []counter.BucketKey) ([]counter.Damage, error) {
		return counter.Verify(ctx, tx, table, keys)
	}
}

// metrics compares the names of metrics with the directory.
func (c *cellCheck) metrics(ctx context.Context, id cell.ID, rows [][]any) (found []Difference, err error) {
	m := c.engine.Map()
	keys := make([]cell.Key, len(rows))
	for i, row := range rows {
		name, _ := row[1].(string)
		keys[i] = m.KeyOf("", name)
	}
	puids, err := cell.NewDirectory[storage.Tx](c.engine.Cells).Lookup(ctx, keys)
	if err != nil {
		return nil, err
	}
	lo, _ := m.PuidRange(id)
	for i, row := range rows {
		if number := row[0].(int64); puids[i] != lo+number {
			found = append(found, Difference{
				What: "metric", Cell: id, ID: fmt.Sprint(number), Stored: fmt.Sprintf("is called %q", row[1]),
				Want: "a name that leads here", Advice: "its counts are those of another name: compare with a backup of the cell",
			})
		}
	}
	return found, nil
}

// pages reads a table page by page and reports the findings of look in each.
func (c *cellCheck) pages(ctx context.Context, id cell.ID, table string,
	look func(storage.Tx, [][]any) ([]Difference, error)) error {
	for after := []any(nil); ; {
		var rows [][]any
		var found []Difference
		if err := c.engine.View(ctx, id, func(tx storage.Tx) (err error) {
			if rows, err = tx.ReadRows(ctx, table, after, checkedBuckets); err == nil && len(rows) > 0 {
				found, err = look(tx, rows)
			}
			return err
		}); err != nil || len(rows) == 0 {
			return err
		}
		for _, d := range found {
			if err := c.found(d); err != nil {
				return err
			}
		}
		after = rows[len(rows)-1][:1]
	}
}

// copies compares the copies of the cell map in a cell with the maps in the authority.
func (c *cellCheck) copies(ctx context.Context, id cell.ID) error {
	found, err := differentMaps(ctx, c.engine, id)
	if err != nil {
		return err
	}
	for _, d := range found {
		if err := c.found(d); err != nil {
			return err
		}
	}
	return nil
}

// audit verifies the audit log, which is in the authority.
func (c *cellCheck) audit(ctx context.Context, id cell.ID) error {
	report, err := c.log.Verify(ctx, nil)
	if err != nil {
		return err
	}
	for _, p := range report.Problems {
		if err := c.found(Difference{
			What: "audit", Cell: id, ID: fmt.Sprintf("entry %d of chain %s", p.Seq, p.Chain), Stored: p.What,
			Want:   "the log as it was written",
			Advice: "compare with an export of the log, or with a backup of the cell",
		}); err != nil {
			return err
		}
	}
	return nil
}

// rollupsOf verifies all active rollups. With Repair, one that differs is rebuilt.
func (c *cellCheck) rollupsOf(ctx context.Context) error {
	list, err := c.rollups.List(ctx)
	if err != nil {
		return fmt.Errorf("check rollups: %w", err)
	}
	var failed error
	for _, r := range list {
		if r.Generation == 0 {
			continue
		}
		name, differs := r.Definition.Name, 0
		verify := c.rollups.Compare
		if c.Repair {
			verify = c.rollups.Verify
		}
		err := verify(ctx, name, func(v rollups.CellVerification) error {
			differs += v.Differs
			for _, d := range v.Differences {
				if err := c.found(Difference{
					What: "rollup", Cell: v.Cell, ID: name + " " + strings.Join(d.Group, ", "), Stored: d.Stored, Want: d.Recomputed,
					Repaired: c.Repair,
					Advice:   c.rebuilt(name),
				}); err != nil {
					return err
				}
			}
			return c.tell(CheckProgress{Cell: v.Cell, Step: "rollup " + name, Rows: v.Rows, Done: true})
		}, nil)
		if err == nil && differs > 0 && c.Repair {
			_, err = c.rollups.Rebuild(ctx, name)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("check rollup %s: %w", name, err))
		}
	}
	return failed
}

func (c *cellCheck) rebuilt(name string) string {
	if c.Repair {
		return "it is being counted again: locus rollup status " + name
	}
	return "locus rollup rebuild " + name
}
