// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"sync"

	"github.com/locus-db/locus/cell"
)

// cellNotes caches facts about cells, so that a process does not ask them again. Its mutex guards all fields, because
// cells are asked concurrently; it is not held during a request.
type cellNotes struct {
	mu     sync.Mutex
	fences map[cell.ID]int64 // lowest token that each cell accepts, as far as known
	empty  map[cell.ID]bool  // cells known to have no decisions
}

func newCellNotes() *cellNotes {
	return &cellNotes{fences: map[cell.ID]int64{}, empty: map[cell.ID]bool{}}
}

// fence returns the lowest token that a cell accepts, as far as known; 0 if it is not known.
func (n *cellNotes) fence(id cell.ID) int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.fences[id]
}

// noteFence notes the lowest token that a cell accepts.
func (n *cellNotes) noteFence(id cell.ID, token int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fences[id] = token
}

// hasNoDecisions reports whether a cell is known to have no decisions.
func (n *cellNotes) hasNoDecisions(id cell.ID) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.empty[id]
}

// noteNoDecisions notes that a cell has no decisions.
func (n *cellNotes) noteNoDecisions(id cell.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.empty[id] = true
}

// expectDecisions notes that a cell may have decisions.
func (n *cellNotes) expectDecisions(id cell.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.empty, id)
}

// expectDecisionsEverywhere notes that every cell may have decisions.
func (n *cellNotes) expectDecisionsEverywhere() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.empty)
}
