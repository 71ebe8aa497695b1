// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/changelog"
	"github.com/locus-db/locus/entity"
	"github.com/locus-db/locus/resolve/derived"
	"github.com/locus-db/locus/storage"
)

// repair rebuilds what is derived from the records that the differences name, and sets Repaired or Advice
// of each. The caller holds the lock and the lease.
//
// It never writes a cluster computed by a look. The plan of a first look, made concurrently with writers
// from edges read at different times, may have a record in two clusters; it is only compared, and
// differences are looked at again under the lease. What is written is resolved from rows read under the
// lease. There a record is in two clusters only if one of the two rows of an edge is missing or altered.
// Each row is compared with what its own record yields, so that record is resolved again too, in this round
// or, if its page comes later, before Check is done: it repeats its rounds until nothing differs.
func (c *checker) repair(ctx context.Context, found []suspect) error {
	c.cache.clear()
	entries, err := c.repairRows(ctx, found)
	if err != nil {
		return err
	}
	// The entries are durable before any work is done: what a crash leaves undone is done by the next lease
	// holder.
	var all []derived.Redo
	for id, group := range entries {
		var entered []derived.Redo
		if err := c.write(ctx, id, func(tx storage.Tx) (err error) {
			entered, err = tx.PutRedo(ctx, group)
			return err
		}); err != nil {
			return fmt.Errorf("enter records of cell %v in the redo set: %w", id, err)
		}
		all = append(all, entered...)
	}
	slices.SortFunc(all, compareEntries)
	all = slices.CompactFunc(all, func(a, b derived.Redo) bool { return a.PUID == b.PUID })
	if err := c.redoAll(ctx, all, changelog.CauseRedo); err != nil {
		return errors.Join(err, c.Resolver.recover(ctx, err))
	}
	for i := range found {
		c.noteRepair(&found[i])
	}
	return nil
}

// repairRows makes the writes that come before resolving, and returns by cell the records to resolve again.
func (c *checker) repairRows(ctx context.Context, found []suspect) (map[cell.ID][]derived.Redo, error) {
	entries := map[cell.ID][]derived.Redo{}
	versions := c.checks(cell.ID{}, c.read, nil)
	for i := range found {
		f := &found[i]
		if c.follows(f) {
			continue
		}
		for _, m := range f.repairs {
			if err := c.write(ctx, m.cell, func(tx storage.Tx) error { return m.write(ctx, tx) }); err != nil {
				return nil, fmt.Errorf("repair %s %s: %w", f.What, f.ID, err)
			}
			f.Repaired = true
		}
		if err := versions.load(ctx, f.redo); err != nil {
			return nil, err
		}
		for n, p := range f.redo {
			id, err := c.home(p)
			if err != nil {
				continue
			}
			e := derived.Redo{PUID: p, Version: 1}
			if rec := versions.nodes[p]; rec != nil {
				e.Version = rec.Version
			}
			if n == 0 {
				e.LostKeys = f.lost
			}
			if f.What == "decision" {
				e.Decided = 1
			}
			entries[id] = append(entries[id], e)
		}
	}
	return entries, nil
}

// noteRepair notes whether a difference is repaired now, and what to do if it is not.
func (c *checker) noteRepair(f *suspect) {
	if c.follows(f) {
		if f.Advice == "" {
			f.Advice = "it cannot be repaired from a damaged record: see that record"
		}
		return
	}
	if len(f.redo) > 0 {
		f.Repaired = !slices.ContainsFunc(f.redo, c.redoLog.isBlocked)
	}
	switch trouble := c.redoLog.lastTrouble(); {
	case f.Repaired:
		f.Advice = ""
	case len(f.redo) > 0 && trouble != nil:
		f.Advice = "it cannot be resolved again: " + trouble.Error()
	case len(f.redo) > 0:
		f.Advice = "a cell is unavailable: repair when it is back"
	}
}

// follows reports whether a difference is derived from a record with a wrong checksum.
func (c *checker) follows(f *suspect) bool {
	return slices.ContainsFunc(f.about, func(p entity.PUID) bool { return c.damaged[p] })
}

// compareEntries orders entries by record, the one with the most lost blocking keys first.
func compareEntries(a, b derived.Redo) int {
	return cmp.Or(cmp.Compare(a.PUID, b.PUID), cmp.Compare(len(b.LostKeys), len(a.LostKeys)))
}

// gone returns a node for a missing record. Its remaining rows are removed as if the record had been deleted.
func gone(p entity.PUID) *node { return &node{Record: &entity.Record{PUID: p, Anchor: p}} }
