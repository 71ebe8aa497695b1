// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/source"
	"github.com/locus-db/locus/storage"
)

// NewStore returns the store of a source at a revision.
func (h *Handle) NewStore(name string, revision int64) source.Store {
	return &store{h: h, name: name, revision: revision}
}

// NewTarget returns the target of sources.
func (h *Handle) NewTarget() source.Target { return target{h.records} }

// HoldForTest writes the lease of a source as held by this process.
func (h *Handle) HoldForTest(ctx context.Context, name string, token int64) (lease.Lease, error) {
	l := lease.Lease{Owner: h.catalog.Owner, Token: token}
	return l, h.engine.Update(ctx, h.engine.Map().Authority(), func(tx storage.Tx) error {
		return tx.PutLease(ctx, source.LeaseName(name), l)
	})
}

// ReturnForTest marks a cell as restored from a backup.
func (h *Handle) ReturnForTest(ctx context.Context, id cell.ID) error {
	return h.engine.Do(ctx, id, func(c storage.Cell) error {
		return c.Exclusive(ctx, func(tx storage.Tx) error { return goBack(ctx, tx) })
	})
}

func goBack(ctx context.Context, tx storage.Tx) error {
	head, err := tx.Head(ctx)
	if err != nil {
		return err
	}
	head.Returns++
	return tx.SetHead(ctx, head)
}
