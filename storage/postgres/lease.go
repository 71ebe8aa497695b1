// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/lease"
)

const sqlLease = "SELECT owner, token, beat, ttl, fence, wanted, epoch, asked, done, asks, partly, address FROM locus_lease WHERE name = $1"

// Lease reads one row. An update inserts it if it is missing, so that there is a row to lock.
func (t *tx) Lease(ctx context.Context, name string) (l lease.Lease, err error) {
	if err := t.use(ctx); err != nil {
		return l, err
	}
	sql := sqlLease
	if t.mode != reading {
		t.exec("INSERT INTO locus_lease (name, sum) VALUES ($1, $2) ON CONFLICT DO NOTHING", name,
			sumOfLease(name, lease.Lease{}))
		sql += " FOR NO KEY UPDATE"
	}
	err = t.query(ctx, sql, func(r pgx.Rows) error {
		var ttl, epoch int64
		err := r.Scan(&l.Owner, &l.Token, &l.Beat, &ttl, &l.Fence, &l.Wanted, &epoch, &l.Asked, &l.Done, &l.Asks,
			&l.Partly, &l.Address)
		l.TTL, l.Epoch = time.Duration(ttl), uint64(epoch)
		return err
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
	t.exec(`INSERT INTO locus_lease (name, owner, token, beat, ttl, fence, wanted, epoch, asked, done, asks, partly, address, sum)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
		ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, token = excluded.token, beat = excluded.beat,
		ttl = excluded.ttl, fence = excluded.fence, wanted = excluded.wanted, epoch = excluded.epoch,
		asked = excluded.asked, done = excluded.done, asks = excluded.asks, partly = excluded.partly,
		address = excluded.address, sum = excluded.sum`,
		name, l.Owner, l.Token, l.Beat, int64(l.TTL), l.Fence, l.Wanted, int64(l.Epoch), l.Asked, l.Done, l.Asks, l.Partly, l.Address, sumOfLease(name, l))
	return nil
}

func sumOfLease(name string, l lease.Lease) int64 {
	return cell.Sum(name, l.Owner, l.Token, l.Beat, int64(l.TTL), l.Fence, number01(l.Wanted), int64(l.Epoch), l.Asked,
		l.Done, l.Asks, number01(l.Partly))
}

// number01 returns a bool as it enters a checksum.
func number01(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
