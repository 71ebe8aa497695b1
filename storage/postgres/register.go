// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"

	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

func init() {
	storage.Register(func(o *storage.Options) storage.Backend {
		return &backend{o, NewDriver(&Options{
			Connections: o.Connections, Unsafe: o.UnsafeDurability, Restored: o.Restored, Standby: o.Standby,
		})}
	}, "postgres", "postgresql")
}

// backend is a storage.Backend.
type backend struct {
	opts   *storage.Options
	driver *Driver
}

func (b *backend) Driver() storage.Driver { return b.driver }

func (b *backend) Open(ctx context.Context, urls string, other func(string) (storage.Driver, error)) (*storage.Cells, error) {
	return OpenMap(ctx, urls, &MapOptions{
		Cells: b.opts.Cells, Salt: b.opts.Salt, Rules: derived.RowsName, MustExist: b.opts.MustExist, Notice: b.opts.Notice, OnEvent: b.opts.OnEvent,
		Driver: b.driver, Other: other, Restored: b.opts.Restored, Readdress: b.opts.Readdress,
	})
}

func (b *backend) Follow(cells *storage.Cells) { b.driver.Follow(cells) }
