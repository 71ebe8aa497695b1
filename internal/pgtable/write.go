// SPDX-License-Identifier: Apache-2.0

package pgtable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/internal/exchange"
)

// Types of columns.
const (
	Text   = "text"
	List   = "text[]"
	Number = "bigint"
	ID     = "uuid"
	Time   = "timestamp with time zone"
)

// Column is a column of a table, and its type in SQL.
type Column struct{ Name, Type string }

// Load is the input of Write.
type Load struct {
	Columns []Column
	// At are the positions of Columns in a row.
	At   []int
	Rows iter.Seq2[exchange.Row, error]
	// Key is the column that identifies a row, "" without one.
	Key string
	// Gone are the values of Key whose rows are removed first; nil, with Whole, removes all rows.
	Gone  iter.Seq2[string, error]
	Whole bool
	// Watermark is the watermark of the rows.
	Watermark string
}

// Write writes rows and watermark in one transaction. It makes the table if it is missing, adds columns, and makes
// lists of texts that have several values now. The error is ErrChanged if another export has written since Begin.
func (t *Target) Write(ctx context.Context, s *State, l *Load) (written int, err error) {
	err = pgx.BeginFunc(ctx, t.conn, func(tx pgx.Tx) error {
		if err := t.record(ctx, tx, s, l); err != nil {
			return err
		}
		lists, err := t.shape(ctx, tx, s, l)
		if err != nil {
			return err
		}
		if err := t.remove(ctx, tx, s, l); err != nil {
			return err
		}
		if written, err = t.copy(ctx, l, lists); err != nil {
			return fmt.Errorf("write to table %s: %w", t.table(), err)
		}
		if !s.exists && l.Key != "" {
			return t.exec(ctx, tx, "ALTER TABLE "+t.table()+" ADD PRIMARY KEY ("+quoted(l.Key)+")")
		}
		return nil
	})
	return written, err
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

func (t *Target) exec(ctx context.Context, tx pgx.Tx, sql string) error {
	if _, err := tx.Exec(ctx, sql); err != nil {
		return fmt.Errorf("change table %s: %w", t.table(), err)
	}
	return nil
}

// record replaces the watermark. Its row is locked until the end, and has to be that which Begin read.
func (t *Target) record(ctx context.Context, tx pgx.Tx, s *State, l *Load) error {
	if err := t.exec(ctx, tx, "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
		return err
	}
	if err := t.exec(ctx, tx, "CREATE TABLE IF NOT EXISTS "+t.control()+` (name text PRIMARY KEY, installation text NOT NULL, what text NOT NULL, kind text NOT NULL,
		source text NOT NULL, chosen text[], made text[] NOT NULL, watermark text NOT NULL, written_at timestamptz NOT NULL DEFAULT now())`); err != nil {
		return err
	}
	names := make([]string, len(l.Columns))
	for i, c := range l.Columns {
		names[i] = c.Name
		if len(c.Name) > longest {
			return fmt.Errorf("the name of column %s is longer than the %d bytes that PostgreSQL keeps: leave it out with --columns", c.Name, longest)
		}
	}
	tag, err := tx.Exec(ctx, "INSERT INTO "+t.control()+` AS c (name, installation, what, kind, source, chosen, made, watermark) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (name) DO UPDATE SET installation = $2, what = $3, kind = $4, source = $5, chosen = $6, made = $7, watermark = $8, written_at = now()
		WHERE c.watermark = $9`,
		t.name, t.spec.Installation, t.spec.What, t.spec.Kind, t.spec.Source, t.spec.Columns, union(s.made, names), l.Watermark, s.before)
	switch {
	case err != nil:
		return fmt.Errorf("write the watermark: %w", err)
	case tag.RowsAffected() == 0:
		return fmt.Errorf("%w: %s is as that one left it: repeat the command", ErrChanged, t.table())
	}
	return nil
}

// shape creates the table, or adapts its columns. It returns which columns are lists.
func (t *Target) shape(ctx context.Context, tx pgx.Tx, s *State, l *Load) (lists []bool, err error) {
	var sql []string
	for _, c := range l.Columns {
		name := quoted(c.Name)
		list := c.Type == List
		switch is := s.types[c.Name]; {
		case !s.exists:
			sql = append(sql, name+" "+c.Type)
		case is == "":
			sql = append(sql, "ADD COLUMN "+name+" "+c.Type)
		case is == Text && list:
			sql = append(sql, "ALTER COLUMN "+name+" TYPE text[] USING CASE WHEN "+name+" IS NOT NULL THEN ARRAY["+name+"] END")
		case is == List && c.Type == Text:
			list = true
		case is != c.Type:
			return nil, fmt.Errorf("%w: column %s of %s is of type %s, and %s is wanted: drop the table to export everything again, or name another one",
				ErrForeign, c.Name, t.table(), is, c.Type)
		}
		lists = append(lists, list)
	}
	switch all := strings.Join(sql, ", "); {
	case !s.exists:
		err = t.exec(ctx, tx, "CREATE TABLE "+t.table()+" ("+all+")")
	case all != "":
		err = t.exec(ctx, tx, "ALTER TABLE "+t.table()+" "+all)
	}
	return lists, err
}

// removals is how many rows a statement removes at most.
const removals = 10_000

// remove removes the rows that are replaced or gone.
func (t *Target) remove(ctx context.Context, tx pgx.Tx, s *State, l *Load) error {
	switch {
	case !s.exists:
		return nil
	case l.Whole:
		return t.exec(ctx, tx, "DELETE FROM "+t.table())
	}
	i := slices.IndexFunc(l.Columns, func(c Column) bool { return c.Name == l.Key })
	statement := "DELETE FROM " + t.table() + " WHERE " + quoted(l.Key) + " = ANY($1::text[]::" + l.Columns[i].Type + "[])"
	keys := make([]string, 0, removals)
	flush := func() error {
		_, err := tx.Exec(ctx, statement, keys)
		keys = keys[:0]
		return err
	}
	for key, err := range l.Gone {
		if err == nil {
			if keys = append(keys, key); len(keys) == removals {
				err = flush()
			}
		}
		if err != nil {
			return fmt.Errorf("remove rows from table %s: %w", t.table(), err)
		}
	}
	if err := flush(); err != nil {
		return fmt.Errorf("remove rows from table %s: %w", t.table(), err)
	}
	return nil
}

// errEnded ends the writer of a pipe whose reader has ended.
var errEnded = errors.New("the copy has ended")

// copy sends the rows to the server.
func (t *Target) copy(ctx context.Context, l *Load, lists []bool) (written int, err error) {
	names := make([]string, len(l.Columns))
	for i, c := range l.Columns {
		names[i] = quoted(c.Name)
	}
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := func() error {
			c := newCopier(writer, lists)
			for row, err := range l.Rows {
				if err == nil {
					err = c.write(row, l.Columns, l.At)
				}
				if err != nil {
					return err
				}
				written++
			}
			return c.w.Flush()
		}()
		_ = writer.CloseWithError(err) // nil is the end of the rows
		done <- err
	}()
	_, err = t.conn.PgConn().CopyFrom(ctx, reader, "COPY "+t.table()+" ("+strings.Join(names, ", ")+") FROM STDIN")
	_ = reader.CloseWithError(errEnded)
	if own := <-done; own != nil && !errors.Is(own, errEnded) {
		err = own // the server's error only says that the copy was aborted
	}
	return written, err
}
