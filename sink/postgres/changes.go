// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locus-db/locus/sink"
)

// changeColumns are the columns of a table of changes.
var changeColumns = []string{"cell", "seq", "time", "kind", "cause", "entity", "change"}

// ChangeSink is the target of changes in a table: a row for each, by cell and seq, so that nothing is there twice.
type ChangeSink struct {
	*Sink
	mu sync.Mutex // of the connection
}

var _ sink.ChangeSink = (*ChangeSink)(nil)

// OpenChanges connects as Open does. It creates the table if it is missing; the error wraps sink.ErrStop if it is of
// another program.
func OpenChanges(ctx context.Context, to string, opts *Options) (*ChangeSink, error) {
	s, err := parse(to)
	if err != nil {
		return nil, err
	}
	if opts != nil && opts.Password != nil {
		s.config.Password = opts.Password.Reveal()
	}
	table := s.table.Sanitize()
	err = s.in(ctx, func(tx pgx.Tx) error {
		has, err := columnsOf(ctx, tx, table)
		if err != nil {
			return err
		}
		for _, c := range changeColumns {
			if len(has) > 0 && !slices.Contains(has, c) {
				return fmt.Errorf("%w: table %s exists and has no column %s: give the sink a table of its own", sink.ErrStop,
					table, c)
			}
		}
		if len(has) > 0 {
			return nil
		}
		if _, err := tx.Exec(ctx, "CREATE TABLE "+table+` (cell text, seq bigint, "time" timestamptz NOT NULL, kind text NOT NULL, cause text, entity uuid, change jsonb NOT NULL, PRIMARY KEY (cell, seq))`); err != nil {
			return fmt.Errorf("create table %s: %w", table, err)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &ChangeSink{Sink: s}, nil
}

// DeliverChanges implements sink.ChangeSink. If one cannot be stored, they are written one by one to find out which.
func (s *ChangeSink) DeliverChanges(ctx context.Context, changes []sink.Change) (delivered int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var of *pgconn.PgError
	if err := s.insert(ctx, changes); !errors.As(err, &of) || !strings.HasPrefix(of.Code, dataException) {
		if err != nil {
			return 0, err
		}
		return len(changes), nil
	}
	for i := range changes {
		err := s.insert(ctx, changes[i:i+1])
		if errors.As(err, &of) && strings.HasPrefix(of.Code, dataException) {
			return i, fmt.Errorf("%w: change %d of cell %v: %s", sink.ErrStop, changes[i].Seq, changes[i].Cell, of.Message)
		}
		if err != nil {
			return i, err
		}
	}
	return len(changes), nil
}

func (s *ChangeSink) insert(ctx context.Context, changes []sink.Change) error {
	rows, err := json.Marshal(changes)
	if err != nil {
		return err
	}
	return s.in(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO "+s.table.Sanitize()+` (cell, seq, "time", kind, cause, entity, change)
			SELECT c->>'cell', (c->>'seq')::bigint, (c->>'time')::timestamptz, c->>'kind', c->>'cause', (c->>'entity')::uuid, c FROM jsonb_array_elements($1::jsonb) c
			ON CONFLICT (cell, seq) DO NOTHING`, rows); err != nil {
			return fmt.Errorf("write %d changes to table %s: %w", len(changes), s.name(), err)
		}
		return nil
	})
}
