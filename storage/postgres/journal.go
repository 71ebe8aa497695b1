// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/locality"
)

// note is the key of a row that a transaction has written or deleted. Transactions write the journal themselves. A
// trigger would number an entry when the row is written and not when the transaction commits, unless it made all other
// writers wait from then on.
type note struct {
	table string
	num   *int64
	num2  *int64
	bytes []byte
}

// noting reports whether changes are journaled, or may be. Notes are dropped if the head shows later that they are not
// needed.
func (t *tx) noting() bool { return t.journal || !t.begun }

func (t *tx) noteNumbers(table string, keys []int64) {
	if t.noting() {
		for _, k := range keys {
			t.notes = append(t.notes, note{table: table, num: &k})
		}
	}
}

func (t *tx) notePairs(table string, as, bs []int64) {
	if t.noting() {
		for i, a := range as {
			t.notes = append(t.notes, note{table: table, num: &a, num2: &bs[i]})
		}
	}
}

func (t *tx) noteIDs(table string, ids []locality.ID) {
	if t.noting() {
		for _, id := range ids {
			t.notes = append(t.notes, note{table: table, bytes: bytes.Clone(id[:])})
		}
	}
}

func (t *tx) noteKeys(keys []cell.Key) {
	if t.noting() {
		for _, k := range keys {
			t.notes = append(t.notes, note{table: "locus_key", num: &k.Ring, bytes: bytes.Clone(k.Digest[:])})
		}
	}
}

func noteBytes[K ~string | ~[]byte](t *tx, table string, keys []K) {
	if t.noting() {
		for _, k := range keys {
			t.notes = append(t.notes, note{table: table, bytes: []byte(k)})
		}
	}
}

// noteRow notes a row by the values of its key.
func (t *tx) noteRow(table string, key []any) {
	if !t.noting() {
		return
	}
	n := note{table: table}
	for _, v := range key {
		switch v := v.(type) {
		case int64:
			if n.num == nil {
				n.num = &v
			} else {
				n.num2 = &v
			}
		case []byte:
			n.bytes = v
		case string:
			n.bytes = []byte(v)
		}
	}
	t.notes = append(t.notes, n)
}

// key returns the key of the noted row, column by column.
func (n note) key() (key []any) {
	if n.num != nil {
		key = append(key, *n.num)
	}
	if n.num2 != nil {
		key = append(key, *n.num2)
	}
	switch {
	// keys that end with text
	case n.table == "rollup", n.table == "definition", n.table == "counter_key", n.table == "decision":
		key = append(key, string(n.bytes))
	case n.bytes != nil:
		key = append(key, n.bytes)
	}
	return key
}

// sqlNote numbers the entries while it holds the row of totals, so that their order is the commit order. It also
// notes the appended changes, whose positions are known only here.
const sqlNote = `WITH total AS (UPDATE locus_total SET noted = noted + $1 + $2 RETURNING noted - $1 - $2 AS before, seq)
	INSERT INTO locus_journal (seq, tab, num, num2, bytes)
	SELECT total.before + j.n, j.tab, j.num, j.num2, j.bytes
	FROM total, unnest($3::text[], $4::bigint[], $5::bigint[], $6::bytea[]) WITH ORDINALITY AS j (tab, num, num2, bytes, n)
	UNION ALL
	SELECT total.before + $2 + c.n, 'change', total.seq - $1 + c.n, NULL, NULL FROM total, generate_series(1, $1::bigint) AS c (n)`

// queueJournal queues the notes of the transaction, after the totals.
func (t *tx) queueJournal() {
	if !t.journal || len(t.notes)+t.appended == 0 {
		return
	}
	notes := t.notes
	t.exec(sqlNote, int64(t.appended), int64(len(notes)),
		column(notes, func(n note) string { return n.table }),
		column(notes, func(n note) *int64 { return n.num }),
		column(notes, func(n note) *int64 { return n.num2 }),
		column(notes, func(n note) []byte { return n.bytes }))
	t.notes, t.appended = nil, 0
}

// Journal sets a flag in the row that every transaction reads first.
func (t *tx) Journal(ctx context.Context, on bool) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if t.mode < alone {
		return t.fail(errors.New("postgres: the journal of a cell is started and ended in an Exclusive only"))
	}
	t.exec("UPDATE locus_cell SET journal = $1", on)
	if !on {
		t.exec("DELETE FROM locus_journal")
		t.notes = nil
	}
	t.journal = on
	return nil
}

// Journaled reads the table in order.
func (t *tx) Journaled(ctx context.Context, after int64, limit int) ([]cell.JournalEntry, error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	entries, err := rows(ctx, t, func(r pgx.Rows) (e cell.JournalEntry, err error) {
		var n note
		err = r.Scan(&e.Seq, &n.table, &n.num, &n.num2, &n.bytes)
		e.Table, e.Key = n.table, n.key()
		return e, err
	}, "SELECT seq, tab, num, num2, bytes FROM locus_journal WHERE seq > $1 ORDER BY seq LIMIT $2", after, int64(limit))
	if err != nil {
		return nil, fmt.Errorf("read journal of cell %s: %w", t.cell, err)
	}
	return entries, nil
}
