// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"

	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

func init() {
	storage.Register(func(o *storage.Options) storage.Backend { return &backend{opts: o} }, scheme)
}

// backend is a storage.Backend.
type backend struct {
	opts   *storage.Options
	driver Driver
}

func (b *backend) Driver() storage.Driver { return &b.driver }

func (b *backend) Open(ctx context.Context, dir string, other func(string) (storage.Driver, error)) (*storage.Cells, error) {
	return OpenDir(ctx, dir, &DirOptions{
		Cells: b.opts.Cells, Salt: b.opts.Salt, Rules: derived.RowsName, MustExist: b.opts.MustExist, Notice: b.opts.Notice, Scratch: b.opts.Scratch, OnEvent: b.opts.OnEvent,
		Restored: b.opts.Restored, Readdress: b.opts.Readdress, Driver: other,
	})
}

// Follow does nothing: a file cell needs no knowledge of other cells.
func (b *backend) Follow(*storage.Cells) {}
