// SPDX-License-Identifier: Apache-2.0

package posting

import (
	"context"
	"database/sql"
	"math"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
)

// Migration is the statements that pack the table of postings that former formats had, in the placeholders of a
// backend.
type Migration struct {
	Page  string // up to some thousand rows of that table, after a key and a puid, in order
	Chunk string // writes a row of posting_chunk: id, body, sum
	State string // sets the row of posting_state: body, sum
}

// Run writes the postings of the table as one run, a page at a time.
func (m Migration) Run(ctx context.Context, tx *sql.Tx) error {
	state, err := Convert(func(after *derived.Posting) (page []derived.Posting, err error) {
		if after == nil {
			after = &derived.Posting{Key: 1 << 63, PUID: math.MinInt64} // no record has this number
		}
		rows, err := tx.QueryContext(ctx, m.Page, int64(after.Key), int64(after.PUID))
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var key, puid int64
			if err := rows.Scan(&key, &puid); err != nil {
				return nil, err
			}
			page = append(page, derived.Posting{Key: uint64(key), PUID: entity.PUID(puid)})
		}
		return page, rows.Err()
	}, func(rows []Row) error {
		for _, r := range rows {
			if _, err := tx.ExecContext(ctx, m.Chunk, r.ID, r.Body, r.Sum); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		_, err = tx.ExecContext(ctx, m.State, state.Body, state.Sum)
	}
	return err
}
