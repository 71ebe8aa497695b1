// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/internal/span"
	"github.com/locus-db/locus/storage"
)

// Pulse reads the pulse, which every transaction that writes something increments.
func (c *Cell) Pulse(ctx context.Context) (p cell.Pulse, err error) {
	read := func(rt storage.Tx) error {
		s, err := rt.(*tx).own(ctx)
		if err == nil {
			p = s.pulse()
		}
		return err
	}
	// A cell that is opened for one command needs no second connection for this row.
	select {
	case w := <-c.writer:
		err = c.err()
		if err == nil {
			err = c.read(w, span.Of(ctx), read)
		}
		c.writer <- w
	default:
		err = c.View(ctx, read)
	}
	if err != nil {
		return cell.Pulse{}, fmt.Errorf("read pulse of cell %s: %w", c, err)
	}
	c.raise(p)
	return p, nil
}

// Latest is exact, because only one process writes.
func (c *Cell) Latest() (cell.Pulse, bool) {
	if p := c.pulse.Load(); p != nil {
		return *p, false
	}
	return cell.Pulse{}, false
}

func (s *state) pulse() cell.Pulse {
	return cell.Pulse{Incarnation: s.head.Incarnation, Commits: uint64(s.commits)}
}

// raise records a committed pulse.
func (c *Cell) raise(p cell.Pulse) {
	for {
		old := c.pulse.Load()
		if old != nil && !old.Before(p) || c.pulse.CompareAndSwap(old, &p) {
			return
		}
	}
}

// count increments the commits if the transaction wrote something that lasts.
func (t *tx) count(ctx context.Context) error {
	if !t.lasting {
		return nil
	}
	var total int64
	if err := t.query(ctx, "SELECT total_changes()", func(r row) error { total = r.int(0); return nil }); err != nil {
		return err
	}
	if total == t.conn.changes {
		return nil
	}
	s, err := t.own(ctx)
	if err == nil && *s != (state{}) {
		s.commits++
		total++ // the state row, which is written next
		if s.head != t.was.head {
			total++ // and its checksum
		}
	}
	t.conn.changes = total
	return err
}

// Witnesses reads the table.
func (t *tx) Witnesses(ctx context.Context) (map[cell.ID]cell.Pulse, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	pulses := map[cell.ID]cell.Pulse{}
	err := t.query(ctx, "SELECT gen, idx, incarnation, commits FROM locus_witness", func(r row) error {
		pulses[cell.ID{Gen: uint16(r.int(0)), Index: uint32(r.int(1))}] = cell.Pulse{
			Incarnation: int(r.int(2)), Commits: uint64(r.int(3)),
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read pulses: %w", err)
	}
	return pulses, nil
}

// Attest runs a statement per row. It does not count as a commit; otherwise two cells would attest each other for
// ever.
func (t *tx) Attest(ctx context.Context, pulses map[cell.ID]cell.Pulse) error {
	if err := t.write(ctx); err != nil {
		return err
	}
	for id, p := range pulses {
		if err := t.exec(`INSERT INTO locus_witness (gen, idx, incarnation, commits, sum) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (gen, idx) DO UPDATE SET incarnation = excluded.incarnation, commits = excluded.commits, sum = excluded.sum
			WHERE (excluded.incarnation, excluded.commits) > (incarnation, commits)`,
			int64(id.Gen), int64(id.Index), int64(p.Incarnation), int64(p.Commits),
			cell.Sum(int64(id.Gen), int64(id.Index), int64(p.Incarnation), int64(p.Commits))); err != nil {
			return fmt.Errorf("write pulses: %w", err)
		}
	}
	return nil
}

// Mark writes one row.
func (t *tx) Mark(ctx context.Context, text string) error {
	if err := t.write(ctx); err != nil {
		return err
	}
	if err := t.exec("INSERT INTO locus_mark (one, body) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET body = excluded.body", text); err != nil {
		return fmt.Errorf("write mark: %w", err)
	}
	return nil
}

// Marked reads the file without migrating it; a file of another format has no mark.
func (d *Driver) Marked(_ context.Context, url string) (string, error) {
	path, err := d.path(url)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("read mark of %s: %w", path, err)
	}
	on, err := dial(path, []setting{{"busy_timeout", "5000", "5000"}})
	if err != nil {
		return "", notDatabase(path, err)
	}
	text := ""
	there, err := on.do("SELECT 1 FROM sqlite_schema WHERE name = 'locus_mark'")
	if err == nil && there != nil {
		var r record
		if r, err = on.do("SELECT body FROM locus_mark"); r != nil {
			text = r.text(0)
		}
	}
	if err = errors.Join(err, on.close()); err != nil {
		return "", fmt.Errorf("read mark of %s: %w", path, err)
	}
	return text, nil
}

// Rename updates the identity row.
func (t *tx) Rename(ctx context.Context, mapID string) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if t.mode != alone {
		return t.fail(errors.New("sqlite: a cell is renamed in an Exclusive only"))
	}
	sum, err := t.seal(ctx, map[string]any{"map": mapID})
	if err == nil {
		err = t.exec("UPDATE locus_cell SET map = ?, sum = ?", mapID, sum)
	}
	if err != nil {
		return fmt.Errorf("rename cell %s: %w", t.cell, err)
	}
	return nil
}
