// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/lease"
)

// Lease reads one row.
func (t *tx) Lease(ctx context.Context, name string) (l lease.Lease, err error) {
	if err := t.use(ctx); err != nil {
		return l, err
	}
	err = t.query(ctx, "SELECT owner, token, beat, ttl, fence, wanted, epoch, asked, done, asks, partly, address FROM locus_lease WHERE name = ?", func(r row) error {
		l = lease.Lease{
			Owner: r.text(0), Token: r.int(1), Beat: r.int(2), TTL: time.Duration(r.int(3)), Fence: r.int(4),
			Wanted: r.int(5) == 1, Epoch: uint64(r.int(6)),
			Asked: r.int(7), Done: r.int(8), Asks: r.text(9), Partly: r.int(10) == 1, Address: r.text(11),
		}
		return nil
	}, name)
	if err != nil {
		return lease.Lease{}, fmt.Errorf("read lease %q: %w", name, err)
	}
	return l, nil
}

// PutLease writes one row.
func (t *tx) PutLease(ctx context.Context, name string, l lease.Lease) error {
	if err := t.write(ctx); err != nil {
		return err
	}
	row := []any{
		name, l.Owner, l.Token, l.Beat, int64(l.TTL), l.Fence, truth(l.Wanted), int64(l.Epoch), l.Asked, l.Done, l.Asks, truth(l.Partly),
	}
	err := t.exec(`INSERT INTO locus_lease (name, owner, token, beat, ttl, fence, wanted, epoch, asked, done, asks, partly, address, sum)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, token = excluded.token, beat = excluded.beat,
		ttl = excluded.ttl, fence = excluded.fence, wanted = excluded.wanted, epoch = excluded.epoch,
		asked = excluded.asked, done = excluded.done, asks = excluded.asks, partly = excluded.partly,
		address = excluded.address, sum = excluded.sum`,
		append(row, l.Address, cell.Sum(row...))...)
	if err != nil {
		return fmt.Errorf("put lease %q: %w", name, err)
	}
	return nil
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
