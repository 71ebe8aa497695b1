// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"

	"github.com/locus-db/locus/resolve"
)

// LeaveRoom makes the cell go on as if all but n of its puids had been given away.
func LeaveRoom(c *Cell, n int64) error {
	return c.Update(context.Background(), func(t resolve.Tx) error {
		t.(*tx).exec("SELECT setval('locus_puid', (SELECT hi FROM locus_cell) - $1)", n)
		return nil
	})
}
