// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
)

const (
	sqlDefinition    = "SELECT body FROM definition WHERE name = $1"
	sqlPutDefinition = "INSERT INTO definition (name, body, sum) VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE SET body = excluded.body, sum = excluded.sum"
)

// Definition reads one row.
func (t *tx) Definition(ctx context.Context, name string) (body []byte, err error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	if err := t.query(ctx, sqlDefinition, func(r pgx.Rows) error { return r.Scan(&body) }, name); err != nil {
		return nil, fmt.Errorf("read definition %s: %w", name, err)
	}
	return body, nil
}

// PutDefinition writes one row.
func (t *tx) PutDefinition(ctx context.Context, name string, body []byte) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	t.noteRow("definition", []any{name})
	t.exec(sqlPutDefinition, name, body, cell.Sum(name, body))
	return nil
}
