// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"sync"
)

// Memory stores a suite's model like a cell stores its data, with at most one bug that the transactions of any
// backend could have:
//
//	rollback keeps rows    writes of a transaction stay, whatever its function returns
//	error is swallowed     Update hides the error of its function
//	nothing is kept        Reopen begins with an empty cell
type Memory[M any] struct {
	mu    sync.Mutex
	model M
	fresh func() M
	clone func(M) M
	bug   string
}

// NewMemory returns a Memory that holds the result of fresh; clone makes the copy that a transaction writes to.
func NewMemory[M any](fresh func() M, clone func(M) M, bug string) *Memory[M] {
	return &Memory[M]{model: fresh(), fresh: fresh, clone: clone, bug: bug}
}

// Update runs fn in a transaction.
func (m *Memory[M]) Update(fn func(M) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.clone(m.model)
	err := fn(next)
	if err == nil || m.bug == "rollback keeps rows" {
		m.model = next
	}
	if m.bug == "error is swallowed" {
		return nil
	}
	return err
}

// View runs fn on a snapshot and discards the changes that fn makes in it.
func (m *Memory[M]) View(fn func(M) error) error {
	m.mu.Lock()
	snapshot := m.clone(m.model)
	m.mu.Unlock()
	return fn(snapshot)
}

// Reopen closes the cell and opens it again.
func (m *Memory[M]) Reopen() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bug == "nothing is kept" {
		m.model = m.fresh()
	}
	return nil
}
