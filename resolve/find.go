// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
)

// target is the cell that performs an op, and its record; puid is 0 while the key has none.
type target struct {
	key  cell.Key
	cell cell.ID
	puid entity.PUID
	// sure marks a puid that a cell has just returned, as opposed to a cached one.
	sure bool
}

// find looks up in the directory of keys which cell performs each op. It refuses ops whose cells do not answer, and
// deletions of keys that were never put.
func (b *batch) find(ctx context.Context, todo []int) (map[int]target, error) {
	targets := make(map[int]target, len(todo))
	var puts, deletes []int
	var putKeys, deleteKeys []cell.Key
	m := b.opts.Cells.Map()
	for _, i := range todo {
		k := m.KeyOf(b.ops[i].Source, b.ops[i].Key)
		if b.ops[i].Delete {
			deletes, deleteKeys = append(deletes, i), append(deleteKeys, k)
		} else {
			puts, putKeys = append(puts, i), append(putKeys, k)
		}
	}
	if len(puts) > 0 {
		found, err := b.dir.Find(ctx, putKeys)
		if err != nil {
			return nil, fmt.Errorf("find keys: %w", err)
		}
		for n, f := range found {
			if f.Err != nil {
				b.refuse([]int{puts[n]}, f.Err)
				continue
			}
			targets[puts[n]] = target{key: putKeys[n], cell: f.Cell, puid: entity.PUID(f.PUID)}
		}
	}
	if len(deletes) > 0 {
		for n, f := range b.lookup(ctx, deleteKeys) {
			switch {
			case f.Err != nil:
				b.refuse([]int{deletes[n]}, f.Err)
			case f.PUID == cell.Nothing:
				b.refuse([]int{deletes[n]}, entity.ErrNotFound)
			default:
				targets[deletes[n]] = target{key: deleteKeys[n], cell: f.Cell, puid: entity.PUID(f.PUID)}
			}
		}
	}
	return targets, nil
}

// findAgain repeats find for ops whose cached puids have no record: their cell was restored from a backup
// or a replica that lacks the records. All other cached state is dropped, too.
func (b *batch) findAgain(ctx context.Context, ops []int, targets map[int]target) map[int]target {
	if len(ops) == 0 {
		return nil
	}
	for _, i := range ops {
		b.dir.Forget(targets[i].key)
	}
	b.invalidateCaches()
	found, err := b.find(ctx, ops)
	if err != nil {
		b.refuse(ops, err)
	}
	for i, t := range found {
		t.sure = true
		found[i] = t
	}
	return found
}

// lookup returns the puids of keys to be deleted. A cell that does not answer fails only its own keys.
func (b *batch) lookup(ctx context.Context, keys []cell.Key) []cell.Found {
	found := make([]cell.Found, len(keys))
	puids, err := b.dir.Lookup(ctx, keys)
	if err != nil && len(keys) > 1 {
		for i := range keys {
			found[i] = b.lookup(ctx, keys[i:i+1])[0]
		}
		return found
	}
	for i := range found {
		if found[i].Err = err; err == nil && puids[i] != cell.Nothing {
			found[i].PUID = puids[i]
			found[i].Cell, found[i].Err = b.home(entity.PUID(puids[i]))
		}
	}
	return found
}
