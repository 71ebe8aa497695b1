// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"

	"github.com/locus-db/locus/resolve"
)

// LeaveRoom makes the cell go on as if all but n of its puids had been given away.
func LeaveRoom(c *Cell, n int64) error {
	return c.Update(context.Background(), func(t resolve.Tx) error {
		return t.(*tx).exec("UPDATE locus_cell SET used = hi - lo - ?", n)
	})
}
