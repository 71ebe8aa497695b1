// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/storage"
)

const sqlHome = "SELECT system, timeline, oid FROM locus_cell"

// readHome reads the place that the cell was written in; home stays nil for a cell without an identity.
func readHome(home **place) func(pgx.Rows) error {
	return eachRow(func(r pgx.Rows) error {
		*home = new(place)
		return r.Scan(&(*home).system, &(*home).timeline, &(*home).oid)
	})
}

// recognise returns ErrStrange for a database other than the one the cell was written in.
func (c *Cell) recognise(at place, home *place) error {
	if home == nil || at == *home {
		return nil
	}
	if c.opts.Standby && at.timeline == 0 && at.system == home.system && at.oid == home.oid {
		return nil // a standby has no own timeline
	}
	what := "a copy of it, or restored from a backup"
	if at.system == home.system && at.oid == home.oid {
		what = "a replica that was promoted, or recovered to an earlier moment"
	}
	return fmt.Errorf("%w: %s is %s (written on server %s, timeline %d, as database %d, found on server %s, timeline %d, as %d): acknowledged writes may be missing",
		storage.ErrStrange, c.target.shown, what, home.system, home.timeline, home.oid, at.system, at.timeline, at.oid)
}

// queueWhere queues the check of the timeline.
func (t *tx) queueWhere() {
	t.queue.Queue(t.cell.target.profile.where()).Query(eachRow(func(r pgx.Rows) error {
		var home, at int64
		if err := r.Scan(&home, &at); err != nil {
			return err
		}
		if home != at && (at != 0 || !t.cell.opts.Standby) {
			return fmt.Errorf("%w: %s was written on timeline %d, the server is on %d", storage.ErrStrange,
				t.cell.target.shown, home, at)
		}
		return nil
	}))
}

// adoptionGap is the number of puids, log positions and lease tokens that an adopted cell skips, because some of them
// may have been given out.
const adoptionGap = 1 << 20

// Adopt makes a database the cell although it was refused with ErrStrange, because it is a restored backup, a copy
// or a promoted replica. Such a database may have lost the fact that it was sealed, and may give out puids and log
// positions twice. So Adopt
//
//   - seals or retires the cell if the newest map assigns its keys to newer generations,
//   - skips 2^20 puids, log positions and tokens of each lease, whose owner has then lost it,
//   - increments the incarnation, because the cell may be behind what others have seen of it, and
//   - records the database as the cell's home.
//
// newest reads the map of the authority. It is called while no other transaction can write in the cell, because a map
// read earlier may be stale. Adopting a database that is not strange does nothing. A database that a growth left behind
// before it was announced only changes its home.
//
// Only one database may be adopted as a cell: when a replica is promoted, the operator must make sure that the old
// primary does not come back.
func (c *Cell) Adopt(ctx context.Context, newest func(context.Context) (*cell.Map, error)) error {
	return c.adopt(ctx, func(ctx context.Context, _ *tx, _ cell.ID) (*cell.Map, error) { return newest(ctx) })
}

func (c *Cell) adopt(ctx context.Context, newest func(context.Context, *tx, cell.ID) (*cell.Map, error)) error {
	err := c.run(ctx, adopting, func(t *tx) error {
		var at place
		var home *place
		t.queue.Queue("SELECT " + c.target.profile.place()).QueryRow(func(row pgx.Row) error {
			return row.Scan(&at.system, &at.timeline, &at.oid)
		})
		t.queue.Queue(sqlHome).Query(readHome(&home))
		id, err := t.identity(ctx)
		if err != nil || home == nil || *home == at {
			return err
		}
		m, err := newest(ctx, t, id.Cell)
		if err != nil {
			return err
		}
		used, err := rows(ctx, t, scalar[int64], sqlUsed)
		if err != nil {
			return err
		}
		t.exec("UPDATE locus_cell SET system = $1, timeline = $2, oid = $3", at.system, at.timeline, at.oid)
		switch known := id.Map == m.Spec().ID; {
		case known && !m.Has(id.Cell) && id.Untouched(t.head, uint64(used[0]-id.Lo)):
			return nil // left by a growth that was not announced: it has given nothing out, and the next growth takes it
		case !known || !m.Has(id.Cell):
			return fmt.Errorf("%w: it is cell %s of the map %s, which is no cell of the map %s, epoch %d",
				cell.ErrIdentity, id.Cell, id.Map, m.Spec().ID, m.Epoch())
		}
		h := t.head.RecoverFromReplica(id.Cell, m)
		h.Incarnation++
		return errors.Join(t.outdateLeases(ctx), t.SetHead(ctx, h), t.Skip(ctx, adoptionGap))
	})
	if err != nil {
		return fmt.Errorf("adopt %s: %w", c.target.shown, err)
	}
	return nil
}

// outdateLeases gives all leases tokens that no owner has had, and raises their fences.
func (t *tx) outdateLeases(ctx context.Context) error {
	const most = 1000 // there are only a few leases, with fixed names
	rows, err := t.ReadRows(ctx, "locus_lease", nil, most)
	if err != nil {
		return err
	}
	for _, row := range rows {
		name := row[0].(string)
		l, err := t.Lease(ctx, name)
		if err != nil {
			return err
		}
		l.Token += adoptionGap
		l.Fence = l.Token
		if err := t.PutLease(ctx, name, l); err != nil {
			return err
		}
	}
	return nil
}

// Follow lets the driver adopt strange databases of the installation on its own, by the authority's current map.
// The authority itself is never adopted this way: only the operator who promoted or restored it can know that it
// holds the newest map.
func (d *Driver) Follow(cells *storage.Cells) { d.cells.Store(cells) }

// newest returns the map for an automatic adoption.
func (c *Cell) newest(ctx context.Context, t *tx, id cell.ID) (*cell.Map, error) {
	if cells := c.driver.cells.Load(); cells != nil {
		if authority := cells.Map().Authority(); authority != id {
			db, err := cells.Cell(authority)
			if err != nil {
				return nil, err
			}
			return readMap(ctx, db)
		}
	}
	if !c.opts.Restored {
		return nil, fmt.Errorf("%w: %s contains the cell map, which may not be the newest: if the server was promoted or restored, run locus cell restored",
			storage.ErrStrange, c.target.shown)
	}
	_, text, err := t.CellMap(ctx)
	if err != nil {
		return nil, err
	}
	return cell.ParseMap(text)
}

// readMap reads the newest map stored in a database.
func readMap(ctx context.Context, db cell.Database[storage.Tx]) (*cell.Map, error) {
	var text []byte
	if err := db.View(ctx, func(t storage.Tx) (err error) { _, text, err = t.CellMap(ctx); return err }); err != nil {
		return nil, fmt.Errorf("read the newest cell map: %w", err)
	}
	return cell.ParseMap(text)
}
