// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/rollup"
	"github.com/locus-db/locus/storage/internal/document"
)

// Rollups reads the table in order. In an Update no other transaction can write it.
func (t *tx) Rollups(ctx context.Context) ([]rollup.Rollup, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	all, err := rows(ctx, t, readJSON[rollup.Rollup], "SELECT body FROM rollup ORDER BY name")
	if err != nil {
		return nil, fmt.Errorf("read rollups: %w", err)
	}
	return all, nil
}

// readJSON decodes a row that is one JSON document.
func readJSON[T any](r row) (of T, err error) {
	if err = json.Unmarshal([]byte(r.text(0)), &of); err != nil {
		err = cell.Damaged("rollup", "", err)
	}
	return of, err
}

// PutRollup writes one row.
func (t *tx) PutRollup(ctx context.Context, r rollup.Rollup) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	err := t.putJSON("INSERT INTO rollup (name, body, sum) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET body = excluded.body, sum = excluded.sum", r.Name, r)
	if err != nil {
		return fmt.Errorf("put rollup %s: %w", r.Name, err)
	}
	return nil
}

// putJSON writes a JSON document and its checksum under a key.
func (t *tx) putJSON(sql string, key, of any) error {
	text, err := json.Marshal(of)
	if err != nil {
		return t.fail(err)
	}
	return t.exec(sql, key, string(text), cell.Sum(key, string(text)))
}

// Generations reads the table in order. In an Update no other transaction can write it.
func (t *tx) Generations(ctx context.Context) ([]rollup.Generation, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	all, err := rows(ctx, t, readJSON[rollup.Generation], "SELECT body FROM rollup_generation ORDER BY number")
	if err != nil {
		return nil, fmt.Errorf("read generations of rollups: %w", err)
	}
	return all, nil
}

// PutGeneration writes one row.
func (t *tx) PutGeneration(ctx context.Context, g rollup.Generation) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	err := t.putJSON("INSERT INTO rollup_generation (number, body, sum) VALUES (?, ?, ?) ON CONFLICT (number) DO UPDATE SET body = excluded.body, sum = excluded.sum", g.Number, g)
	if err != nil {
		return fmt.Errorf("put generation %d of rollup %s: %w", g.Number, g.Definition.Name, err)
	}
	return nil
}

// DeleteGeneration deletes one row.
func (t *tx) DeleteGeneration(ctx context.Context, number int64) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if err := t.exec("DELETE FROM rollup_generation WHERE number = ?", number); err != nil {
		return fmt.Errorf("delete generation %d: %w", number, err)
	}
	return nil
}

const (
	sqlRollupRows = "SELECT j.key, r.body FROM json_each(?) AS j CROSS JOIN rollup_row AS r ON r.generation = ? AND r.key = unhex(j.value)"
	sqlScanFirst  = "SELECT key, body FROM rollup_row WHERE generation = ? AND key >= ? AND key < ? ORDER BY key LIMIT +?"
	sqlScanLast   = "SELECT key, body FROM rollup_row WHERE generation = ? AND key >= ? AND key < ? ORDER BY key DESC LIMIT +?"
	sqlPutRow     = "INSERT INTO rollup_row (generation, key, body) VALUES (?, ?, ?) ON CONFLICT (generation, key) DO UPDATE SET body = excluded.body"
	sqlDeleteRow  = "DELETE FROM rollup_row WHERE generation = ? AND key = ?"
	sqlDropRows   = "DELETE FROM rollup_row WHERE (generation, key) IN (SELECT generation, key FROM rollup_row WHERE generation = ? LIMIT +?)"
)

// Rows runs one statement.
func (t *tx) Rows(ctx context.Context, generation int64, keys [][]byte) ([][]byte, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	bodies := make([][]byte, len(keys))
	if len(keys) == 0 {
		return bodies, nil
	}
	err := t.query(ctx, sqlRollupRows, func(r row) error { bodies[r.int(0)] = r.blob(1); return nil },
		hexes(t, keys, func(key *[]byte) []byte { return *key }), generation)
	if err != nil {
		return nil, fmt.Errorf("read %d rows of generation %d: %w", len(keys), generation, err)
	}
	return bodies, nil
}

// ScanRows runs a statement per range, which reads the table in order.
func (t *tx) ScanRows(ctx context.Context, generation int64, ranges []rollup.Range) ([][]rollup.Row, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	answers := make([][]rollup.Row, len(ranges))
	for i, r := range ranges {
		sql := sqlScanFirst
		if r.Last {
			sql = sqlScanLast
		}
		from, to := ends(r)
		var err error
		if answers[i], err = rows(ctx, t, readRollupRow, sql, generation, from, to, int64(r.Limit)); err != nil {
			return nil, fmt.Errorf("scan rows of generation %d: %w", generation, err)
		}
	}
	return answers, nil
}

func readRollupRow(r row) (rollup.Row, error) {
	return rollup.Row{Key: r.blob(0), Body: r.blob(1)}, nil
}

// above sorts after every key, because keys are shorter.
var above = bytes.Repeat([]byte{0xff}, 2001)

// ends returns the range [from, to) of keys.
func ends(r rollup.Range) (from, to []byte) {
	from, to = append([]byte{}, r.Prefix...), above
	if r.After != nil && bytes.Compare(r.After, r.Prefix) >= 0 {
		from = append(append([]byte{}, r.After...), 0) // the smallest key after it
	}
	if next, ok := document.Beyond(r.Prefix); ok {
		to = next
	}
	return from, to
}

// PutRows runs a statement per row, in key order.
func (t *tx) PutRows(ctx context.Context, generation int64, rows []rollup.Row) (err error) {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if of := t.statement(sqlPutRow); of.On() {
		defer func() { of.End(err) }()
	}
	put, err := t.conn.prepare(sqlPutRow)
	if err != nil {
		return t.fail(err)
	}
	rows = inOrder(rows, func(a, b rollup.Row) int { return bytes.Compare(a.Key, b.Key) })
	err = each(t, sqlDeleteRow, rows, func(remove *stmt, r rollup.Row) error {
		if r.Body == nil {
			return remove.exec(generation, r.Key)
		}
		return put.exec(generation, r.Key, r.Body)
	})
	if err != nil {
		return fmt.Errorf("put %d rows of generation %d: %w", len(rows), generation, err)
	}
	return nil
}

// DropRows runs one statement.
func (t *tx) DropRows(ctx context.Context, generation int64, limit int) (int, error) {
	n, err := t.drop(ctx, sqlDropRows, generation, limit)
	if err != nil {
		return 0, fmt.Errorf("drop rows of generation %d: %w", generation, err)
	}
	return n, nil
}
