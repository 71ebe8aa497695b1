// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
)

// Definition reads one row.
func (t *tx) Definition(ctx context.Context, name string) (body []byte, err error) {
	if err := t.use(ctx); err != nil {
		return nil, err
	}
	err = t.query(ctx, "SELECT body FROM definition WHERE name = ?", func(r row) error { body = r.blob(0); return nil },
		name)
	if err != nil {
		return nil, fmt.Errorf("read definition %s: %w", name, err)
	}
	return body, nil
}

// PutDefinition writes one row.
func (t *tx) PutDefinition(ctx context.Context, name string, body []byte) error {
	if err := t.alter(ctx); err != nil {
		return err
	}
	if err := t.exec("INSERT INTO definition (name, body, sum) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET body = excluded.body, sum = excluded.sum",
		name, body, cell.Sum(name, body)); err != nil {
		return fmt.Errorf("put definition %s: %w", name, err)
	}
	return nil
}
