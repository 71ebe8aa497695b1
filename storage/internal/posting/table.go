// SPDX-License-Identifier: Apache-2.0

package posting

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
)

// Table is the name under which a cell.Copier reads and writes postings one by one: rows of a blocking key, signed, and
// a puid. It is not copied; the rows of the runs are.
const Table = "posting"

// Parse returns the postings of rows.
func Parse(rows [][]any) ([]derived.Posting, error) {
	all := make([]derived.Posting, len(rows))
	for i, row := range rows {
		if len(row) != 2 {
			return nil, fmt.Errorf("a posting has 2 values, not %d", len(row))
		}
		key, ok := row[0].(int64)
		puid, is := row[1].(int64)
		if !ok || !is {
			return nil, fmt.Errorf("a posting is two numbers, not %T and %T", row[0], row[1])
		}
		all[i] = derived.Posting{Key: uint64(key), PUID: entity.PUID(puid)}
	}
	return all, nil
}

func rowOf(p derived.Posting) []any { return []any{int64(p.Key), int64(p.PUID)} }

// ReadRows returns up to limit rows after the given one, or the first ones.
func (r *Runs) ReadRows(ctx context.Context, after []any, limit int) ([][]any, error) {
	var last *derived.Posting
	if after != nil {
		parsed, err := Parse([][]any{after})
		if err != nil {
			return nil, err
		}
		last = &parsed[0]
	}
	page, err := r.page(ctx, last, limit)
	if err != nil || len(page) == 0 {
		return nil, err
	}
	rows := make([][]any, len(page))
	for i, p := range page {
		rows[i] = rowOf(p)
	}
	return rows, nil
}

// RowsAt returns the rows that are there, nil for others.
func (r *Runs) RowsAt(ctx context.Context, keys [][]any) ([][]any, error) {
	asked, err := Parse(keys)
	if err != nil {
		return nil, err
	}
	has, err := r.has(ctx, asked)
	if err != nil {
		return nil, err
	}
	rows := make([][]any, len(keys))
	for i, p := range asked {
		if has[i] {
			rows[i] = rowOf(p)
		}
	}
	return rows, nil
}
