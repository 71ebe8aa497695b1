// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/lease"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// follow resolves the consequences of decisions under the lease, in this process or another.
func (b *batch) follow(ctx context.Context, entries []derived.Redo, answers []Decided) {
	last := map[entity.PUID]derived.Redo{}
	cells := map[cell.ID]struct{}{}
	for _, e := range entries {
		if e.Decided >= last[e.PUID].Decided {
			last[e.PUID] = e
		}
		if id, err := b.home(e.PUID); err == nil {
			cells[id] = struct{}{}
		}
	}
	once := slices.SortedFunc(maps.Values(last), func(a, b derived.Redo) int { return cmp.Compare(a.PUID, b.PUID) })
	left, err := b.followed(ctx, once, slices.Collect(maps.Keys(cells)))
	for i := range answers {
		a := &answers[i]
		a.Pending = a.Err == nil && (err != nil || left(lower(a.Decision).A))
	}
}

// followed works off redo entries of decisions and returns a function that reports which records are
// unfinished.
func (b *batch) followed(ctx context.Context, entries []derived.Redo,
	cells []cell.ID) (left func(entity.PUID) bool, err error) {
	done, err := b.elsewhere(ctx, cells)
	if err == nil && done {
		waits := map[entity.PUID]bool{}
		err := b.learn(ctx, entries, cells, func(p entity.PUID) { waits[p] = true })
		return func(p entity.PUID) bool { return waits[p] }, err
	}
	if err == nil {
		if err = b.work(ctx, entries, changelog.CauseDecision, leasePatience); err != nil {
			_ = b.recover(ctx, err)
		}
	}
	if errors.Is(err, lease.ErrLost) && b.lease != nil {
		b.leaveTo(ctx, cells)
	}
	return b.redoLog.isBlocked, err
}

// mirror writes decisions under the other records of their pairs and adds these records to the batch,
// because a decision changes both sides.
func (b *batch) mirror(ctx context.Context, entries []derived.Redo) error {
	var puids []entity.PUID
	for _, e := range entries {
		if e.Decided != 0 {
			puids = append(puids, e.PUID)
		}
	}
	if len(puids) == 0 {
		return nil
	}
	groups := map[cell.ID][]entity.Decision{}
	var others []entity.PUID
	err := fromHomes(ctx, b.Resolver, b.read, puids, func(tx storage.Tx, group []entity.PUID) ([]entity.Decision, error) {
		return tx.Decisions(ctx, group)
	}, func(_ []entity.PUID, decisions []entity.Decision) {
		for _, d := range decisions {
			if id, err := b.home(d.B); d.Pair() && err == nil {
				groups[id], others = append(groups[id], d.Mirror()), append(others, d.B)
			}
		}
	})
	if err != nil {
		return fmt.Errorf("read decisions: %w", err)
	}
	b.invalidateDecisions(append(puids, others...)...)
	if err := eachCell(groups, func(id cell.ID, decisions []entity.Decision) error {
		return b.write(ctx, id, func(tx storage.Tx) error { return tx.PutDecisions(ctx, decisions) })
	}); err != nil {
		return fmt.Errorf("mirror decisions: %w", err)
	}
	if err := b.load(ctx, b.nodes, unique(others)); err != nil {
		return err
	}
	for _, q := range others {
		if n := b.nodes[q]; b.writes[q] == nil && n != nil && n.norm != nil {
			b.writes[q] = &write{puid: q, old: n, new: n}
		}
	}
	return nil
}
