// SPDX-License-Identifier: Apache-2.0

package countertest

import (
	"context"
	"sync"

	"github.com/locus-db/locus/counter"
)

// NewMemory makes a cell in memory that behaves as the suite says: for tests of what stands above a Store.
func NewMemory() counter.Database {
	var mu sync.Mutex
	m := newModel()
	return counter.Database{
		Update: func(_ context.Context, fn func(counter.Tx) error) error {
			mu.Lock()
			defer mu.Unlock()
			next := m.clone()
			if err := fn(next); err != nil {
				return err
			}
			m = next
			return nil
		},
		View: func(_ context.Context, fn func(counter.Tx) error) error {
			mu.Lock()
			snapshot := m.clone()
			mu.Unlock()
			return fn(snapshot)
		},
	}
}
