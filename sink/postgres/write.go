// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locus-db/locus/sink"
)

// dataException is the class of errors of values that a column cannot have.
const dataException = "22"

// Deliver implements sink.Sink. If a value cannot be stored, the events are written one by one to find out which.
func (s *Sink) Deliver(ctx context.Context, b sink.Batch) error {
	write := func(b sink.Batch) error { return s.write(ctx, b) }
	err := write(b)
	if badData(err) == "" || len(b.Events) == 0 {
		return err
	}
	return b.Apart(write, badData)
}

// badData returns the message for a value that the database cannot store, "" for any other error.
func badData(err error) string {
	if of, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(of.Code, dataException) {
		return of.Message
	}
	return ""
}

// write writes a batch in one transaction. The row of the sink is locked first.
func (s *Sink) write(ctx context.Context, b sink.Batch) error {
	events, err := json.Marshal(b.Events)
	if err != nil {
		return fmt.Errorf("write %d events: %w", len(b.Events), err)
	}
	return s.in(ctx, func(tx pgx.Tx) error {
		position := b.Position
		if position == nil {
			position = &sink.Position{}
		}
		tag, err := tx.Exec(ctx, "INSERT INTO "+s.control()+` AS c (name, token, position) VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE
			SET token = excluded.token, position = CASE WHEN $4 THEN excluded.position ELSE c.position END WHERE c.token <= excluded.token`,
			s.name(), b.Token, position, b.Position != nil)
		switch {
		case err != nil:
			return fmt.Errorf("write the position: %w", err)
		case tag.RowsAffected() == 0:
			return fmt.Errorf("%w: table %s has one above %d", sink.ErrFenced, s.name(), b.Token)
		}
		if len(b.Events) > 0 {
			if _, err := tx.Exec(ctx, s.upsert(), events); err != nil {
				return fmt.Errorf("write %d events: %w", len(b.Events), err)
			}
		}
		if b.Sweep != 0 {
			if _, err := tx.Exec(ctx, s.sweep(), b.Sweep); err != nil {
				return fmt.Errorf("delete what the installation has lost: %w", err)
			}
		}
		return nil
	})
}

// upsert returns the statement that writes events, given as a JSON array.
func (s *Sink) upsert() string {
	names, values, sets := strings.Join(fixed, ", "), `e.id, e.rev, e.op, e.kind, e."into", e.at, e.records, e.view`, ""
	for _, c := range s.columns {
		name := pgx.Identifier{c}.Sanitize()
		names += ", " + name
		values += ", e.view ->> " + literal(c)
	}
	for n := range strings.SplitSeq(names, ", ") {
		sets += ", " + n + " = excluded." + n
	}
	return "INSERT INTO " + s.table.Sanitize() + " AS t (" + names + ") SELECT " + values +
		` FROM jsonb_to_recordset($1::jsonb) AS e(id uuid, rev bigint, op text, kind text, "into" uuid, at text, records jsonb, view jsonb)` +
		" ON CONFLICT (id) DO UPDATE SET " + sets[2:] + " WHERE t.rev < excluded.rev"
}

// sweep returns the statement that deletes rows with a lower rev.
func (s *Sink) sweep() string {
	sets := "op = 'delete', rev = $1, kind = NULL, into_id = NULL, at = NULL, records = NULL, view = NULL"
	for _, c := range s.columns {
		sets += ", " + pgx.Identifier{c}.Sanitize() + " = NULL"
	}
	return "UPDATE " + s.table.Sanitize() + " SET " + sets + " WHERE rev < $1"
}

// literal quotes a text for a statement.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
