// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
)

const (
	sqlPulse = "SELECT commits FROM locus_pulse"
	sqlBeat  = "UPDATE locus_pulse SET commits = commits + 1 RETURNING commits"

	// sqlStood reads the pulse of the cell on a new connection.
	sqlStood = "SELECT c.incarnation, p.commits FROM locus_cell AS c, locus_pulse AS p"
)

// Pulse increments the pulse if this process has written something since the last call. A counter in every
// transaction would make all writers wait for one row.
func (c *Cell) Pulse(ctx context.Context) (p cell.Pulse, err error) {
	m, sql := reading, sqlPulse
	if c.unbeaten.Swap(false) {
		m, sql = writing, sqlBeat
	}
	err = c.run(ctx, m, func(t *tx) error {
		if err := t.query(ctx, sql, func(r pgx.Rows) error { return r.Scan(&p.Commits) }); err != nil {
			return err
		}
		p.Incarnation = t.head.Incarnation
		return nil
	})
	if err != nil {
		c.unbeaten.Store(c.unbeaten.Load() || m == writing)
		return cell.Pulse{}, fmt.Errorf("read pulse of cell %s: %w", c, err)
	}
	c.raise(p)
	return p, nil
}

// Latest returns the pulse that was last read.
func (c *Cell) Latest() (p cell.Pulse, more bool) {
	if known := c.pulse.Load(); known != nil {
		p = *known
	}
	return p, c.unbeaten.Load()
}

func (c *Cell) raise(p cell.Pulse) {
	for {
		old := c.pulse.Load()
		if old != nil && !old.Before(p) || c.pulse.CompareAndSwap(old, &p) {
			return
		}
	}
}

// readPulse reads the pulse of a cell; it leaves p unchanged for a cell without an identity.
func readPulse(p *cell.Pulse) func(pgx.Rows) error {
	return eachRow(func(r pgx.Rows) error { return r.Scan(&p.Incarnation, &p.Commits) })
}

// stood refuses a database that is behind the pulse that this process had already seen: an old snapshot of it was
// restored while the process ran.
func (c *Cell) stood(p cell.Pulse, seen *cell.Pulse) error {
	if seen == nil || !p.Before(*seen) || c.opts.Restored || c.opts.Standby || c.opts.Unsafe {
		return nil
	}
	return fmt.Errorf("%w: %s is at %v and was seen at %v: a snapshot or a backup of it was put back: put its newest state back, or stop all processes and accept the loss with locus cell restored",
		cell.ErrWentBack, c.target.shown, p, *seen)
}

// Witnesses reads the table.
func (t *tx) Witnesses(ctx context.Context) (map[cell.ID]cell.Pulse, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	pulses := map[cell.ID]cell.Pulse{}
	err := t.query(ctx, "SELECT gen, idx, incarnation, commits FROM locus_witness", func(r pgx.Rows) error {
		var gen, index int64
		var p cell.Pulse
		err := r.Scan(&gen, &index, &p.Incarnation, &p.Commits)
		pulses[cell.ID{Gen: uint16(gen), Index: uint32(index)}] = p
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read pulses: %w", err)
	}
	return pulses, nil
}

// Attest runs one statement, which locks the rows in order. It does not count as a commit; otherwise two cells
// would attest each other for ever.
func (t *tx) Attest(ctx context.Context, pulses map[cell.ID]cell.Pulse) error {
	if err := t.write(ctx); err != nil || len(pulses) == 0 {
		return err
	}
	ids := make([]cell.ID, 0, len(pulses))
	for id := range pulses {
		ids = append(ids, id)
	}
	ids = inOrder(ids, cell.ID.Compare)
	t.exec(`INSERT INTO locus_witness AS w (gen, idx, incarnation, commits, sum) SELECT * FROM unnest($1::integer[], $2::bigint[], $3::integer[], $4::bigint[], $5::bigint[])
		ON CONFLICT (gen, idx) DO UPDATE SET incarnation = excluded.incarnation, commits = excluded.commits, sum = excluded.sum
		WHERE (excluded.incarnation, excluded.commits) > (w.incarnation, w.commits)`,
		column(ids, func(id cell.ID) int32 { return int32(id.Gen) }), column(ids, func(id cell.ID) int64 {
			return int64(id.Index)
		}),
		column(ids, func(id cell.ID) int32 { return int32(pulses[id].Incarnation) }), column(ids, func(id cell.ID) int64 {
			return int64(pulses[id].Commits)
		}),
		column(ids, func(id cell.ID) int64 {
			return cell.Sum(int64(id.Gen), int64(id.Index), int64(pulses[id].Incarnation), int64(pulses[id].Commits))
		}))
	return nil
}

// Mark writes one row.
func (t *tx) Mark(ctx context.Context, text string) error {
	if err := t.write(ctx); err != nil {
		return err
	}
	t.exec("INSERT INTO locus_mark (one, body) VALUES (1, $1) ON CONFLICT (one) DO UPDATE SET body = excluded.body", text)
	return nil
}

// Marked reads the database on a separate connection, without migrating or adopting it.
func (d *Driver) Marked(ctx context.Context, url string) (text string, err error) {
	t, err := parseURL(url, d.opts.Unsafe, d.opts.Standby)
	if err != nil {
		return "", err
	}
	on, err := t.insist(ctx, d.opts)
	if err != nil {
		return "", err
	}
	defer on.Close(ctx)
	var there bool
	if err = on.QueryRow(ctx, "SELECT to_regclass('locus_mark') IS NOT NULL").Scan(&there); err == nil && there {
		if err = on.QueryRow(ctx, "SELECT body FROM locus_mark").Scan(&text); errors.Is(err, pgx.ErrNoRows) {
			err = nil
		}
	}
	if err != nil {
		return "", fmt.Errorf("read mark of %s: %w", t.shown, explain(err))
	}
	return text, nil
}

// Rename updates the identity row.
func (t *tx) Rename(ctx context.Context, mapID string) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if t.mode < alone {
		return t.fail(errors.New("postgres: a cell is renamed in an Exclusive only"))
	}
	t.exec("UPDATE locus_cell SET map = $1, sum = $2", mapID, t.seal(map[string]any{"map": mapID}))
	return nil
}
