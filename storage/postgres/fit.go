// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
)

// Fit implements cell.Fitter: the servers of new cells must accept the connections of this process. The cells of
// one server share them, so their number does not matter. A server that cannot be reached now is checked when a
// database is created on it.
func (d *Driver) Fit(ctx context.Context, _, added []string) error {
	asked := map[*pool]bool{}
	for _, url := range added {
		t, err := parseURL(url, d.opts.Unsafe, d.opts.Standby)
		if err != nil {
			return err
		}
		if p := d.pool(t); asked[p] || t.pooler {
			continue
		} else {
			asked[p] = true
		}
		if takes, err := t.takes(ctx, d.opts); err == nil && d.opts.Connections > takes-reserved {
			return fmt.Errorf("%w: %s: %s", cell.ErrTooMany, t.shown, tooFew(d.opts.Connections, takes))
		}
	}
	return nil
}

// takes returns the server's max_connections. The target's database need not exist.
func (t *target) takes(ctx context.Context, o *Options) (n int, err error) {
	on, err := t.maintenance().dial(ctx, o)
	if err != nil {
		return 0, err
	}
	defer on.Close(ctx)
	err = on.QueryRow(ctx, "SELECT current_setting('max_connections')::int").Scan(&n)
	return n, err
}

// tooFew returns the message for a server that accepts too few connections for the cells.
func tooFew(wanted, takes int) string {
	return fmt.Sprintf("%d connections of this process, but the server takes %d: leave %d to others; lower the former or raise max_connections", wanted, takes, reserved)
}
