// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"slices"

	"github.com/locus-db/locus/cell"
	"github.com/locus-db/locus/entity"
)

// A record whose blocking keys or candidates are in a cell that does not answer is blocked until the next sweep. It
// is found without asking that cell again for each record.

// isUndone reports whether a record may have unfinished consequences; it may if its cell does not answer.
func (r *Resolver) isUndone(p entity.PUID) bool {
	if r.redoLog.isUndone(p) {
		return true
	}
	if !r.redoLog.anyDown() {
		return false
	}
	home, err := r.home(p)
	return err != nil || r.redoLog.isDown(home)
}

// waits reports whether a blocking key of a record is in an unavailable cell.
func (r *Resolver) waits(w *write) bool {
	if !r.redoLog.anyDown() {
		return false
	}
	down := func(f uint64) bool { return slices.ContainsFunc(r.keyCells(f), r.redoLog.isDown) }
	if slices.ContainsFunc(w.lost, down) {
		return true
	}
	if w.new != nil {
		for _, f := range w.new.norm.BlockingKeys() {
			if down(f.Hash) {
				return true
			}
		}
	}
	return false
}

// postpone removes the entries from the batch that share a blocking key with a record of an unavailable cell.
func (b *batch) postpone(m *candidateSet, entries []entity.PUID) error {
	if !b.redoLog.anyDown() {
		return nil
	}
	for p, w := range b.writes {
		if w.new == nil || !b.meetsDown(w, m) {
			continue
		}
		if !slices.Contains(entries, p) {
			// The record has no entry of its own: the entries that drew it in must wait.
			return fmt.Errorf("record %v: %w", p, cell.ErrUnavailable)
		}
		delete(b.writes, p)
		b.redoLog.block(p, nil)
	}
	return nil
}

func (b *batch) meetsDown(w *write, m *candidateSet) bool {
	return b.anyAway(m.candidates(w.new, w.posted))
}

// anyAway reports whether any of these records is in an unavailable cell.
func (b *batch) anyAway(puids []entity.PUID) bool {
	return b.redoLog.anyDown() && slices.ContainsFunc(puids, func(q entity.PUID) bool {
		home, err := b.home(q)
		return err == nil && b.redoLog.isDown(home)
	})
}
