// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/locality"
	"github.com/locus-db/locus/sink"
)

var _ sink.Reader = (*Sink)(nil)

// readPage is the number of rows read at once.
const readPage = 1000

// Read implements sink.Reader. A row whose columns differ from its view counts as different content.
func (s *Sink) Read(ctx context.Context, ids []locality.ID, fn func(sink.Held) error) error {
	intact := "true"
	for _, c := range s.columns {
		intact += " AND " + pgx.Identifier{c}.Sanitize() + " IS NOT DISTINCT FROM view ->> " + literal(c)
	}
	sql := `SELECT id, jsonb_strip_nulls(jsonb_build_object('id', id, 'rev', rev::text, 'op', op, 'kind', kind, 'into', into_id, 'records', records, 'view', view)), ` +
		intact + " FROM " + s.table.Sanitize() + " WHERE id > $1 AND ($2::uuid[] IS NULL OR id = ANY($2)) ORDER BY id LIMIT $3"
	var of []string
	for _, id := range ids {
		of = append(of, id.String())
	}
	for after := (locality.ID{}); ; {
		page, err := s.page(ctx, sql, after, of)
		if err != nil {
			return fmt.Errorf("postgres: read table %s after %v: %w", s.name(), after, err)
		}
		for _, h := range page {
			if err := fn(h); err != nil {
				return err
			}
		}
		if len(page) < readPage {
			return nil
		}
		after = page[len(page)-1].ID
	}
}

func (s *Sink) page(ctx context.Context, sql string, after locality.ID, of []string) (page []sink.Held, err error) {
	err = s.in(ctx, func(tx pgx.Tx) error {
		page = page[:0]
		rows, err := tx.Query(ctx, sql, after.String(), of, readPage)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, text string
			var intact bool
			if err := rows.Scan(&id, &text, &intact); err != nil {
				return err
			}
			var e sink.Event
			h := sink.Held{}
			if err := json.Unmarshal([]byte(text), &e); err == nil {
				h = sink.HeldOf(&e)
			}
			if !intact {
				h.Sum = sink.Sum{}
			}
			if h.ID, err = locality.Parse(id); err != nil {
				return err
			}
			page = append(page, h)
		}
		return rows.Err()
	})
	return page, err
}
